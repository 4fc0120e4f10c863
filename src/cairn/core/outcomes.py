"""How an execution, or the run, comes to an end, well or not."""

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


# ---- well ----------------------------------------------------------------------------------------
def conclude(d: Draft, e: Execution, ruling: PassDecision | None) -> None:
    """The result is there. One of a deciding checkpoint may want people, or the next pass once it is complete."""
    why = "The checkpoint decided that people have to."
    if d.run.plan[e.key].decides:
        ruling, limit = _within_limits(d, ruling or PassDecision.COMPLETE)
        why = limit or why
        e = d.update(e.replace(pass_decision=ruling))
        if limit:
            d.record(EventType.PASS_DECISION_OVERRIDDEN, e, checkpoint=e.key, decision=ruling.value, reason=limit)
    if e.pass_decision is PassDecision.ESCALATE:
        escalate(d, e, why)
    else:
        to_completion(d, e)


def _within_limits(d: Draft, ruling: PassDecision) -> tuple[PassDecision, str]:
    """What counts for a decision, and why where that is not the decision itself."""
    plan, why = d.run.plan, ""
    if ruling is PassDecision.COMPLETE and plan.require_second_pass and d.run.pass_number == 1:
        ruling, why = PassDecision.RESTART, "A second pass is required."
    if ruling is PassDecision.RESTART and d.run.restart_count >= plan.max_restarts:
        ruling, why = (
            PassDecision.ESCALATE,
            f"It has been restarted {d.run.restart_count} times, and no more is allowed.",
        )
    return ruling, why


def to_completion(d: Draft, e: Execution) -> None:
    """Complete it, or ask first where that is wanted and has not been answered for the same content."""
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


# ---- not well ------------------------------------------------------------------------------------
def retry_or_fail(d: Draft, e: Execution, error: Failure) -> None:
    """Try again later while the budget lasts, unless that cannot help."""
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
    """It has failed for good: do what its `on_failure` or `on_timeout` says."""
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


def fail_run(d: Draft, why: str) -> None:
    d.cancel_open("the run failed")
    d.move_run(RunTransition.FAIL, why)
