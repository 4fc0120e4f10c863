"""A rollback to before the first checkpoint."""

from __future__ import annotations

from typing import Any

from cairn.api.examples import actions, story
from cairn.core.states import ApprovalKind, ExecutionStatus
from cairn.services.rollbacks.views import (
    ArchivedArtifact,
    DeletedExecution,
    ResumePoint,
    Rollback,
    RollbackPage,
    RollbackPreview,
    RolledBackItems,
    UnaffectedItems,
    WithdrawnApproval,
)


def create_request() -> dict[str, Any]:
    return {
        "rollback_type": "checkpoint_level",
        "source_run_id": story.RUN_ID,
        "target_checkpoint_position": -1,
        "user_reason": "The market has changed",
    }


def _items() -> RolledBackItems:
    return RolledBackItems(
        deleted_runs=[],
        deleted_checkpoint_executions=[
            DeletedExecution(
                execution_id=story.EXECUTION_ID,
                checkpoint_id=story.CHECKPOINT_ID,
                checkpoint_name="Business Goals",
                checkpoint_position=0,
                status=ExecutionStatus.WAITING_APPROVAL_TO_COMPLETE,
            )
        ],
        archived_artifacts=[
            ArchivedArtifact(
                artifact_id=story.id_of("artifact"),
                artifact_record_id=story.RECORD_ID,
                artifact_name="goals",
                original_path=story.artifact().file_path,
                archived_path="archived_data/v2_checkpoint_0/goals.json",
                size_bytes=41,
            )
        ],
    )


def _shared_fields() -> dict[str, Any]:
    return {
        "rollback_type": "checkpoint_level",
        "source_run_id": story.RUN_ID,
        "source_run_version": 2,
        "target_run_id": story.RUN_ID,
        "target_run_version": 2,
        "target_checkpoint_id": None,
        "target_checkpoint_position": -1,
        "rolled_back_items": _items(),
        "user_reason": "The market has changed",
        "warnings": [],
    }


def rollback() -> Rollback:
    return Rollback(
        **_shared_fields(),
        rollback_id=story.ROLLBACK_ID,
        archive_location=f".archived/rollback_{story.ROLLBACK_ID}_20260302T101500Z/",
        triggered_by="user_request",
        created_at=story.at(45),
        created_by="admin",
        undone_at=None,
        can_undo=True,
    )


def preview() -> RollbackPreview:
    return RollbackPreview(
        **_shared_fields(),
        unaffected=UnaffectedItems(checkpoints=0, artifacts=0),
        stopped_executions=[],
        withdrawn_approvals=[
            WithdrawnApproval(
                approval_id=story.APPROVAL_ID, kind=ApprovalKind.COMPLETION, checkpoint_name="Business Goals"
            )
        ],
        executed_actions=[actions.summary()],
        withdrawn_actions=[],
        hold=True,
        size_bytes=41,
        resumes_with=ResumePoint(checkpoint_name="Business Goals", start_mode="immediately"),
    )


def rollbacks() -> RollbackPage:
    return story.page(RollbackPage, rollback())
