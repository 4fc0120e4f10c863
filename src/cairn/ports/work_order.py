"""One dispatch of an execution: what a runner is given, and what may come of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from cairn.definitions.model import CheckpointDefinition
from cairn.ports.conversation import Conversation
from cairn.ports.files import StoredFile, UploadedFile
from cairn.ports.outcomes import Outcome, ProposesAction, RecordedCall
from cairn.ports.sandbox import SandboxStatus


@dataclass(frozen=True, slots=True)
class ReworkBrief:
    """Why the work was sent back, and what whoever asked for it has made so far."""

    prompt: str  # what is to be done now
    reason: str
    requested_by: str  # the key of the checkpoint that asked, or the person
    requested_by_execution_id: str | None = None
    artifacts: tuple[StoredFile, ...] = ()


@dataclass(frozen=True, slots=True)
class ArtifactSource:
    """A completed execution whose artifacts are read."""

    checkpoint_name: str
    position: int  # counts from 0; headings count from 1
    run_version: int | None  # None: a test run
    artifacts: tuple[StoredFile, ...] = ()
    pass_number: int = 1


@dataclass(frozen=True, slots=True)
class ResolvedInputs:
    """What has been found for a checkpoint to read."""

    previous: ArtifactSource | None = None  # itself, in the nearest earlier run that completed it
    previous_pass: ArtifactSource | None = None  # itself, in the earlier pass of this run
    completed: Mapping[str, ArtifactSource] = field(
        default_factory=dict[str, ArtifactSource]
    )  # this run's, in this pass, by key
    feedback: tuple[str, ...] = ()  # of revisions, oldest first
    rework: ReworkBrief | None = None  # why the work was sent back
    original_prompt: str = ""  # what the run was started for
    input: Any = None  # of the input what an agent is shown
    findings: str = ""  # why the last result failed validation
    # Of contents, by checksum and by the model that made them, the newest last.
    summaries: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])


class WorkInputs(Protocol):
    """What an execution may read; brought together when it is wanted."""

    @property
    def input(self) -> Any:
        """Mapped from the run's input and context; the runner's own, which it may change."""
        ...

    @property
    def previous(self) -> tuple[StoredFile, ...]:
        """The same checkpoint in the previous run."""
        ...

    @property
    def references(self) -> Mapping[str, tuple[StoredFile, ...]]:
        """Outputs of other checkpoints, by key."""
        ...

    @property
    def prompt(self) -> str:
        """The context as laid out for a model."""
        ...


class WorkMaterial(WorkInputs, Protocol):
    """What there is for one dispatch."""

    @property
    def resolved_inputs(self) -> ResolvedInputs:
        """All that a prompt is made of; it counts as read."""
        ...

    async def save_summary(self, checksum: str, model: str, summary: str) -> None:
        """From now on this stands for the content where a summary is allowed, here and for others."""
        ...


@dataclass(frozen=True, slots=True)
class PastCorrection:
    """What people have once made of parameters that were proposed."""

    proposed: Mapping[str, Any]
    approved: Mapping[str, Any]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ActionOffer:
    """Something that may be proposed to be done outside."""

    name: str
    risk: str
    description: str = ""
    schema: Any = None  # JSON Schema of its parameters
    corrections: tuple[PastCorrection, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkOrder:
    """One dispatch of one execution, with all that a runner may know of it."""

    run_id: str
    pipeline_id: str
    execution_id: str
    dispatch: int
    attempt: int
    revision: int
    checkpoint: CheckpointDefinition
    material: WorkMaterial
    answer: Any  # what a person filled in, if anything
    files: Mapping[str, UploadedFile]  # that the answer names, by their upload ids
    feedback: tuple[str, ...]  # of revisions asked for, oldest first
    workspace: Path
    log: Callable[[str, str, Mapping[str, Any] | None], None]  # level, message, details
    progress: Callable[[float | None, str | None], None]
    scripts: Mapping[str, StoredFile] = field(default_factory=dict[str, StoredFile])  # of its definition, by path
    calls: tuple[RecordedCall, ...] = ()  # of this revision, in their order
    read_content: Callable[[str], bytes] | None = None  # reads by checksum what a recorded call could see
    on_sandboxed: Callable[[SandboxStatus], None] | None = None  # told when a process begins
    rework: ReworkBrief | None = None  # where the work was sent back
    conversation: Conversation | None = None  # with the models that work on it, or judge it
    is_test: bool = False  # of a run that does nothing outside
    action_offers: tuple[ActionOffer, ...] = ()  # that an agent is told of
    check_proposal: Callable[[ProposesAction], str | None] | None = None  # why an action cannot be decided about


class Runner(Protocol):
    """Carries out one dispatch. Cancelled, it stops at once with all that it started."""

    async def carry_out(self, work: WorkOrder) -> Outcome: ...
