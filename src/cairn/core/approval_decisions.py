"""What each answer to an approval does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cairn.core import rework, transitions
from cairn.core.approval import AGREEING, Approval, Vote
from cairn.core.commands import Decide, HandOver
from cairn.core.draft import Draft
from cairn.core.errors import NotAllowed, Refused, Stale
from cairn.core.events import EventType
from cairn.core.execution import Execution, Fault, Rework
from cairn.core.outcomes import complete, conclude, fail, fail_run, give_up
from cairn.core.reports import validate_again
from cairn.core.states import ApprovalStatus, Kind, Ruling, WaitingOn
from cairn.core.transitions import Verb


def answer(d: Draft, c: Decide) -> None:
    a = check(d, c)
    a = _vote(d, a, c)
    if c.decision in AGREEING and len(a.agreeing) < a.needed:
        given, needed = len(a.agreeing), a.needed
        d.tell(
            EventType.APPROVAL_GIVEN,
            a,
            kind=a.kind.value,
            decision=c.decision,
            digest=a.digest,
            feedback=c.feedback,
            given=given,
            needed=needed,
        )
        return
    status = transitions.DECISIONS[a.kind][c.decision]
    if status is ApprovalStatus.APPROVED and d.given.by.startswith("rule:"):
        status = ApprovalStatus.AUTO_APPROVED
    d.close(a, status, decision=c.decision, digest=a.digest, feedback=c.feedback)
    e = d.run.executions[a.execution]
    given_last = next((vote.answer for vote in reversed(a.counted) if vote.answer is not None), None)
    if given_last is not None:
        e = d.put(e.changed(answer=given_last))
    ANSWERS[a.kind, c.decision](d, e, c)


def check(d: Draft, c: Decide) -> Approval:
    """The approval that is to be answered; refused where this answer is not possible."""
    a = d.run.approvals.get(c.approval)
    if a is None:
        raise Refused("This run has no such approval.")
    if a.status is not ApprovalStatus.PENDING:
        raise Refused(f"It is not asked any more: the approval is {a.status.value}{_by_whom(a)}.")
    _check_may(d, a)
    possible = tuple(transitions.DECISIONS[a.kind])
    if c.decision not in possible:
        raise Refused(f"'{c.decision}' does not answer an approval of kind {a.kind.value}.", possible)
    if c.digest is not None and c.digest != a.digest:
        raise Stale("What you looked at has changed since: look again, then decide.", possible)
    if c.decision == "modify" and c.modified in (None, a.digest):
        raise Refused("This modification changes nothing: approve instead.", possible)
    if c.decision in AGREEING and c.decision != "modify" and d.given.by in a.agreeing:
        raise Refused("You have approved this already; another person has to.")
    return a


def _check_may(d: Draft, a: Approval) -> None:
    """Those whom it is put to decide; and where the rule says so, nobody decides about a run of their own (H3, D29)."""
    given = d.given
    if a.terms.not_by_starter and given.by == given.starter:
        raise NotAllowed("You have started this run: somebody else has to decide.")
    asked_of = {name.casefold() for name in a.asked_of}
    if asked_of and given.counts_as is not None and asked_of.isdisjoint(given.counts_as):
        raise NotAllowed(f"This is put to {', '.join(a.asked_of)}: one of them has to decide.", ("hand it over",))


def hand_over(d: Draft, c: HandOver) -> None:
    """Who may decide lets others decide instead."""
    a = d.run.approvals.get(c.approval)
    if a is None:
        raise Refused("This run has no such approval.")
    if a.status is not ApprovalStatus.PENDING:
        raise Refused(f"It is not asked any more: the approval is {a.status.value}{_by_whom(a)}.")
    _check_may(d, a)
    if not c.to or c.to == a.asked_of:
        raise Refused("Name whom it is to be handed over to.")
    before = a.asked_of
    a = d.put_approval(a.changed(asked_of=c.to))
    told: dict[str, Any] = {"from": list(before), "to": list(c.to), "reason": c.reason}
    d.tell(EventType.APPROVAL_ASSIGNED, a, kind=a.kind.value, **told)


def _by_whom(a: Approval) -> str:
    by_nobody = a.status in (ApprovalStatus.WITHDRAWN, ApprovalStatus.TIMEOUT)
    return "" if by_nobody else f" by {a.votes[-1].by}"


def _vote(d: Draft, a: Approval, c: Decide) -> Approval:
    """A modification binds to what it has made of the content (D26)."""
    digest = (c.modified or a.digest) if c.decision == "modify" else a.digest
    vote = Vote(d.given.by, d.given.at, c.decision, c.feedback, digest, c.answer)
    return d.put_approval(a.changed(digest=digest, votes=(*a.votes, vote)))


def _start(d: Draft, e: Execution, _: Decide) -> None:
    d.go(e, start_approved=True)


def _refuse(d: Draft, e: Execution, c: Decide) -> None:
    if e.is_rework:
        rework.cancel_with_reworks(d, e, "the start was refused")
        rework.tell_asker(d, e, "refused", c.feedback)
    else:
        d.move(e, Verb.REFUSE, c.feedback)


def _approve(d: Draft, e: Execution, _: Decide) -> None:
    complete(d, e)


def _go_on(d: Draft, e: Execution, _: Decide) -> None:
    d.go(e)


def _revise(d: Draft, e: Execution, c: Decide) -> None:
    limit = e.policy.max_revisions
    if e.revision >= limit:
        error = Fault("revisions_used_up", f"More than {limit} revisions were asked for. The last: {c.feedback}")
        give_up(d, e, e.policy.on_failure, error)
        return
    revision = e.revision + 1
    d.tell(EventType.EXECUTION_REVISED, e, checkpoint=e.key, revision_iteration=revision, feedback=c.feedback)
    d.go(e, revision=revision, retries_used=0, validations_used=0, interruptions=0, worked=0.0, answered=False)


def _reject(d: Draft, e: Execution, c: Decide) -> None:
    why = f"Rejected by {d.given.by}. {c.feedback}".strip()
    fail(d, e, Fault("rejected", why))
    fail_run(d, why)


def _accept_invalid(d: Draft, e: Execution, _: Decide) -> None:
    conclude(d, e, None)


def _validate_again(d: Draft, e: Execution, c: Decide) -> None:
    validate_again(d, e, c.feedback)


def _escalation_retry(d: Draft, e: Execution, c: Decide) -> None:
    """Grant the rework that it wants, or let it try again with new budgets; an action in doubt is carried out again."""
    if e.doubts:
        d.go(e, doubts=False)
        return
    if e.wants is not None:
        wish = e.wants
        rework.check(d.run, wish.key, e)
        asker = d.move(e, Verb.WAIT, waiting_on=WaitingOn.REWORK, wants=None)
        rework.send_back(d, wish.key, asker, Rework(e.key, wish.prompt, wish.reason or c.feedback))
        return
    d.tell(EventType.EXECUTION_RETRIED, e, checkpoint=e.key, attempt_number=e.attempt + 1)
    attempt = e.attempt + 1
    d.go(e, attempt=attempt, retries_used=0, validations_used=0, interruptions=0, worked=0.0, answered=False)


def _escalation_restart(d: Draft, e: Execution, _: Decide) -> None:
    """The next pass begins when the run goes on (D54). A decision that was asked about is complete with that (D61)."""
    if e.ruling is not None:
        complete(d, d.put(e.changed(ruling=Ruling.RESTART)))
    else:
        d.go(e, ruling=Ruling.RESTART)


def _escalation_accept(d: Draft, e: Execution, c: Decide) -> None:
    plan, instead = d.run.plan, ("retry", "restart", "fail")
    decides = plan[e.key].decides
    if e.doubts:
        d.go(e, doubts=False)  # it was carried out
    elif e.wants is not None:
        rework.refuse(d, d.put(e.changed(wants=None)), e.wants.key, c.feedback)
    elif e.digest is None:
        raise Refused("There is no result to accept.", instead)
    elif decides and plan.require_second_pass and d.run.pass_number == 1:
        raise Refused("A second pass is required: a first pass cannot be accepted as complete.", instead)
    else:
        complete(d, d.put(e.changed(ruling=Ruling.COMPLETE if decides else None)))


def _escalation_fail(d: Draft, e: Execution, c: Decide) -> None:
    why = f"Given up by {d.given.by} after an escalation. {c.feedback}".strip()
    give_up(d, e, e.policy.on_failure, Fault("escalation", why))


def _answer(d: Draft, e: Execution, _: Decide) -> None:
    d.go(e, answered=True)


def _decline(d: Draft, e: Execution, c: Decide) -> None:
    if e.waiting_on is WaitingOn.QUESTION:
        d.go(e)
    else:
        why = f"Declined by {d.given.by}. {c.feedback}".strip()
        give_up(d, e, e.policy.on_failure, Fault("declined", why))


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
