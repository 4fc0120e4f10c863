"""Rollbacks and their previews."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cairn.core.states import ApprovalKind, ExecutionStatus
from cairn.services.actions.views import ActionSummary
from cairn.services.view import Id, Instant, Page, View

RollbackType = Literal["checkpoint_level", "run_level"]


class DeletedRun(View):
    run_id: Id
    run_version: int | None


class DeletedExecution(View):
    execution_id: Id
    checkpoint_id: Id
    checkpoint_name: str
    checkpoint_position: int
    status: ExecutionStatus


class ArchivedArtifact(View):
    artifact_id: Id
    artifact_record_id: Id
    artifact_name: str
    original_path: str
    archived_path: str
    size_bytes: int


class RolledBackItems(View):
    deleted_runs: list[DeletedRun]
    deleted_checkpoint_executions: list[DeletedExecution]
    archived_artifacts: list[ArchivedArtifact]


class RollbackFacts(View):
    """What a rollback removes, whether created or previewed."""

    rollback_type: RollbackType
    source_run_id: Id
    source_run_version: int | None
    target_run_id: Id | None
    target_run_version: int | None
    target_checkpoint_id: Id | None
    target_checkpoint_position: int
    rolled_back_items: RolledBackItems
    user_reason: str | None
    warnings: list[str]


class Rollback(RollbackFacts):
    rollback_id: Id
    archive_location: str
    triggered_by: Literal["user_request", "checkpoint_failure", "recovery"]
    created_at: Instant
    created_by: str
    undone_at: Instant | None
    can_undo: bool


class RollbackPage(Page[Rollback]):
    """Rollbacks, newest first."""


class UnaffectedItems(View):
    checkpoints: int
    artifacts: int


class StoppedExecution(View):
    execution_id: Id
    checkpoint_name: str


class WithdrawnApproval(View):
    approval_id: Id
    kind: ApprovalKind
    checkpoint_name: str


class ResumePoint(View):
    """How the run continues after the rollback."""

    checkpoint_name: str | None
    start_mode: Literal["immediately", "needs_approval", "manual", "run_completes"]


class RollbackPreview(RollbackFacts):
    """The impact of a rollback before it is created."""

    rollback_id: Annotated[Id | None, Field(description="The id that you chose. Null: Cairn chooses one.")] = None
    unaffected: UnaffectedItems
    stopped_executions: list[StoppedExecution]
    withdrawn_approvals: list[WithdrawnApproval]
    executed_actions: list[ActionSummary]  # of archived executions: a rollback doesn't undo them
    withdrawn_actions: list[ActionSummary]  # proposed or approved, but not started
    hold: bool  # whether the run is left paused
    size_bytes: int
    resumes_with: ResumePoint
