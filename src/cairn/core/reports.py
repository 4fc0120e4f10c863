"""What runners and timers report. A late one changes nothing: `Stale`."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from cairn.core import messages as m
from cairn.core import rework
from cairn.core.draft import Draft
from cairn.core.errors import Stale
from cairn.core.model import (
    ApprovalStatus,
    Execution,
    Fault,
    Kind,
    OnBlocker,
    OnExpiry,
    OnInvalid,
    Ruling,
    RunStatus,
    State,
    WaitingOn,
)
from cairn.core.moves import RunVerb, Verb
from cairn.core.outcomes import cancel_open, escalate, fail, fail_run, fault, give_up, to_completion

DELAYED = frozenset({WaitingOn.RETRY_DELAY, WaitingOn.EXTERNAL_BLOCKER})


def current(d: Draft, id: str) -> Execution:
    e = d.run.executions.get(id)
    if e is None or e.pass_number != d.run.pass_number or e.archived_by is not None:
        raise Stale("The execution is not of this pass any more, or it is archived.")
    return e


def working(d: Draft, report: m.Report | m.TimedOut) -> Execution:
    """The fence: only the runner that holds the current dispatch may report (D50)."""
    e = current(d, report.execution)
    if e.state is not State.WORKING or e.dispatch != report.dispatch:
        raise Stale("That dispatch is over.")
    return e


# ---- runners -------------------------------------------------------------------------------------
def finished(d: Draft, c: m.Finished) -> None:
    e, plan = working(d, c), d.run.plan
    ruling = (c.ruling or Ruling.COMPLETE) if plan[e.key].decides else None
    if ruling is Ruling.COMPLETE and plan.require_second_pass and d.run.pass_number == 1:
        ruling = Ruling.RESTART
    if ruling is Ruling.RESTART and d.run.restart_count >= plan.max_restarts:
        ruling = Ruling.ESCALATE
    e = d.produce(e, c.digest, c.outputs, ruling=ruling)
    if ruling is Ruling.ESCALATE:
        escalate(d, e, "decided")
    else:
        to_completion(d, e)


def failed(d: Draft, c: m.Failed) -> None:
    fault(d, working(d, c), c.error)


def invalid(d: Draft, c: m.Invalid) -> None:
    e = d.produce(working(d, c), c.digest, c.outputs)
    policy = e.policy
    if policy.on_invalid is OnInvalid.FAIL_CHECKPOINT or e.validations_used >= policy.max_validation_retries:
        give_up(d, e, policy.on_failure, c.error)
        return
    e = d.put(replace(e, errors=e.errors + 1, last_error=c.error))
    if policy.on_invalid is OnInvalid.ASK_HUMAN:
        e = d.move(e, Verb.WAIT, waiting_on=WaitingOn.VALIDATION_FEEDBACK)
        d.effects.append(m.Stage(e.id))
        d.ask(e, Kind.VALIDATION, c.digest, c.error.message)
    else:
        validate_again(d, e)


def validate_again(d: Draft, e: Execution) -> None:
    d.tell(m.EventType.EXECUTION_REVALIDATED, execution=e, checkpoint=e.key, attempt_number=e.attempt + 1)
    d.go(e, attempt=e.attempt + 1, validations_used=e.validations_used + 1, worked=0.0, answered=False)


def input_wanted(d: Draft, c: m.InputWanted) -> None:
    e = d.move(working(d, c), Verb.WAIT, waiting_on=c.waiting_on)
    d.ask(e, Kind.INPUT, c.digest)


def action_proposed(d: Draft, c: m.ActionProposed) -> None:
    e = d.move(working(d, c), Verb.WAIT, waiting_on=WaitingOn.ACTION_APPROVAL)
    d.ask(e, Kind.ACTION, c.digest)


def rework_wanted(d: Draft, c: m.ReworkWanted) -> None:
    e = working(d, c)
    rework.check(d.run, c.key, e)
    if rework.over_limit(d.run, e):
        escalate(d, d.put(replace(e, wants=c.key)), "rework_limit")
        return
    e = d.move(e, Verb.WAIT, waiting_on=WaitingOn.REWORK)
    rework.send_back(d, c.key, e, c.reason)


def blocked(d: Draft, c: m.Blocked) -> None:
    e = working(d, c)
    if d.run.plan.on_blocker is OnBlocker.ESCALATE:
        escalate(d, e, c.reason or "blocked")
        return
    delay = e.policy.retry_delay
    due = d.given.at + timedelta(seconds=delay)
    d.move(e, Verb.WAIT, {"reason": c.reason}, waiting_on=WaitingOn.EXTERNAL_BLOCKER, due_at=due)
    d.effects.append(m.SendLater(delay, m.RetryDue(e.id, e.dispatch)))


def limit_reached(d: Draft, c: m.LimitReached) -> None:
    escalate(d, d.produce(working(d, c), c.digest, c.outputs), "limit")


def interrupted(d: Draft, c: m.Interrupted) -> None:
    e = working(d, c)
    if e.interruptions < d.run.plan.max_interruptions:
        d.tell(m.EventType.EXECUTION_INTERRUPTED, execution=e, checkpoint=e.key, dispatch_number=e.dispatch)
        d.go(e, interruptions=e.interruptions + 1)
    else:
        fault(
            d,
            e,
            Fault("interrupted", f"The worker died {e.interruptions + 1} times in a row while it carried this out."),
        )


# ---- timers --------------------------------------------------------------------------------------
def retry_due(d: Draft, c: m.RetryDue) -> None:
    e = current(d, c.execution)
    if e.waiting_on not in DELAYED or e.dispatch != c.dispatch:
        raise Stale("It does not wait for this any more.")
    d.go(e)


def timed_out(d: Draft, c: m.TimedOut) -> None:
    e = working(d, c)
    limit = e.policy.timeout or 0.0
    give_up(d, e, e.policy.on_timeout, Fault("timeout", f"It took longer than the {limit:g} seconds it is allowed."))


def run_timed_out(d: Draft, c: m.RunTimedOut) -> None:
    if c.clock != d.run.clock or d.run.working_since is None or d.run.status is not RunStatus.IN_PROGRESS:
        raise Stale("The run's clock does not go any more.")
    limit = d.run.plan.run_timeout or 0.0
    for e in d.run.open:
        if e.state is State.WORKING:
            fail(d, e, Fault("timeout", f"The run took longer than the {limit:g} seconds of work it is allowed."))
    fail_run(d)


def approval_expired(d: Draft, c: m.ApprovalExpired) -> None:
    a = d.run.approvals.get(c.approval)
    if a is None or a.status is not ApprovalStatus.PENDING or a.period != c.period:
        raise Stale("It has been decided, withdrawn or extended.")
    e = d.run.executions[a.execution]
    policy = e.policy
    if policy.on_expiry is OnExpiry.ESCALATE and a.period == 1 and policy.period is not None:
        expires = d.given.at + timedelta(seconds=policy.period)
        d.put_approval(replace(a, period=2, expires_at=expires))
        d.tell(m.EventType.APPROVAL_ESCALATED, approval=a, kind=a.kind.value)
        d.effects.append(m.SendLater(policy.period, m.ApprovalExpired(a.id, 2)))
        return
    d.close(a, ApprovalStatus.TIMEOUT)
    if policy.on_expiry is OnExpiry.CANCEL:
        cancel_open(d, "nobody decided in time")
        d.move_run(RunVerb.CANCEL, pause_requested=False)
    else:
        fail(d, e, Fault("approval_timeout", "Nobody decided in time."))
        fail_run(d)
