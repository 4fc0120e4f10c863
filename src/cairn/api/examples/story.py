"""The story that all examples share: one pipeline of three checkpoints, and its second run.

Examples are functions, called only when the OpenAPI document is built.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import NAMESPACE_URL, uuid5

from cairn.core.states import ApprovalKind, ApprovalStatus, ExecutionMode, ExecutionStatus, RunStatus
from cairn.services.approvals.views import Approval, ApprovalDetail, ApprovalTerms, Form, FormField, PriorExecution
from cairn.services.artifacts.views import Artifact
from cairn.services.costs.views import BudgetLimits, BudgetStatus, RunBudget, Usage
from cairn.services.pipelines.views import Checkpoint, Pipeline, PipelineSummary
from cairn.services.runs.execution_views import ErrorDetails, Execution, Interaction
from cairn.services.runs.views import OpenExecution, RecentRun, Run, RunCheckpoint, RunMetadata, RunProgress, RunSummary
from cairn.services.view import View

P = TypeVar("P", bound=View)


def id_of(name: str) -> str:
    return str(uuid5(NAMESPACE_URL, f"urn:cairn:example:{name}"))


def at(minutes: int) -> datetime:
    return datetime(2026, 3, 2, 9, 30, tzinfo=UTC) + timedelta(minutes=minutes)


def page(kind: type[P], *items: View) -> P:
    """The only page of a list."""
    return kind.model_validate({"items": items, "next_cursor": None})


PIPELINE_ID, RUN_ID, EARLIER_RUN_ID = id_of("pipeline"), id_of("run 2"), id_of("run 1")
CHECKPOINT_ID, EXECUTION_ID = id_of("checkpoint goals"), id_of("execution goals")
APPROVAL_ID, ROLLBACK_ID, RECORD_ID = id_of("approval"), id_of("rollback"), id_of("record")
DIGEST = "6c1f0d0f7b1f9f1d2a6a1f4c9f0a5f0e8f9f2d4b6a7c8e9d0b1a2c3d4e5f6071"
STEPS = (("goals", "Business Goals"), ("requirements", "Requirements"), ("design", "Design"))


def _field() -> dict[str, Any]:
    return {"name": "goals", "type": "multiline_text", "label": "Goals", "required": True}


def definition() -> dict[str, Any]:
    return {
        "pipeline_name": "Business goals to design",
        "pipeline_description": "From business goals to a design.",
        "checkpoints": [
            {"key": key, "checkpoint_name": title, "form": [key], "approve": "complete"} for key, title in STEPS
        ],
    }


DEFINITION_YAML = """pipeline_name: Business goals to design
checkpoints:
  - key: goals
    checkpoint_name: Business Goals
    form: [goals]
    approve: complete
