"""How an execution, or the run, comes to an end, well or not."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from cairn.core import rework
from cairn.core.draft import Draft
from cairn.core.messages import EventType, RetryDue, SendLater, Stage
from cairn.core.model import (
    AGREED,
    Approval,
    Execution,
    Fault,
    Kind,
    OnFailure,
    RollbackTrigger,
    Run,
    RunStatus,
    State,
    WaitingOn,
)
from cairn.core.moves import RunVerb, Verb
from cairn.core.rollback import take_away


def to_completion(d: Draft, e: Execution) -> None:
    """Complete it, or ask first where that is wanted and has not been answered for the same content."""
    if not e.policy.ask_completion:
        complete(d, e)
    elif earlier := approved_already(d.run, e):
        d.tell(EventType.APPROVAL_KEPT, approval=earlier, digest=earlier.digest, kept_for=e.id)
        complete(d, e)
    else:
        e = d.move(e, Verb.ASK_COMPLETION)
        d.effects.append(Stage(e.id))
        d.ask(e, Kind.COMPLETION, e.digest or "")


def complete(d: Draft, e: Execution) -> None:
    rework.tell_asker(d, d.complete(e), "completed")


def approved_already(run: Run, e: Execution) -> Approval | None:
    """An approval of equal content, in the same run, pass and checkpoint (H3a, D25)."""
    if e.asks_anew:
        return None
    for approval in run.approvals.values():
        of = run.executions[approval.execution]
        same_place = of.key == e.key and of.pass_number == e.pass_number
        if (
            same_place
            and approval.kind is Kind.COMPLETION
            and approval.status in AGREED
            and approval.digest == e.digest
        ):
            return approval
    return None


def fault(d: Draft, e: Execution, error: Fault) -> None:
    """Try again later while the budget lasts (X4)."""
    e = d.put(replace(e, errors=e.errors + 1, last_error=error))
    policy = e.policy
    if e.retries_used >= policy.max_auto_retries:
        give_up(d, e, policy.on_failure)
        return
    due = d.given.at + timedelta(seconds=policy.retry_delay)
    d.tell(
        EventType.EXECUTION_RETRIED, execution=e, checkpoint=e.key, attempt_number=e.attempt + 1, error=error.message
    )
    retry = {"attempt": e.attempt + 1, "retries_used": e.retries_used + 1, "worked": 0.0, "due_at": due}
    e = d.move(e, Verb.WAIT, waiting_on=WaitingOn.RETRY_DELAY, **retry)
    d.effects.append(SendLater(policy.retry_delay, RetryDue(e.id, e.dispatch)))


def fail(d: Draft, e: Execution, error: Fault | None = None) -> Execution:
    e = d.run.executions[e.id]
    if error is not None:
        e = d.put(replace(e, errors=e.errors + 1, last_error=error))
    d.stop(e)
    d.withdraw(e)
    e = d.move(e, Verb.FAIL)
    d.set_aside(e)
    return d.run.executions[e.id]


def give_up(d: Draft, e: Execution, policy: OnFailure, error: Fault | None = None) -> None:
    """It has failed for good: do what its `on_failure` or `on_timeout` says."""
    e = fail(d, e, error)
    match policy:
        case OnFailure.FAIL_RUN:
            fail_run(d)
        case OnFailure.ROLLBACK_CHECKPOINT:
            below = [o.position for o in d.run.current if o.state is State.COMPLETED and o.position < e.position]
            take_away(d, d.new_id(), max(below, default=-1), (e,), RollbackTrigger.CHECKPOINT_FAILURE)
            d.make(e.key, by_hand=True, is_rework=e.is_rework, asked_by=e.asked_by, asks_anew=e.asks_anew)
        case OnFailure.PAUSE_PIPELINE:
            if d.run.status is RunStatus.IN_PROGRESS:
                request_pause(d, "a checkpoint failed")


def request_pause(d: Draft, why: str = "") -> None:
    if not d.run.pause_requested:
        d.run = replace(d.run, pause_requested=True)
        d.tell(EventType.PAUSE_REQUESTED, reason=why)


def fail_run(d: Draft) -> None:
    cancel_open(d, "the run failed")
    d.move_run(RunVerb.FAIL, pause_requested=False)


def cancel_open(d: Draft, why: str) -> None:
    for e in d.run.open:
        d.cancel(e, why)


def escalate(d: Draft, e: Execution, reason: str) -> None:
    e = d.move(e, Verb.WAIT, waiting_on=WaitingOn.ESCALATION)
    if e.outputs:
        d.effects.append(Stage(e.id))
    d.ask(e, Kind.ESCALATION, e.digest or "", reason)
