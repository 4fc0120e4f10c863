"""The work order: everything a runner gets for one dispatch of an execution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from cairn.definitions.model import CheckpointDefinition
from cairn.ports.actions import ActionDoor
from cairn.ports.conversation import Conversation
from cairn.ports.files import StoredFile, UploadedFile
from cairn.ports.outcomes import Outcome, ProposesAction, RecordedCall
from cairn.ports.sandbox import SandboxStatus


@dataclass(frozen=True, slots=True)
class ReworkBrief:
    """Why work was sent back, with the requester's files so far."""

    prompt: str  # the new task
    reason: str
    requested_by: str  # the key of the requesting checkpoint, or a username
    requested_by_execution_id: str | None = None
    artifacts: tuple[StoredFile, ...] = ()


@dataclass(frozen=True, slots=True)
class ArtifactSource:
    """A completed execution and its artifacts."""

    checkpoint_name: str
    position: int  # from 0; headings count from 1
    run_version: int | None  # None for a test run
    artifacts: tuple[StoredFile, ...] = ()
    pass_number: int = 1


@dataclass(frozen=True, slots=True)
class ResolvedInputs:
    """The inputs of a checkpoint, resolved."""

    previous: ArtifactSource | None = None  # the same checkpoint in the latest earlier run that completed it
    previous_pass: ArtifactSource | None = None  # the same checkpoint in the previous pass of this run
    completed: Mapping[str, ArtifactSource] = field(
        default_factory=dict[str, ArtifactSource]
    )  # in this pass of this run, by key
    feedback: tuple[str, ...] = ()  # of revisions, oldest first
    rework: ReworkBrief | None = None  # why the work was sent back
    original_prompt: str = ""  # the prompt of the run
    input: Any = None  # the part of the input that is shown to an agent
    findings: str = ""  # why the previous result failed validation
    # By checksum of the content, then by the model that wrote them, newest last.
    summaries: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])


class WorkInputs(Protocol):
    """The inputs of an execution, loaded on demand."""

    @property
    def input(self) -> Any:
        """Mapped from the run's input and context. A copy: the runner may change it."""
        ...

    @property
    def previous(self) -> tuple[StoredFile, ...]:
        """Artifacts of the same checkpoint in the previous run."""
        ...

    @property
    def references(self) -> Mapping[str, tuple[StoredFile, ...]]:
        """Artifacts of other checkpoints, by key."""
        ...

    @property
    def prompt(self) -> str:
        """The context, formatted for a model."""
        ...


class WorkMaterial(WorkInputs, Protocol):
    """The inputs of one dispatch, with access to the parts of the prompt."""

    @property
    def resolved_inputs(self) -> ResolvedInputs:
        """All inputs that a prompt is built from. Reading them records them in the lineage."""
        ...

    async def save_summary(self, checksum: str, model: str, summary: str) -> None:
        """Use this summary for the content from now on, wherever a summary is allowed."""
        ...


@dataclass(frozen=True, slots=True)
class PastCorrection:
    """Proposed parameters that people changed before they approved."""

    proposed: Mapping[str, Any]
    approved: Mapping[str, Any]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ActionOffer:
    """An action that an agent may propose."""

    name: str
    risk: str
    description: str = ""
    schema: Any = None  # JSON Schema of the parameters
    corrections: tuple[PastCorrection, ...] = ()
    executor: str = "cairn"  # cairn, tool, or proposer: the agent carries it out and reports the outcome


@dataclass(frozen=True, slots=True)
class WorkOrder:
    """One dispatch of one execution."""

    run_id: str
    pipeline_id: str
    execution_id: str
    dispatch: int
    attempt: int
    revision: int
    checkpoint: CheckpointDefinition
    material: WorkMaterial
    answer: Any  # the form as a person submitted it, if any
    files: Mapping[str, UploadedFile]  # uploads that the answer refers to, by id
    feedback: tuple[str, ...]  # of requested revisions, oldest first
    workspace: Path
    log: Callable[[str, str, Mapping[str, Any] | None], None]  # level, message, details
    progress: Callable[[float | None, str | None], None]
    scripts: Mapping[str, StoredFile] = field(default_factory=dict[str, StoredFile])  # by path
    calls: tuple[RecordedCall, ...] = ()  # of this revision, in order
    read_content: Callable[[str], bytes] | None = None  # by checksum, for replaying recorded calls
    on_sandboxed: Callable[[SandboxStatus], None] | None = None  # called when a process starts
    rework: ReworkBrief | None = None  # if the work was sent back
    conversation: Conversation | None = None  # with the models that do the work or judge it
    is_test: bool = False  # a test run carries out no actions
    action_offers: tuple[ActionOffer, ...] = ()  # listed in the agent's prompt
    check_proposal: Callable[[ProposesAction], str | None] | None = None  # why an action can't be decided, or None
    actions: ActionDoor | None = None  # hands over approved actions that the proposer carries out


class Runner(Protocol):
    """Executes one dispatch. Cancellation stops it immediately, with all processes that it started."""

    async def run(self, work: WorkOrder) -> Outcome: ...
