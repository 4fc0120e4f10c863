"""How an execution completes, fails or is retried, and how a run fails."""

from __future__ import annotations

from datetime import timedelta
from typing import assert_never

from cairn.core import approval_requests, rework
from cairn.core.commands import RetryDue
from cairn.core.draft import Draft
from cairn.core.effects import ScheduleTimer
from cairn.core.events import EventType
from cairn.core.execution import Execution, Failure
from cairn.core.rollback import roll_back_failed
from cairn.core.states import ApprovalKind, OnFailure, PassDecision, RunStatus, WaitingOn
from cairn.core.transitions import ExecutionTransition, RunTransition


def accept_result(d: Draft, e: Execution, pass_decision: PassDecision | None) -> None:
    """Complete the execution or request approval. A deciding checkpoint can escalate instead."""
    reason = "The checkpoint decided ESCALATE."
    if d.run.plan[e.key].decides:
        pass_decision, limit = _within_limits(d, pass_decision or PassDecision.COMPLETE)
        reason = limit or reason
        e = d.update(e.replace(pass_decision=pass_decision))
        if limit:
            d.record(
                EventType.PASS_DECISION_OVERRIDDEN, e, checkpoint=e.key, decision=pass_decision.value, reason=limit
            )
    if e.pass_decision is PassDecision.ESCALATE:
        escalate(d, e, reason)
    else:
        _complete_or_request_approval(d, e)


def _within_limits(d: Draft, decision: PassDecision) -> tuple[PassDecision, str]:
    """The decision that applies, and the reason if a limit overrides the checkpoint's decision."""
    plan, limit = d.run.plan, ""
    if decision is PassDecision.COMPLETE and plan.require_second_pass and d.run.pass_number == 1:
        decision, limit = PassDecision.RESTART, "A second pass is required."
    if decision is PassDecision.RESTART and d.run.restart_count >= plan.max_restarts:
        decision = PassDecision.ESCALATE
        limit = f"The run has reached its limit of restarts ({plan.max_restarts})."
    return decision, limit


def _complete_or_request_approval(d: Draft, e: Execution) -> None:
    digest = e.digest or ""
    verdict = approval_requests.required_verdict(
        d, e, ApprovalKind.COMPLETION, digest, flag=e.policy.requires_completion_approval
    )
    if verdict is None:
        complete(d, e)
    else:
        e = d.move(e, ExecutionTransition.REQUEST_COMPLETION_APPROVAL)
        d.stage(e)
        approval_requests.request(d, e, ApprovalKind.COMPLETION, digest, verdict)


def complete(d: Draft, e: Execution) -> None:
    rework.notify_requester(d, d.complete(e), "completed")


def escalate(d: Draft, e: Execution, reason: str) -> None:
    e = d.move(e, ExecutionTransition.WAIT, reason, waiting_on=WaitingOn.ESCALATION)
    d.stage(e)
    approval_requests.request_input(d, e, ApprovalKind.ESCALATION, e.digest or "", reason)


def retry_or_fail(d: Draft, e: Execution, error: Failure) -> None:
    """Retry after a delay while retries are left, unless a retry can't help."""
    policy = e.policy
    if error.is_final or e.retries_used >= policy.max_auto_retries:
        fail_for_good(d, e, policy.on_failure, error)
        return
    d.record(EventType.EXECUTION_RETRIED, e, checkpoint=e.key, attempt_number=e.attempt + 1, **error.event_fields)
    e = d.move(
        e,
        ExecutionTransition.WAIT,
        waiting_on=WaitingOn.RETRY_DELAY,
        due_at=d.context.at + timedelta(seconds=policy.retry_delay),
        attempt=e.attempt + 1,
        retries_used=e.retries_used + 1,
        interruptions=0,
        active_seconds=0.0,
        errors=e.errors + 1,
        last_error=error,
    )
    d.effects.append(ScheduleTimer(policy.retry_delay, RetryDue(e.id, e.dispatch)))


def fail(d: Draft, e: Execution, error: Failure) -> Execution:
    d.withdraw(e, error.message)
    d.discard_workspace(d.move(e, ExecutionTransition.FAIL, errors=e.errors + 1, last_error=error))
    return d.run.executions[e.id]


def fail_for_good(d: Draft, e: Execution, policy: OnFailure, error: Failure) -> None:
    """Fail without a retry, then apply `on_failure` or `on_timeout`."""
    e = fail(d, e, error)
    match policy:
        case OnFailure.FAIL_RUN:
            fail_run(d, f"{e.key} failed")
        case OnFailure.ROLLBACK_CHECKPOINT:
            roll_back_failed(d, e)
            d.create(
                e.key,
                manual_start=True,
                rework=e.rework,
                parent_execution=e.parent_execution,
                requires_new_approval=e.requires_new_approval,
            )
        case OnFailure.PAUSE_PIPELINE:
            if d.run.status is RunStatus.IN_PROGRESS:
                d.request_pause(f"{e.key} failed")
        case _:
            assert_never(policy)


def fail_run(d: Draft, reason: str) -> None:
    d.cancel_open("the run failed")
    d.move_run(RunTransition.FAIL, reason)
