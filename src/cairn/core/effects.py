"""Effects to apply after the commit, in this order: stop, files, dispatch, timers. They can be repeated."""

from __future__ import annotations

from dataclasses import dataclass

from cairn.core.commands import Timer


@dataclass(frozen=True, slots=True)
class StopExecution:
    """Stop the runner and its processes. File effects of the same decision wait for it."""

    execution: str
    dispatch: int


@dataclass(frozen=True, slots=True)
class CreateWorkspace:
    execution: str


@dataclass(frozen=True, slots=True)
class StageArtifacts:
    """Make produced artifacts visible before they are final."""

    execution: str


@dataclass(frozen=True, slots=True)
class PromoteArtifacts:
    """Move staged artifacts to their permanent paths."""

    execution: str


@dataclass(frozen=True, slots=True)
class MoveToErrored:
    execution: str


@dataclass(frozen=True, slots=True)
class DeleteWorkspaces:
    executions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ArchiveFiles:
    rollback: str


@dataclass(frozen=True, slots=True)
class RestoreFiles:
    rollback: str


@dataclass(frozen=True, slots=True)
class ArchivePass:
    pass_number: int


@dataclass(frozen=True, slots=True)
class Dispatch:
    """Hand the execution to a runner."""

    execution: str
    dispatch: int


@dataclass(frozen=True, slots=True)
class ScheduleTimer:
    """Send a command later."""

    after: float  # seconds
    command: Timer


FileEffect = (
    CreateWorkspace
    | StageArtifacts
    | PromoteArtifacts
    | MoveToErrored
    | DeleteWorkspaces
    | ArchiveFiles
    | RestoreFiles
    | ArchivePass
)
Effect = StopExecution | FileEffect | Dispatch | ScheduleTimer
