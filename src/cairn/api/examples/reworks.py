"""The story goes on: whoever looked at the requirements sends the goals back."""

from __future__ import annotations

from typing import Any

from cairn.api.examples import story as s
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

ASKER_ID, REWORK_ID = s.name("execution requirements"), s.name("execution goals again")
REQUEST: dict[str, Any] = {
    "checkpoint": "goals",
    "prompt": "Add a goal for the second market.",
    "reason": "The requirements ask for two markets, the goals name one.",
}
PREVIEW = ReworkPreview(
    run_id=s.RUN_ID,
    checkpoint_id=s.CHECKPOINT_ID,
    checkpoint_key="goals",
    checkpoint_name="Business Goals",
    checkpoint_position=0,
    execution_id=s.EXECUTION_ID,
    replaced=[
        ReplacedArtifact(
            artifact_record_id=s.RECORD_ID,
            artifact_name="goals",
            file_path=s.ARTIFACT.file_path,
            size_bytes=s.ARTIFACT.size_bytes,
        )
    ],
    asker_execution_id=ASKER_ID,
    asker_checkpoint_name="Requirements",
    asker_waits=True,
    withdrawn_approvals=[
        WithdrawnApproval(
            approval_id=s.name("approval requirements"), kind=ApprovalKind.COMPLETION, checkpoint_name="Requirements"
        )
    ],
    becomes_stale=[
        StaleExecution(
            execution_id=s.name("execution summary"),
            run_id=s.RUN_ID,
            run_version=2,
            checkpoint_name="Summary",
            artifacts=["goals"],
        )
    ],
    reopens=False,
    reworks=0,
    begins="at once",
)
# As plain JSON: the example of an execution is the one that every other operation answers with.
EXECUTION: dict[str, Any] = s.EXECUTION.model_copy(
    update={
        "execution_id": REWORK_ID,
        "status": ExecutionStatus.IN_PROGRESS,
        "parent_execution_id": ASKER_ID,
        "regression_context": {
            "reason": REQUEST["reason"],
            "prompt": REQUEST["prompt"],
            "requested_by": "admin",
            "requested_by_execution_id": ASKER_ID,
        },
        "approval": None,
        "artifacts_generated": [],
        "digest": None,
        "possible": ["submit", "cancel"],
    }
).model_dump(mode="json")
LINEAGE = Lineage(
    run_id=s.RUN_ID,
    flow=[
        ArtifactFlow(
            artifact_record_id=s.RECORD_ID,
            artifact_name="goals",
            checksum=s.DIGEST,
            producer_execution_id=s.EXECUTION_ID,
            producer_run_id=s.RUN_ID,
            producer_checkpoint="goals",
            consumer_execution_id=ASKER_ID,
            consumer_checkpoint="requirements",
            consumed_at=s.at(20),
            stale=False,
        )
    ],
    dependencies=[Dependency(execution_id=ASKER_ID, depends_on_execution_id=s.EXECUTION_ID, dependency_type="success")],
    reworks=[
        ReworkItem(
            execution_id=REWORK_ID,
            checkpoint_id=s.CHECKPOINT_ID,
            checkpoint_key="goals",
            checkpoint_name="Business Goals",
            checkpoint_position=0,
            status=ExecutionStatus.IN_PROGRESS,
            depth=1,
            parent_execution_id=ASKER_ID,
            parent_checkpoint_name="Requirements",
            requested_by="admin",
            prompt=REQUEST["prompt"],
            reason=REQUEST["reason"],
            supersedes=s.EXECUTION_ID,
            archived_by=None,
            created_at=s.at(25),
            completed_at=None,
        )
    ],
)
