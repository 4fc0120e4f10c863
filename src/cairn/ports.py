"""What the program asks of the outside, as Protocols. Adapters implement them; only `bootstrap` chooses."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from cairn.core.messages import Timer
from cairn.core.model import Fault, Ruling, WaitingOn
from cairn.definitions.model import CheckpointDefinition

Connection = Any  # the store's own; engines that enqueue in its transaction take it as it is


class Clock(Protocol):
    def now(self) -> datetime:
        """The time, aware, in UTC."""
        ...


class JobEngine(Protocol):
    """Durable jobs that are enqueued in the store's own transaction."""

    def enqueue_lane(self, connection: Connection, job: str, run_id: str) -> None:
        """A job that drives a run on. A repeated id is a no-op."""
        ...

    def enqueue_timer(self, connection: Connection, timer: str, run_id: str, command: Timer, after: float) -> None:
        """A job that sends this command after so many seconds."""
        ...

    def over(self, connection: Connection, jobs: tuple[str, ...]) -> frozenset[str]:
        """Those of the jobs that will not run any more."""
        ...

    def own(self, connection: Connection, jobs: tuple[str, ...]) -> frozenset[str]:
        """Those of the jobs that this worker takes up, and nobody else."""
        ...

    async def start(self, lane: LaneJob, timer: TimerJob) -> None: ...

    async def stop(self) -> None: ...

    def sweep(self, before: datetime) -> int:
        """Remove some of the jobs that have been over since before that time; the answer is how many."""
        ...


class LaneJob(Protocol):
    def __call__(self, job: str, run_id: str, *, own: bool) -> Coroutine[Any, Any, None]:
        """`own`: this very process has enqueued it, and wakes it by itself."""
        ...


class TimerJob(Protocol):
    def __call__(self, run_id: str, command: Timer) -> Coroutine[Any, Any, None]: ...


@dataclass(frozen=True, slots=True)
class Content:
    """A file that a runner has made."""

    name: str  # of the artifact
    format: str
    data: bytes

    @property
    def size(self) -> int:
        return len(self.data)

    def read(self) -> bytes:
        return self.data


@dataclass(frozen=True, slots=True)
class Stored:
    """A file that the store holds already; its bytes are read only when they are wanted."""

    name: str  # of the artifact
    format: str
    checksum: str
    size: int
    read: Callable[[], bytes]
    path: str = ""  # below the pipeline's folder
    artifact_id: str = ""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that a person has handed in for a field of a form."""

    filename: str
    checksum: str
    size: int
    read: Callable[[], bytes]


class Material(Protocol):
    """What an execution may read; brought together when it is wanted."""

    @property
    def input(self) -> Any:
        """Mapped from the run's input and context (P8); the runner's own, which it may change."""
        ...

    @property
    def previous(self) -> tuple[Stored, ...]:
        """The same checkpoint in the previous run (X9)."""
        ...

    @property
    def references(self) -> Mapping[str, tuple[Stored, ...]]:
        """Outputs of other checkpoints, by key."""
        ...

    @property
    def prompt(self) -> str:
        """The context as laid out for a model."""
        ...


@dataclass(frozen=True, slots=True)
class Work:
    """One dispatch of one execution, with all that a runner may know of it."""

    run_id: str
    pipeline_id: str
    execution_id: str
    dispatch: int
    attempt: int
    revision: int
    checkpoint: CheckpointDefinition
    material: Material
    answer: Any  # what a person filled in, if anything
    files: Mapping[str, Upload]  # that the answer names, by their upload ids
    feedback: tuple[str, ...]  # of revisions asked for, oldest first
    workspace: Path
    log: Callable[[str, str, Mapping[str, Any] | None], None]  # level, message, details
    progress: Callable[[float | None, str | None], None]


@dataclass(frozen=True, slots=True)
class Produced:
    """The work is done."""

    artifacts: tuple[Content | Stored, ...]
    output: Any = None  # what joins the run's context when no JSON artifact stands for it
    ruling: Ruling | None = None


@dataclass(frozen=True, slots=True)
class Faulted:
    """The work failed; it may be tried again."""

    error: Fault


@dataclass(frozen=True, slots=True)
class Unfit:
    """The work is done, and fails validation."""

    artifacts: tuple[Content | Stored, ...]
    error: Fault


@dataclass(frozen=True, slots=True)
class Asks:
    """People have to answer before it can go on."""

    waiting_on: WaitingOn
    question: Any


Outcome = Produced | Faulted | Unfit | Asks


class Runner(Protocol):
    """Carries out one dispatch. Cancelled, it stops at once with all that it started."""

    async def carry_out(self, work: Work) -> Outcome: ...
