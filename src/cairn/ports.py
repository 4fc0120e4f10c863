"""What the program asks of the outside, as Protocols. Adapters implement them; only `bootstrap` chooses."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from io import FileIO
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
    record_id: str = ""  # of the artifact itself, not of its declaration


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
class Call:
    """A call of a script's that waited for others, as it was recorded, and what came of it."""

    number: int  # in this revision, from 1
    kind: str  # rework, action or question
    arguments: Mapping[str, Any]
    answer: Mapping[str, Any] | None  # None: nobody has answered yet
    seen: str | None = None  # checksum of what the script could read until then


@dataclass(frozen=True, slots=True)
class Rework:
    """Why the work was sent back, and what whoever asked for it has made so far (R2, D31)."""

    prompt: str  # what is to be done now
    reason: str
    requested_by: str  # the key of the checkpoint that asked, or the person
    requested_by_execution_id: str | None = None
    artifacts: tuple[Stored, ...] = ()


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
    scripts: Mapping[str, Stored] = field(default_factory=dict[str, Stored])  # of its definition, by path
    calls: tuple[Call, ...] = ()  # of this revision, in their order
    contents: Callable[[str], bytes] | None = None  # reads by checksum what a recorded call could see
    sandboxed: Callable[[Reached], None] | None = None  # told when a process begins
    rework: Rework | None = None  # where the work was sent back


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


@dataclass(frozen=True, slots=True)
class WantsRework:
    """The work of an earlier checkpoint has to be done again first; then it is called again."""

    key: str
    prompt: str
    reason: str
    artifacts: tuple[Content | Stored, ...] = ()  # that it has staged so far
    call: Call | None = None  # to be recorded with the report
    seen: bytes | None = None  # the content that `call.seen` names


Outcome = Produced | Faulted | Unfit | Asks | WantsRework


class Runner(Protocol):
    """Carries out one dispatch. Cancelled, it stops at once with all that it started."""

    async def carry_out(self, work: Work) -> Outcome: ...


# ---- processes that are let loose --------------------------------------------------------------------
class Level(StrEnum):
    """How far a process is shut in, the weakest first."""

    PROCESS = "process"  # limits, a session of its own, stopped with all that it starts
    BUBBLEWRAP = "bubblewrap"  # also: its own view of files, processes and network

    def is_weaker(self, other: Level) -> bool:
        order = list(Level)
        return order.index(self) < order.index(other)


@dataclass(frozen=True, slots=True)
class Reached:
    """The level that this machine reaches, and why."""

    level: Level
    reason: str


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one process, and all that it starts, may use."""

    memory_mb: int = 1024  # of each process
    processes: int = 64
    open_files: int = 256
    file_size_mb: int = 100  # of each file that it writes
    network: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """A process to be started: a file of Python's, with the rooms that it may see.

    The file is called with the number of its end of the line, and with a JSON object: `limits` by the names of
    rlimits, `user` that it becomes or null, `watches` if it has to end with all that it starts by itself, and where
    it finds `workspace` and `scripts`. It carries that out before anything else.
    """

    name: str  # of whose it is; equal for each dispatch of one execution
    python: str  # the interpreter
    child: Path  # the file that is run
    workspace: Path  # the one folder that it may write
    scripts: Path  # that it may read
    bounds: Bounds


class Process(Protocol):
    """A process tree that was started."""

    @property
    def pid(self) -> int: ...

    @property
    def socket(self) -> Any:
        """This side of the line to it."""
        ...

    @property
    def output(self) -> tuple[FileIO, FileIO]:
        """What it prints: the reading ends of stdout and stderr."""
        ...

    async def wait(self) -> int:
        """Until it has ended: its status, negative for a signal."""
        ...

    async def kill(self) -> None:
        """End it with everything that it has started; afterwards none of it lives."""
        ...

    def close(self) -> None:
        """Close this side of the line and of what it prints."""
        ...


class Sandbox(Protocol):
    """Starts processes that may do no harm."""

    def probe(self) -> Reached:
        """Tried once, then known."""
        ...

    async def start(self, job: Job) -> Process: ...

    def end_leftovers(self) -> int:
        """End what an earlier process of this server has left behind; the answer is how many there were."""
        ...
