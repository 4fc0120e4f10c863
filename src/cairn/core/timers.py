"""Commands of timers. Timers are never cancelled. A command that is no longer needed is a StaleCommand."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, assert_never

from cairn.core.approval import Approval
from cairn.core.commands import (
    ApprovalExpired,
    EscalationDue,
    ExecutionTimedOut,
    ReminderDue,
    RetryDue,
    RunTimedOut,
    Timer,
)
from cairn.core.draft import Draft
from cairn.core.effects import ScheduleTimer
from cairn.core.errors import StaleCommand
from cairn.core.events import EventType
from cairn.core.execution import Execution, Failure
from cairn.core.outcomes import fail, fail_for_good, fail_run
from cairn.core.reports import current_execution, working_execution
from cairn.core.states import ApprovalStatus, ExecutionState, OnExpiry, WaitingOn
from cairn.core.transitions import RunTransition

DELAYED = frozenset({WaitingOn.RETRY_DELAY, WaitingOn.EXTERNAL_BLOCKER})


def apply(d: Draft, timer: Timer) -> None:
    match timer:
        case RetryDue():
            _retry_due(d, timer)
        case ExecutionTimedOut():
            _timed_out(d, working_execution(d, timer))
        case ApprovalExpired():
            _approval_expired(d, timer)
        case EscalationDue():
            _escalation_due(d, timer)
        case ReminderDue():
            _remind(d, timer)
        case RunTimedOut():
            _run_timed_out(d, timer)
        case _:
            assert_never(timer)


def _retry_due(d: Draft, c: RetryDue) -> None:
    e = current_execution(d, c.execution)
    if e.waiting_on not in DELAYED or e.dispatch != c.dispatch:
        raise StaleCommand("The execution no longer waits for this timer.")
    d.make_ready(e)


def _timed_out(d: Draft, e: Execution) -> None:
    d.stop(e)
    limit = e.policy.timeout or 0.0
    fail_for_good(
        d, e, e.policy.on_timeout, Failure("timeout", f"The execution exceeded its timeout of {limit:g} seconds.")
    )


def _run_timed_out(d: Draft, c: RunTimedOut) -> None:
    """Fail working executions, cancel the other open ones and fail the run."""
    if c.timer_generation != d.run.timer_generation or d.run.active_since is None:
        raise StaleCommand("The timer belongs to an earlier period of work.")
    reason = f"The run exceeded its timeout of {d.run.plan.run_timeout or 0.0:g} seconds of work."
    for e in d.run.open:
        if e.state is ExecutionState.WORKING:
            d.stop(e)
            fail(d, e, Failure("run_timeout", reason))
    fail_run(d, reason)


def _approval_expired(d: Draft, c: ApprovalExpired) -> None:
    a = _pending(d, c.approval, c.period)
    e, terms = d.run.executions[a.execution], a.terms
    period = terms.timeout or 0.0
    if terms.on_expiry is OnExpiry.ESCALATE and a.period == 1:
        _extend(d, a, period)
        return
    if not a.escalated and terms.escalate_after is not None and terms.escalate_after <= period:
        a = _escalate_approval(d, a)  # this timer was due earlier, but the server was not running
    match terms.on_expiry:
        case OnExpiry.CANCEL:
            d.close(a, ApprovalStatus.TIMEOUT)
            d.cancel_open("no decision in time")
            d.move_run(RunTransition.CANCEL, "no decision in time")
        case OnExpiry.FAIL | OnExpiry.ESCALATE:
            d.close(a, ApprovalStatus.TIMEOUT)
            fail(d, e, Failure("approval_timeout", "No decision was made in time."))
            fail_run(d, "no decision in time")
        case _:
            assert_never(terms.on_expiry)


def _pending(d: Draft, approval: str, period: int | None = None) -> Approval:
    a = d.run.approvals.get(approval)
    if a is None or a.status is not ApprovalStatus.PENDING or period not in (None, a.period):
        raise StaleCommand("The approval has been decided, withdrawn or extended.")
    return a


def _extend(d: Draft, a: Approval, period: float) -> None:
    """Add approvers and one more period."""
    a = _escalate_approval(d, a.replace(period=2, expires_at=d.context.at + timedelta(seconds=period)))
    d.effects.append(ScheduleTimer(period, ApprovalExpired(a.id, 2)))


def _remind(d: Draft, c: ReminderDue) -> None:
    a = _pending(d, c.approval, c.period)
    if a.reminded_period >= a.period:
        raise StaleCommand("People have already been reminded.")
    a = d.update_approval(a.replace(reminded_period=a.period))
    d.record(EventType.APPROVAL_REMINDER_DUE, a, kind=a.kind.value, expires_at=_text(a.expires_at))


def _escalation_due(d: Draft, c: EscalationDue) -> None:
    a = _pending(d, c.approval)
    if a.escalated:
        raise StaleCommand("The approval has already been escalated.")
    _escalate_approval(d, a)


def _escalate_approval(d: Draft, a: Approval) -> Approval:
    """Let the people of `escalate_to` decide too."""
    assigned_to = tuple(dict.fromkeys((*a.assigned_to, *a.terms.escalate_to))) if a.assigned_to else ()
    a = d.update_approval(a.replace(assigned_to=assigned_to, escalated=True))
    detail: dict[str, Any] = {"to": list(a.terms.escalate_to), "period": a.period, "expires_at": _text(a.expires_at)}
    d.record(EventType.APPROVAL_ESCALATED, a, kind=a.kind.value, **detail)
    return a


def _text(at: datetime | None) -> str | None:
    return at.isoformat() if at is not None else None