"""


def checkpoint() -> Checkpoint:
    return Checkpoint(
        checkpoint_id=CHECKPOINT_ID,
        pipeline_id=PIPELINE_ID,
        key="goals",
        position=0,
        checkpoint_name="Business Goals",
        checkpoint_description="What should be true in a year?",
        created_at=at(-60),
        updated_at=at(-60),
        execution={
            "mode": "human_only",
            "human_only_config": {"instructions": "What should be true in a year?", "input_fields": [_field()]},
        },
        human_interaction={"requires_approval_to_complete": True, "max_revision_iterations": 3},
    )


def usage() -> Usage:
    return Usage(
        calls=1,
        input_tokens=4100,
        output_tokens=320,
        cache_read_tokens=3000,
        cache_write_tokens=0,
        cost_usd=0.0171,
        unpriced_calls=0,
        simulated_calls=0,
        simulated_tokens=0,
        seconds=2.4,
    )


def _no_limits() -> BudgetLimits:
    return BudgetLimits(max_cost_usd=None, max_tokens=None, max_calls=None)


def budget() -> RunBudget:
    return RunBudget(
        run_limits=_no_limits(),
        definition_limits=_no_limits().model_copy(update={"max_cost_usd": 2.0}),
        monthly_limits=_no_limits(),
        status=[
            BudgetStatus(
                period="run",
                limit="max_cost_usd",
                allowed=2.0,
                used=0.0171,
                is_exhausted=False,
                unpriced_calls=0,
                message="The run has used $0.0171 of its budget of $2.00.",
            )
        ],
    )


def run_summary() -> RunSummary:
    return RunSummary(
        run_id=RUN_ID,
        pipeline_id=PIPELINE_ID,
        pipeline_name="Business goals to design",
        pipeline_definition_version=1,
        run_version=2,
        test=False,
        status=RunStatus.IN_PROGRESS,
        pause_requested=False,
        created_at=at(0),
        created_by="admin",
        started_at=at(0),
        completed_at=None,
        metadata=RunMetadata(
            total_checkpoints=3, completed_checkpoints=0, failed_checkpoints=0, paused_checkpoint_position=None
        ),
        current_checkpoint_id=CHECKPOINT_ID,
        current_checkpoint_position=0,
        pending_approval_count=1,
        pending_start_count=0,
        open_executions=[
            OpenExecution(
                execution_id=EXECUTION_ID,
                checkpoint_id=CHECKPOINT_ID,
                checkpoint_name="Business Goals",
                checkpoint_position=0,
                status=ExecutionStatus.WAITING_APPROVAL_TO_COMPLETE,
                waiting_on=None,
                retry_due_at=None,
                created_at=at(0),
                progress=None,
            )
        ],
        archived_by=None,
        over_budget=None,
        usage=usage(),
    )


def pipeline_summary() -> PipelineSummary:
    return PipelineSummary(
        pipeline_id=PIPELINE_ID,
        pipeline_name="Business goals to design",
        pipeline_description="From business goals to a design.",
        pipeline_definition_version=1,
        revision=1,
        checkpoint_count=3,
        created_at=at(-60),
        updated_at=at(-60),
        deleted_at=None,
        latest_run=run_summary(),
        recent_runs=[
            RecentRun(run_id=RUN_ID, run_version=2, status=RunStatus.IN_PROGRESS),
            RecentRun(run_id=EARLIER_RUN_ID, run_version=1, status=RunStatus.COMPLETED),
        ],
        pending_approval_count=1,
    )


def pipeline() -> Pipeline:
    return Pipeline(
        pipeline_id=PIPELINE_ID,
        pipeline_name="Business goals to design",
        pipeline_description="From business goals to a design.",
        pipeline_definition_version=1,
        created_at=at(-60),
        updated_at=at(-60),
        checkpoint_order=[CHECKPOINT_ID],
        config={"auto_advance": False},
        restart_policy={"require_second_pass": False, "max_restarts": 3},
        actions={},
        checkpoints=[checkpoint()],
        revision=1,
        deleted_at=None,
        latest_run=run_summary(),
        warnings=[],
    )


def artifact() -> Artifact:
    return Artifact(
        artifact_record_id=RECORD_ID,
        artifact_id=id_of("artifact"),
        execution_id=EXECUTION_ID,
        run_id=RUN_ID,
        run_version=2,
        checkpoint_id=CHECKPOINT_ID,
        checkpoint_name="Business Goals",
        checkpoint_position=0,
        artifact_name="goals",
        format="json",
        media_type="application/json",
        artifact_type="file",
        file_path=f".temp/exec_{EXECUTION_ID}/artifacts_staging/goals_{id_of('artifact')[:8]}.json",
        size_bytes=41,
        checksum=DIGEST,
        created_at=at(12),
        promoted_to_permanent_at=None,
        superseded_at=None,
        is_stale=False,
    )


def form() -> Form:
    return Form(
        instructions="What should be true in a year?",
        fields=[
            FormField(
                field_id=id_of("field"),
                name="goals",
                type="multiline_text",
                label="Goals",
                required=True,
                validation=None,
            )
        ],
        values={"goals": "Twice as many customers"},
        feedback=None,
    )


def approval() -> Approval:
    return Approval(
        approval_id=APPROVAL_ID,
        title="Approve Business Goals",
        kind=ApprovalKind.COMPLETION,
        status=ApprovalStatus.PENDING,
        digest=DIGEST,
        run_id=RUN_ID,
        run_version=2,
        pipeline_id=PIPELINE_ID,
        pipeline_name="Business goals to design",
        execution_id=EXECUTION_ID,
        checkpoint_id=CHECKPOINT_ID,
        checkpoint_name="Business Goals",
        checkpoint_position=0,
        requested_at=at(12),
        expires_at=None,
        on_timeout=None,
        escalate_to=[],
        closed_at=None,
        required_approvals=1,
        received_approvals=0,
        reason="",
        decisions=[],
        available_decisions=["approve", "revise", "reject"],
        rule=None,
        priority=100,
        assigned_to=[],
        can_decide=True,
        warning=None,
        escalated=False,
        operation_type=None,
        risk_level=None,
        confidence=None,
        artifact_count=1,
    )


def approval_detail() -> ApprovalDetail:
    return ApprovalDetail(
        **dict(approval()),
        run_created_by="admin",
        checkpoint_description="What should be true in a year?",
        rule_scope=None,
        rules_revision=None,
        terms=ApprovalTerms(
            on_timeout=None,
            timeout_seconds=None,
            escalate_after_seconds=None,
            escalate_to=[],
            not_by_starter=False,
            channels=[],
        ),
        action=None,
        artifacts=[artifact()],
        form=form(),
        prior_executions=[
            PriorExecution(
                execution_id=EXECUTION_ID,
                checkpoint_id=CHECKPOINT_ID,
                checkpoint_name="Business Goals",
                checkpoint_position=0,
                status=ExecutionStatus.WAITING_APPROVAL_TO_COMPLETE,
                seconds=None,
            )
        ],
        comments=[],
        context_available=True,
    )


def execution() -> Execution:
    return Execution(
        execution_id=EXECUTION_ID,
        run_id=RUN_ID,
        pipeline_id=PIPELINE_ID,
        checkpoint_id=CHECKPOINT_ID,
        checkpoint_key="goals",
        checkpoint_name="Business Goals",
        checkpoint_description="What should be true in a year?",
        checkpoint_position=0,
        mode=ExecutionMode.HUMAN_ONLY,
        status=ExecutionStatus.WAITING_APPROVAL_TO_COMPLETE,
        waiting_on=None,
        created_at=at(0),
        started_at=at(0),
        completed_at=None,
        failed_at=None,
        attempt_number=1,
        max_attempts=1,
        revision_iteration=0,
        max_revision_iterations=3,
        dispatch_number=1,
        pass_number=1,
        temp_workspace_path=f".temp/exec_{EXECUTION_ID}",
        permanent_output_path="runs/v2/checkpoint_0_business_goals/outputs",
        parent_execution_id=None,
        regression_context=None,
        superseded_by=None,
        stale_inputs=[],
        archived_by=None,
        sandbox=None,
        retry_due_at=None,
        active_seconds=0.01,
        digest=DIGEST,
        error_details=ErrorDetails(error_count=0, last_error=None, attempts=[]),
        validations=[],
        artifacts_generated=[artifact()],
        human_interactions=[
            Interaction(
                interaction_id=id_of("interaction"),
                timestamp=at(12),
                type="human_form",
                user_input="",
                system_response="answer",
                actor="admin",
            )
        ],
        approval=approval(),
        form=form(),
        progress=None,
        usage=usage(),
        available_commands=["approve-complete", "revise", "cancel"],
        warnings=[],
    )


def _run_checkpoint(position: int) -> RunCheckpoint:
    key, title = STEPS[position]
    is_first = position == 0
    return RunCheckpoint(
        position=position,
        checkpoint_id=id_of(f"checkpoint {key}"),
        key=key,
        name=title,
        description="",
        stage=key,
        mode=ExecutionMode.HUMAN_ONLY,
        needs=[],
        requires_approval_to_start=False,
        requires_approval_to_complete=True,
        execution_id=EXECUTION_ID if is_first else None,
        status=ExecutionStatus.WAITING_APPROVAL_TO_COMPLETE if is_first else "upcoming",
        waiting_on=None,
        attempt_number=1,
        revision_iteration=0,
        started_at=at(0) if is_first else None,
        completed_at=None,
        active_seconds=0.0,
        artifact_count=int(is_first),
        error_message=None,
        retry_due_at=None,
        progress=None,
        is_rework=False,
        is_stale=False,
    )


def run() -> Run:
    return Run(
        **dict(run_summary()),
        paused_at=None,
        last_resumed_at=None,
        previous_run_id=EARLIER_RUN_ID,
        extends_from_run_version=1,
        original_prompt=None,
        pass_number=1,
        restart_count=0,
        checkpoint_execution_history=[EXECUTION_ID],
        rollback_history=[],
        checkpoints=[_run_checkpoint(position) for position in range(3)],
        progress=RunProgress(
            completed=0, total=3, elapsed_seconds=720.0, estimated_seconds_left=5400.0, current=["Business Goals"]
        ),
        available_commands=["pause", "cancel", "restart", "roll back"],
        pending_approvals=[approval()],
        budget=budget(),
        warnings=[],
    )
