"""What has to happen outside after the commit, in this order: stop, files, dispatch, timers. Idempotent by id."""

from __future__ import annotations

from dataclasses import dataclass

from cairn.core.commands import Timer


@dataclass(frozen=True, slots=True)
class Stop:
    """Kill the runner and its processes; file effects of the same decision wait for it."""

    execution: str
    dispatch: int


@dataclass(frozen=True, slots=True)
class MakeWorkspace:
    execution: str


@dataclass(frozen=True, slots=True)
class Stage:
    """What was produced lies ready to be looked at."""

    execution: str


@dataclass(frozen=True, slots=True)
class Promote:
    """Staged artifacts take their permanent names."""

    execution: str


@dataclass(frozen=True, slots=True)
class MoveToErrored:
    execution: str


@dataclass(frozen=True, slots=True)
class DropWorkspaces:
    executions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Archive:
    rollback: str


@dataclass(frozen=True, slots=True)
class Unarchive:
    rollback: str


@dataclass(frozen=True, slots=True)
class SetPassAside:
    pass_number: int


@dataclass(frozen=True, slots=True)
class Dispatch:
    """Hand the execution to a runner."""

    execution: str
    dispatch: int


@dataclass(frozen=True, slots=True)
class SendLater:
    """A timer: this very command, later."""

    after: float
    command: Timer


FileEffect = MakeWorkspace | Stage | Promote | MoveToErrored | DropWorkspaces | Archive | Unarchive | SetPassAside
Effect = Stop | FileEffect | Dispatch | SendLater
