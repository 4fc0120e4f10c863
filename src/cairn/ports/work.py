"""One dispatch of an execution: what a runner is given, and what may come of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from cairn.core.model import Fault, Ruling, WaitingOn
from cairn.definitions.model import CheckpointDefinition
from cairn.ports.conversation import Conversation
from cairn.ports.sandbox import Reached


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
    conversation: Conversation | None = None  # with the models that work on it, or judge it


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


@dataclass(frozen=True, slots=True)
class ProposesAction:
    """Something is to be done outside: once it is allowed, it is called again."""

    operation_type: str
    parameters: Mapping[str, Any]
    reasoning: str = ""
    confidence: float | None = None  # from 0 to 1
    risk_level: str | None = None  # as the proposer sees it
    supporting_data: Any = None
    artifacts: tuple[Content | Stored, ...] = ()  # that it has staged so far
    call: Call | None = None  # to be recorded with the report
    seen: bytes | None = None  # the content that `call.seen` names


@dataclass(frozen=True, slots=True)
class OverBudget:
    """No further call of a model is allowed: it is called again when the budget is higher (A6, D69)."""

    reason: str  # as `BudgetSpent` says it


Outcome = Produced | Faulted | Unfit | Asks | WantsRework | ProposesAction | OverBudget


class Runner(Protocol):
    """Carries out one dispatch. Cancelled, it stops at once with all that it started."""

    async def carry_out(self, work: Work) -> Outcome: ...
