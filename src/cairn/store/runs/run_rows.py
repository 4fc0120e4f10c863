"""Convert runs and executions to rows and back."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import sqlalchemy as sa

from cairn.core.approval import Approval
from cairn.core.budget import UNLIMITED, Budget
from cairn.core.execution import Execution, Failure, PendingRework, Rework
from cairn.core.plan import CheckpointPolicy, Plan
from cairn.core.run import Rollback, Run
from cairn.core.states import STATUS_OF, ExecutionState, PassDecision, RollbackTrigger, RunStatus, WaitingOn
from cairn.store.column_types import as_text
from cairn.store.errors import NotFound
from cairn.store.tables import checkpoint_executions

Row = Any  # a row of SQLAlchemy with the columns of one table
Values = dict[str, Any]


# Runs
def run_values(run: Run) -> Values:
    return {
        "status": str(run.status),
        "pause_requested": run.pause_requested,
        "pass_number": run.pass_number,
        "restart_count": run.restart_count,
        "total_checkpoints": len(run.plan.checkpoints),
        "completed_checkpoints": len(run.complete),
        "failed_checkpoints": len(run.failed),
        "started_at": run.started_at,
        "completed_at": run.completed_at,
        "paused_at": run.paused_at,
        "last_resumed_at": run.last_resumed_at,
        "reworks": run.reworks,
        "created_count": run.created_count,
        "timer_generation": run.timer_generation,
        "active_since": run.active_since,
        "active_seconds": run.active_seconds,
        "archived_by": run.archived_by,
        "rollbacks": [rollback_value(rollback) for rollback in run.rollbacks],
        "budget": run.budget.as_dict or None,
        "over_budget": run.over_budget,
        "budget_warned": run.budget_warned,
    }


def run_from(row: Row, plan: Plan, executions: dict[str, Execution], approvals: dict[str, Approval]) -> Run:
    return Run(
        id=row.run_id,
        plan=plan,
        status=RunStatus(row.status),
        pass_number=row.pass_number,
        restart_count=row.restart_count,
        pause_requested=row.pause_requested,
        executions=executions,
        approvals=approvals,
        rollbacks=tuple(rollback_from(value) for value in row.rollbacks),
        reworks=row.reworks,
        created_count=row.created_count,
        archived_by=row.archived_by,
        timer_generation=row.timer_generation,
        active_since=row.active_since,
        active_seconds=row.active_seconds,
        started_at=row.started_at,
        completed_at=row.completed_at,
        paused_at=row.paused_at,
        last_resumed_at=row.last_resumed_at,
        budget=budget_from(row.budget),
        over_budget=row.over_budget,
        budget_warned=row.budget_warned,
    )


def budget_from(value: Values | None) -> Budget:
    if not value:
        return UNLIMITED
    cost = value.get("max_cost_usd")
    return Budget(None if cost is None else Decimal(cost), value.get("max_tokens"), value.get("max_calls"))


def rollback_value(rollback: Rollback) -> Values:
    return {
        "id": rollback.id,
        "created_count": rollback.created_count,
        "pass_number": rollback.pass_number,
        "status_before": rollback.status_before.value,
        "target": rollback.target,
        "archived": list(rollback.archived),
        "stopped": list(rollback.stopped),
        "triggered_by": rollback.triggered_by.value,
        "undone": rollback.undone,
        "completed_before": as_text(rollback.completed_before) if rollback.completed_before else None,
    }


def rollback_from(value: Values) -> Rollback:
    return Rollback(
        id=value["id"],
        created_count=value["created_count"],
        pass_number=value["pass_number"],
        status_before=RunStatus(value["status_before"]),
        target=value["target"],
        archived=tuple(value["archived"]),
        stopped=tuple(value["stopped"]),
        triggered_by=RollbackTrigger(value["triggered_by"]),
        undone=value["undone"],
        completed_before=datetime.fromisoformat(before) if (before := value["completed_before"]) else None,
    )


# Executions
def execution_values(e: Execution) -> Values:
    return {
        "key": e.key,
        "checkpoint_position": e.position,
        "pass_number": e.pass_number,
        "ordinal": e.ordinal,
        "definition_revision": e.definition,
        "status": str(STATUS_OF[e.state]),
        "state": str(e.state),
        "waiting_on": e.waiting_on.value if e.waiting_on else None,
        "dispatch_number": e.dispatch,
        "attempt_number": e.attempt,
        "max_attempts": e.policy.max_auto_retries + 1,
        "revision_iteration": e.revision,
        "max_revision_iterations": e.policy.max_revisions,
        "retries_used": e.retries_used,
        "validations_used": e.validations_used,
        "interruptions": e.interruptions,
        "start_approved": e.start_approved,
        "answered": e.answered,
        "answer_checksum": e.answer,
        "manual_start": e.manual_start,
        "requires_new_approval": e.requires_new_approval,
        "digest": e.digest,
        "outputs": list(e.outputs),
        "pass_decision": e.pass_decision.value if e.pass_decision else None,
        "is_rework": e.is_rework,
        "parent_execution_id": e.parent_execution,
        "regression_context": rework_value(e.rework, e.parent_execution) if e.rework else None,
        "pending_rework": pending_rework_value(e.pending_rework) if e.pending_rework else None,
        "has_actions": e.has_actions,
        "archived_by": e.archived_by,
        "has_workspace": e.has_workspace,
        "error_count": e.errors,
        "last_error": failure_value(e.last_error) if e.last_error else None,
        "created_at": e.created_at,
        "started_at": e.started_at,
        "completed_at": e.completed_at,
        "failed_at": e.failed_at,
        "due_at": e.due_at,
        "active_since": e.active_since,
        "active_seconds": e.active_seconds,
    }


def execution_from(row: Row, policy: CheckpointPolicy) -> Execution:
    return Execution(
        id=row.execution_id,
        key=row.key,
        position=row.checkpoint_position,
        pass_number=row.pass_number,
        ordinal=row.ordinal,
        policy=policy,
        definition=row.definition_revision,
        state=ExecutionState(row.state),
        waiting_on=WaitingOn(row.waiting_on) if row.waiting_on else None,
        dispatch=row.dispatch_number,
        attempt=row.attempt_number,
        revision=row.revision_iteration,
        retries_used=row.retries_used,
        validations_used=row.validations_used,
        interruptions=row.interruptions,
        start_approved=row.start_approved,
        answered=row.answered,
        answer=row.answer_checksum,
        manual_start=row.manual_start,
        requires_new_approval=row.requires_new_approval,
        digest=row.digest,
        outputs=tuple(row.outputs),
        pass_decision=PassDecision(row.pass_decision) if row.pass_decision else None,
        rework=rework_from(row.regression_context) if row.is_rework else None,
        parent_execution=row.parent_execution_id,
        pending_rework=PendingRework(**row.pending_rework) if row.pending_rework else None,
        has_actions=row.has_actions,
        archived_by=row.archived_by,
        has_workspace=row.has_workspace,
        errors=row.error_count,
        last_error=failure_from(row.last_error) if row.last_error else None,
        created_at=row.created_at,
        started_at=row.started_at,
        completed_at=row.completed_at,
        failed_at=row.failed_at,
        due_at=row.due_at,
        active_since=row.active_since,
        active_seconds=row.active_seconds,
    )


def rework_value(rework: Rework, parent_execution: str | None) -> Values:
    """Return the `regression_context` of an execution: why and by whom the work was sent back."""
    return {
        "reason": rework.reason,
        "prompt": rework.prompt,
        "requested_by": rework.requested_by,
        "requested_by_execution_id": parent_execution,
    }


def rework_from(value: Values) -> Rework:
    return Rework(value["requested_by"], value.get("prompt", ""), value["reason"])


def pending_rework_value(request: PendingRework) -> Values:
    return {"key": request.key, "prompt": request.prompt, "reason": request.reason}


def failure_value(failure: Failure) -> Values:
    return {"error_type": failure.type, "error_message": failure.message, "stack_trace": failure.trace}


def failure_from(value: Values) -> Failure:
    return Failure(value["error_type"], value["error_message"], value["stack_trace"])


def execution_row(connection: sa.Connection, execution_id: str) -> Row:
    e = checkpoint_executions
    row = connection.execute(sa.select(e).where(e.c.execution_id == execution_id)).one_or_none()
    if row is None:
        raise NotFound("execution", execution_id)
    return row
