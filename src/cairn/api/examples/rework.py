"""A rework: the requirements checkpoint sends the goals back."""

from __future__ import annotations

from typing import Any

from cairn.api.examples import story
from cairn.core.states import ApprovalKind, ExecutionStatus
from cairn.services.rework.views import (
    ArtifactFlow,
    Dependency,
    Lineage,
    ReplacedArtifact,
    ReworkItem,
    ReworkPreview,
    StaleExecution,
)
from cairn.services.rollbacks.views import WithdrawnApproval

REQUESTER_ID, REWORK_ID = story.id_of("execution requirements"), story.id_of("execution goals again")


def request() -> dict[str, Any]:
    return {
        "checkpoint": "goals",
        "prompt": "Add a goal for the second market.",
        "reason": "The requirements cover two markets, but the goals name only one.",
    }


def preview() -> ReworkPreview:
    return ReworkPreview(
        run_id=story.RUN_ID,
        checkpoint_id=story.CHECKPOINT_ID,
        checkpoint_key="goals",
        checkpoint_name="Business Goals",
        checkpoint_position=0,
        execution_id=story.EXECUTION_ID,
        prompt=request()["prompt"],
        reason=request()["reason"],
        replaced=[
            ReplacedArtifact(
                artifact_record_id=story.RECORD_ID,
                artifact_name="goals",
                file_path=story.artifact().file_path,
                size_bytes=story.artifact().size_bytes,
            )
        ],
        requester_execution_id=REQUESTER_ID,
        requester_checkpoint_name="Requirements",
        requester_waits=True,
        withdrawn_approvals=[
            WithdrawnApproval(
                approval_id=story.id_of("approval requirements"),
                kind=ApprovalKind.COMPLETION,
                checkpoint_name="Requirements",
            )
        ],
        stale_executions=[
            StaleExecution(
                execution_id=story.id_of("execution summary"),
                run_id=story.RUN_ID,
                run_version=2,
                checkpoint_name="Summary",
                artifacts=["goals"],
            )
        ],
        reopens_run=False,
        reworks=0,
        start_mode="immediately",
    )


def execution() -> dict[str, Any]:
    """Plain JSON, because the view `Execution` already has another example."""
    return (
        story.execution()
        .model_copy(
            update={
                "execution_id": REWORK_ID,
                "status": ExecutionStatus.IN_PROGRESS,
                "parent_execution_id": REQUESTER_ID,
                "regression_context": {
                    "reason": request()["reason"],
                    "prompt": request()["prompt"],
                    "requested_by": "admin",
                    "requested_by_execution_id": REQUESTER_ID,
                },
                "approval": None,
                "artifacts_generated": [],
                "digest": None,
                "available_commands": ["submit", "cancel"],
            }
        )
        .model_dump(mode="json")
    )


def lineage() -> Lineage:
    return Lineage(
        run_id=story.RUN_ID,
        flow=[
            ArtifactFlow(
                artifact_record_id=story.RECORD_ID,
                artifact_name="goals",
                checksum=story.DIGEST,
                producer_execution_id=story.EXECUTION_ID,
                producer_run_id=story.RUN_ID,
                producer_checkpoint="goals",
                consumer_execution_id=REQUESTER_ID,
                consumer_checkpoint="requirements",
                consumed_at=story.at(20),
                is_stale=False,
            )
        ],
        dependencies=[
            Dependency(execution_id=REQUESTER_ID, depends_on_execution_id=story.EXECUTION_ID, dependency_type="success")
        ],
        reworks=[
            ReworkItem(
                execution_id=REWORK_ID,
                checkpoint_id=story.CHECKPOINT_ID,
                checkpoint_key="goals",
                checkpoint_name="Business Goals",
                checkpoint_position=0,
                status=ExecutionStatus.IN_PROGRESS,
                depth=1,
                parent_execution_id=REQUESTER_ID,
                parent_checkpoint_name="Requirements",
                requested_by="admin",
                prompt=request()["prompt"],
                reason=request()["reason"],
                supersedes=story.EXECUTION_ID,
                archived_by=None,
                created_at=story.at(25),
                completed_at=None,
            )
        ],
    )


def rerun_request() -> dict[str, Any]:
    return {"reason": "The goals have changed."}
