"""Lineage, stale artifacts and reworks."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cairn.core.states import ExecutionStatus
from cairn.services.rollbacks.views import WithdrawnApproval
from cairn.services.view import Checksum, Id, Instant, View

ReworkStartMode = Literal["immediately", "needs_approval", "on_resume"]


class StaleInput(View):
    """An artifact that was read and has been replaced or removed since."""

    artifact_record_id: Id
    artifact_name: str
    execution_id: Id
    checkpoint_id: Id
    checkpoint_name: str
    replaced_by: Annotated[Id | None, Field(description="The execution that replaced it, or null.")]


class ArtifactFlow(View):
    """An artifact with the execution that produced it and one that read it."""

    artifact_record_id: Id
    artifact_name: str
    checksum: Checksum
    producer_execution_id: Id
    producer_run_id: Id
    producer_checkpoint: str
    consumer_execution_id: Id
    consumer_checkpoint: str
    consumed_at: Instant
    is_stale: Annotated[bool, Field(description="A newer version exists, so the consumer is not up to date.")]


class Dependency(View):
    execution_id: Id
    depends_on_execution_id: Id
    dependency_type: Literal["success"]


class ReworkItem(View):
    """An execution of a rework, in its chain of requesters."""

    execution_id: Id
    checkpoint_id: Id
    checkpoint_key: str
    checkpoint_name: str
    checkpoint_position: int
    status: ExecutionStatus
    depth: Annotated[int, Field(description="Depth in the chain of reworks, starting at 1.")]
    parent_execution_id: Annotated[Id | None, Field(description="The execution that requested it.")]
    parent_checkpoint_name: str | None
    requested_by: Annotated[str, Field(description="Key of the requesting checkpoint, or the user.")]
    prompt: str
    reason: str
    supersedes: Annotated[Id | None, Field(description="The execution it replaces, or will replace.")]
    archived_by: Id | None
    created_at: Instant
    completed_at: Instant | None


class Lineage(View):
    """The artifact flow, dependencies and reworks of a run."""

    run_id: Id
    flow: Annotated[list[ArtifactFlow], Field(description="In the order in which they were read.")]
    dependencies: list[Dependency]
    reworks: Annotated[list[ReworkItem], Field(description="In the order in which they were requested.")]


class ReplacedArtifact(View):
    artifact_record_id: Id
    artifact_name: str
    file_path: str
    size_bytes: int


class StaleExecution(View):
    """An execution that read an artifact that would be replaced."""

    execution_id: Id
    run_id: Id
    run_version: int | None
    checkpoint_name: str
    artifacts: list[str]


class ReworkPreview(View):
    """The impact of a rework before it is created."""

    run_id: Id
    checkpoint_id: Id
    checkpoint_key: str
    checkpoint_name: str
    checkpoint_position: int
    execution_id: Annotated[Id, Field(description="The current execution. It is superseded when the rework completes.")]
    prompt: str
    reason: str
    replaced: list[ReplacedArtifact]
    requester_execution_id: Id
    requester_checkpoint_name: str
    requester_waits: Annotated[
        bool, Field(description="Whether the requester waits for the rework and then continues.")
    ]
    withdrawn_approvals: list[WithdrawnApproval]
    stale_executions: list[StaleExecution]
    reopens_run: Annotated[
        bool, Field(description="Whether a completed run is in progress again until the rework ends.")
    ]
    reworks: Annotated[int, Field(description="Number of reworks in the run so far.")]
    start_mode: ReworkStartMode
