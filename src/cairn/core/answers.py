"""What each answer to an approval does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cairn.core import moves, rework
from cairn.core.draft import Draft
from cairn.core.errors import Refused, Stale
from cairn.core.messages import Decide, EventType
from cairn.core.model import Approval, ApprovalStatus, Execution, Fault, Kind, Ruling, Vote, WaitingOn
from cairn.core.moves import RunVerb, Verb
from cairn.core.outcomes import complete, fail, fail_run, give_up, to_completion
from cairn.core.reports import validate_again
from cairn.core.settle import begin_pass

COUNTED = frozenset({"approve", "modify"})


def decide_approval(d: Draft, c: Decide) -> None:
    a = d.run.approvals.get(c.approval)
    if a is None:
        raise Refused("This run has no such approval.")
    if a.status is not ApprovalStatus.PENDING:
        raise Refused(f"It is not asked any more: the approval is {a.status.value}{_by_whom(a)}.")
    status = moves.DECISIONS[a.kind].get(c.decision)
    if status is None:
        possible = tuple(moves.DECISIONS[a.kind])
        raise Refused(f"'{c.decision}' does not answer an approval of kind {a.kind.value}.", possible)
    if c.digest is not None and c.digest != a.digest:
        raise Stale("What you looked at has changed since: look again, then decide.", tuple(moves.DECISIONS[a.kind]))
    if c.decision in COUNTED and c.decision != "modify" and d.given.by in a.agreeing:
        raise Refused("You have approved this already; another person has to.")
    a = _vote(d, a, c)
    if c.decision in COUNTED and len(a.agreeing) < a.needed:
        d.tell(EventType.APPROVAL_GIVEN, approval=a, given=len(a.agreeing), needed=a.needed, feedback=c.feedback)
        return
    if status is ApprovalStatus.APPROVED and d.given.by.startswith("rule:"):
        status = ApprovalStatus.AUTO_APPROVED
    d.close(a, status, decision=c.decision, digest=a.digest, feedback=c.feedback)
    e = d.run.executions[a.execution]
    if c.answer is not None:
        e = d.put(replace(e, answer=c.answer))
    ANSWERS[a.kind, c.decision](d, e, c)


def _by_whom(a: Approval) -> str:
    return f" by {a.votes[-1].by}" if a.votes and a.status is not ApprovalStatus.WITHDRAWN else ""


def _vote(d: Draft, a: Approval, c: Decide) -> Approval:
    """A modification restarts the count: it binds to what it changed the content to (D26)."""
    digest = (c.modified or a.digest) if c.decision == "modify" else a.digest
    vote = Vote(d.given.by, d.given.at, c.decision, c.feedback, digest, c.answer)
    a = replace(a, digest=digest, votes=(*a.votes, vote))
    d.put_approval(a)
    return a


def _start(d: Draft, e: Execution, _: Decide) -> None:
    d.go(e, start_approved=True)


def _refuse(d: Draft, e: Execution, _: Decide) -> None:
    if e.is_rework:
        rework.cancel_with_reworks(d, e, "the start was refused")
        rework.tell_asker(d, e, "refused")
    else:
        d.move(e, Verb.REFUSE)


def _approve(d: Draft, e: Execution, _: Decide) -> None:
    complete(d, e)


def _go_on(d: Draft, e: Execution, _: Decide) -> None:
    d.go(e)


def _revise(d: Draft, e: Execution, c: Decide) -> None:
    if e.revision >= e.policy.max_revisions:
        error = Fault(
            "revisions_used_up", f"More than {e.policy.max_revisions} revisions were asked for. The last: {c.feedback}"
        )
        give_up(d, e, e.policy.on_failure, error)
        return
    d.tell(
        EventType.EXECUTION_REVISED,
        execution=e,
        checkpoint=e.key,
        revision_iteration=e.revision + 1,
        feedback=c.feedback,
    )
    d.go(e, revision=e.revision + 1, retries_used=0, validations_used=0, interruptions=0, worked=0.0, answered=False)


def _reject(d: Draft, e: Execution, c: Decide) -> None:
    fail(d, e, Fault("rejected", f"Rejected by {d.given.by}: {c.feedback}"))
    fail_run(d)


def _accept_invalid(d: Draft, e: Execution, _: Decide) -> None:
    to_completion(d, e)


def _validate_again(d: Draft, e: Execution, _: Decide) -> None:
    validate_again(d, e)


def _escalation_retry(d: Draft, e: Execution, _: Decide) -> None:
    if e.wants is None:
        d.go(e, attempt=e.attempt + 1, retries_used=0, worked=0.0)
        return
    rework.check(d.run, e.wants, e)
    key = e.wants
    e = d.move(d.put(replace(e, wants=None)), Verb.WAIT, waiting_on=WaitingOn.REWORK)
    rework.send_back(d, key, e, "granted after an escalation")


def _escalation_restart(d: Draft, _: Execution, c: Decide) -> None:
    d.move_run(RunVerb.RESTART, pause_requested=False)
    begin_pass(d, c.feedback or "people decided to restart")


def _escalation_accept(d: Draft, e: Execution, _: Decide) -> None:
    if e.wants is not None:
        d.go(e, wants=None)
    elif e.digest is None:
        raise Refused("There is no result to accept.", ("retry", "restart", "fail"))
    elif d.run.plan[e.key].decides and d.run.plan.require_second_pass and d.run.pass_number == 1:
        raise Refused(
            "A second pass is required: a first pass cannot be accepted as complete.", ("retry", "restart", "fail")
        )
    else:
        complete(d, d.put(replace(e, ruling=Ruling.COMPLETE if e.ruling else None)))


def _escalation_fail(d: Draft, e: Execution, c: Decide) -> None:
    give_up(
        d,
        e,
        e.policy.on_failure,
        Fault("escalation", f"Given up by {d.given.by} after an escalation. {c.feedback}".strip()),
    )


def _answer(d: Draft, e: Execution, _: Decide) -> None:
    d.go(e, answered=True)


def _decline(d: Draft, e: Execution, c: Decide) -> None:
    if e.waiting_on is WaitingOn.QUESTION:
        d.go(e)
    else:
        give_up(d, e, e.policy.on_failure, Fault("declined", f"Declined by {d.given.by}. {c.feedback}".strip()))


ANSWERS: dict[tuple[Kind, str], Callable[[Draft, Execution, Decide], None]] = {
    (Kind.START, "approve"): _start,
    (Kind.START, "refuse"): _refuse,
    (Kind.COMPLETION, "approve"): _approve,
    (Kind.COMPLETION, "revise"): _revise,
    (Kind.COMPLETION, "reject"): _reject,
    (Kind.ACTION, "approve"): _go_on,
    (Kind.ACTION, "modify"): _go_on,
    (Kind.ACTION, "revise"): _revise,
    (Kind.ACTION, "reject"): _reject,
    (Kind.VALIDATION, "accept"): _accept_invalid,
    (Kind.VALIDATION, "feedback"): _validate_again,
    (Kind.VALIDATION, "reject"): _reject,
    (Kind.ESCALATION, "retry"): _escalation_retry,
    (Kind.ESCALATION, "restart"): _escalation_restart,
    (Kind.ESCALATION, "accept"): _escalation_accept,
    (Kind.ESCALATION, "fail"): _escalation_fail,
    (Kind.INPUT, "answer"): _answer,
    (Kind.INPUT, "decline"): _decline,
}
