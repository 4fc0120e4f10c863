"""What has to happen outside after the commit, in this order: stop, files, dispatch, timers. Idempotent by id."""

from __future__ import annotations

from dataclasses import dataclass

from cairn.core.commands import Timer


@dataclass(frozen=True, slots=True)
class StopExecution:
    """Kill the runner and its processes; file effects of the same decision wait for it."""

    execution: str
    dispatch: int


@dataclass(frozen=True, slots=True)
class CreateWorkspace:
    execution: str


@dataclass(frozen=True, slots=True)
class StageArtifacts:
    """What was produced lies ready to be looked at."""

    execution: str


@dataclass(frozen=True, slots=True)
class PromoteArtifacts:
    """Staged artifacts take their permanent names."""

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
    """A timer: this very command, later."""

    after: float
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
