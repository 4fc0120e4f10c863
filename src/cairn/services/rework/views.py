"""What was made from what, what is no longer up to date, and what was sent back."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cairn.core.states import ExecutionStatus
from cairn.services.rollbacks.views import WithdrawnApproval
from cairn.services.view import Checksum, Id, Instant, View

ReworkBegins = Literal["at once", "asks first", "when the run is resumed"]


class StaleInput(View):
    """An artifact that was read, and has been replaced or taken away since."""

    artifact_record_id: Id
    artifact_name: str
    execution_id: Id
    checkpoint_id: Id
    checkpoint_name: str
    replaced_by: Annotated[Id | None, Field(description="The execution that stands now; null if none does.")]


class ArtifactFlow(View):
    """An artifact, who made it and who read it."""

    artifact_record_id: Id
    artifact_name: str
    checksum: Checksum
    producer_execution_id: Id
    producer_run_id: Id
    producer_checkpoint: str
    consumer_execution_id: Id
    consumer_checkpoint: str
    consumed_at: Instant
    is_stale: Annotated[bool, Field(description="A newer version stands: who read this one is not up to date.")]


class Dependency(View):
    execution_id: Id
    depends_on_execution_id: Id
    dependency_type: Literal["success"]


class ReworkItem(View):
    """One execution that was sent back, in the chain of those that asked."""

    execution_id: Id
    checkpoint_id: Id
    checkpoint_key: str
    checkpoint_name: str
    checkpoint_position: int
    status: ExecutionStatus
    depth: Annotated[int, Field(description="How many reworks deep it stands; 1 is the first.")]
    parent_execution_id: Annotated[Id | None, Field(description="The execution that it was asked for by.")]
    parent_checkpoint_name: str | None
    requested_by: Annotated[str, Field(description="The key of the checkpoint that asked, or the person.")]
    prompt: str
    reason: str
    supersedes: Annotated[Id | None, Field(description="The execution whose place it takes, or is to take.")]
    archived_by: Id | None
    created_at: Instant
    completed_at: Instant | None


class Lineage(View):
    """A run's artifacts on their way, what its executions waited for, and its reworks."""

    run_id: Id
    flow: Annotated[list[ArtifactFlow], Field(description="In the order in which they were read.")]
    dependencies: list[Dependency]
    reworks: Annotated[list[ReworkItem], Field(description="In the order in which they were asked for.")]


class ReplacedArtifact(View):
    artifact_record_id: Id
    artifact_name: str
    file_path: str
    size_bytes: int


class StaleExecution(View):
    """An execution that has read what is to be replaced."""

    execution_id: Id
    run_id: Id
    run_version: int | None
    checkpoint_name: str
    artifacts: list[str]


class ReworkPreview(View):
    """The impact of a rework that has not been asked for."""

    run_id: Id
    checkpoint_id: Id
    checkpoint_key: str
    checkpoint_name: str
    checkpoint_position: int
    execution_id: Annotated[Id, Field(description="The execution that stands now, and is superseded when it is done.")]
    replaced: list[ReplacedArtifact]
    asker_execution_id: Id
    asker_checkpoint_name: str
    asker_waits: Annotated[bool, Field(description="Whether the asker waits for it and then goes on.")]
    withdrawn_approvals: list[WithdrawnApproval]
    becomes_stale: list[StaleExecution]
    reopens: Annotated[bool, Field(description="Whether a completed run is in progress again until it is done.")]
    reworks: Annotated[int, Field(description="How many the run has had.")]
    begins: ReworkBegins
