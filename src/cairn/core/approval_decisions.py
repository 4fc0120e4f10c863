"""What each answer to an approval does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cairn.core import rework, transitions
from cairn.core.approval import APPROVING_DECISIONS, Approval, Vote
from cairn.core.commands import AssignApproval, Decide
from cairn.core.draft import Draft
from cairn.core.errors import CommandRefused, NotAllowed, StaleCommand
from cairn.core.events import EventType
from cairn.core.execution import Execution, Failure, Rework
from cairn.core.outcomes import complete, conclude, fail, fail_for_good, fail_run
from cairn.core.reports import validate_again
from cairn.core.states import ApprovalKind, ApprovalStatus, PassDecision, WaitingOn
from cairn.core.transitions import ExecutionTransition


def answer(d: Draft, c: Decide) -> None:
    a = check(d, c)
    a = _vote(d, a, c)
    if c.decision in APPROVING_DECISIONS and len(a.approved_by) < a.required_approvals:
        given, needed = len(a.approved_by), a.required_approvals
        d.record(
            EventType.APPROVAL_VOTE_CAST,
            a,
            kind=a.kind.value,
            decision=c.decision,
            digest=a.digest,
            feedback=c.feedback,
            received_approvals=given,
            required_approvals=needed,
        )
        return
    status = transitions.DECISIONS[a.kind][c.decision]
    if status is ApprovalStatus.APPROVED and d.context.by.startswith("rule:"):
        status = ApprovalStatus.AUTO_APPROVED
    d.close(a, status, decision=c.decision, digest=a.digest, feedback=c.feedback)
    e = d.run.executions[a.execution]
    given_last = next((vote.answer for vote in reversed(a.counted_votes) if vote.answer is not None), None)
    if given_last is not None:
        e = d.update(e.replace(answer=given_last))
    ANSWERS[a.kind, c.decision](d, e, c)


def check(d: Draft, c: Decide) -> Approval:
    """The approval that is to be answered; refused where this answer is not possible."""
    a = d.run.approvals.get(c.approval)
    if a is None:
        raise CommandRefused("This run has no such approval.")
    if a.status is not ApprovalStatus.PENDING:
        raise CommandRefused(f"It is not asked any more: the approval is {a.status.value}{_by_whom(a)}.")
    _check_may(d, a)
    possible = tuple(transitions.DECISIONS[a.kind])
    if c.decision not in possible:
        raise CommandRefused(f"'{c.decision}' does not answer an approval of kind {a.kind.value}.", possible)
    if c.digest is not None and c.digest != a.digest:
        raise StaleCommand("What you looked at has changed since: look again, then decide.", possible)
    if c.decision == "modify" and c.modified_digest in (None, a.digest):
        raise CommandRefused("This modification changes nothing: approve instead.", possible)
    if c.decision in APPROVING_DECISIONS and c.decision != "modify" and d.context.by in a.approved_by:
        raise CommandRefused("You have approved this already; another person has to.")
    return a


def _check_may(d: Draft, a: Approval) -> None:
    """Those whom it is put to decide; and where the rule says so, nobody decides about a run of their own."""
    given = d.context
    if a.terms.not_by_starter and given.by == given.starter:
        raise NotAllowed("You have started this run: somebody else has to decide.")
    asked_of = {name.casefold() for name in a.assigned_to}
    if asked_of and given.identities is not None and asked_of.isdisjoint(given.identities):
        raise NotAllowed(f"This is put to {', '.join(a.assigned_to)}: one of them has to decide.", ("hand it over",))


def hand_over(d: Draft, c: AssignApproval) -> None:
    """Who may decide lets others decide instead."""
    a = d.run.approvals.get(c.approval)
    if a is None:
        raise CommandRefused("This run has no such approval.")
    if a.status is not ApprovalStatus.PENDING:
        raise CommandRefused(f"It is not asked any more: the approval is {a.status.value}{_by_whom(a)}.")
    _check_may(d, a)
    if not c.assigned_to or c.assigned_to == a.assigned_to:
        raise CommandRefused("Name whom it is to be handed over to.")
    before = a.assigned_to
    a = d.update_approval(a.replace(assigned_to=c.assigned_to))
    told: dict[str, Any] = {"from": list(before), "to": list(c.assigned_to), "reason": c.reason}
    d.record(EventType.APPROVAL_ASSIGNED, a, kind=a.kind.value, **told)


def _by_whom(a: Approval) -> str:
    by_nobody = a.status in (ApprovalStatus.WITHDRAWN, ApprovalStatus.TIMEOUT)
    return "" if by_nobody else f" by {a.votes[-1].by}"


def _vote(d: Draft, a: Approval, c: Decide) -> Approval:
    """A modification binds to what it has made of the content."""
    digest = (c.modified_digest or a.digest) if c.decision == "modify" else a.digest
    vote = Vote(d.context.by, d.context.at, c.decision, c.feedback, digest, c.answer)
    return d.update_approval(a.replace(digest=digest, votes=(*a.votes, vote)))


def _start(d: Draft, e: Execution, _: Decide) -> None:
    d.make_ready(e, start_approved=True)


def _refuse(d: Draft, e: Execution, c: Decide) -> None:
    if e.is_rework:
        rework.cancel_with_reworks(d, e, "the start was refused")
        rework.notify_requester(d, e, "refused", c.feedback)
    else:
        d.move(e, ExecutionTransition.REJECT_START, c.feedback)


def _approve(d: Draft, e: Execution, _: Decide) -> None:
    complete(d, e)


def _go_on(d: Draft, e: Execution, _: Decide) -> None:
    d.make_ready(e)


def _revise(d: Draft, e: Execution, c: Decide) -> None:
    limit = e.policy.max_revisions
    if e.revision >= limit:
        error = Failure("revisions_used_up", f"More than {limit} revisions were asked for. The last: {c.feedback}")
        fail_for_good(d, e, e.policy.on_failure, error)
        return
    revision = e.revision + 1
    d.record(EventType.EXECUTION_REVISED, e, checkpoint=e.key, revision_iteration=revision, feedback=c.feedback)
    d.make_ready(
        e, revision=revision, retries_used=0, validations_used=0, interruptions=0, active_seconds=0.0, answered=False
    )


def _reject(d: Draft, e: Execution, c: Decide) -> None:
    why = f"Rejected by {d.context.by}. {c.feedback}".strip()
    fail(d, e, Failure("rejected", why))
    fail_run(d, why)


def _accept_invalid(d: Draft, e: Execution, _: Decide) -> None:
    conclude(d, e, None)


def _validate_again(d: Draft, e: Execution, c: Decide) -> None:
    validate_again(d, e, c.feedback)


def _escalation_retry(d: Draft, e: Execution, c: Decide) -> None:
    """Grant the rework that it wants, or let it try again with new budgets; an action in doubt is carried out again."""
    if e.action_outcome_unknown:
        d.make_ready(e, action_outcome_unknown=False)
        return
    if e.pending_rework is not None:
        wish = e.pending_rework
        rework.check(d.run, wish.key, e)
        asker = d.move(e, ExecutionTransition.WAIT, waiting_on=WaitingOn.REWORK, pending_rework=None)
        rework.create_rework(d, wish.key, asker, Rework(e.key, wish.prompt, wish.reason or c.feedback))
        return
    d.record(EventType.EXECUTION_RETRIED, e, checkpoint=e.key, attempt_number=e.attempt + 1)
    attempt = e.attempt + 1
    d.make_ready(
        e, attempt=attempt, retries_used=0, validations_used=0, interruptions=0, active_seconds=0.0, answered=False
    )


def _escalation_restart(d: Draft, e: Execution, _: Decide) -> None:
    """The next pass begins when the run goes on. A decision that was asked about is complete with that."""
    if e.pass_decision is not None:
        complete(d, d.update(e.replace(pass_decision=PassDecision.RESTART)))
    else:
        d.make_ready(e, pass_decision=PassDecision.RESTART)


def _escalation_accept(d: Draft, e: Execution, c: Decide) -> None:
    plan, instead = d.run.plan, ("retry", "restart", "fail")
    decides = plan[e.key].decides
    if e.action_outcome_unknown:
        d.make_ready(e, action_outcome_unknown=False)  # it was carried out
    elif e.pending_rework is not None:
        rework.refuse(d, d.update(e.replace(pending_rework=None)), e.pending_rework.key, c.feedback)
    elif e.digest is None:
        raise CommandRefused("There is no result to accept.", instead)
    elif decides and plan.require_second_pass and d.run.pass_number == 1:
        raise CommandRefused("A second pass is required: a first pass cannot be accepted as complete.", instead)
    else:
        complete(d, d.update(e.replace(pass_decision=PassDecision.COMPLETE if decides else None)))


def _escalation_fail(d: Draft, e: Execution, c: Decide) -> None:
    why = f"Given up by {d.context.by} after an escalation. {c.feedback}".strip()
    fail_for_good(d, e, e.policy.on_failure, Failure("escalation", why))


def _answer(d: Draft, e: Execution, _: Decide) -> None:
    d.make_ready(e, answered=True)


def _decline(d: Draft, e: Execution, c: Decide) -> None:
    if e.waiting_on is WaitingOn.QUESTION:
        d.make_ready(e)
    else:
        why = f"Declined by {d.context.by}. {c.feedback}".strip()
        fail_for_good(d, e, e.policy.on_failure, Failure("declined", why))


ANSWERS: dict[tuple[ApprovalKind, str], Callable[[Draft, Execution, Decide], None]] = {
    (ApprovalKind.START, "approve"): _start,
    (ApprovalKind.START, "refuse"): _refuse,
    (ApprovalKind.COMPLETION, "approve"): _approve,
    (ApprovalKind.COMPLETION, "revise"): _revise,
    (ApprovalKind.COMPLETION, "reject"): _reject,
    (ApprovalKind.ACTION, "approve"): _go_on,
    (ApprovalKind.ACTION, "modify"): _go_on,
    (ApprovalKind.ACTION, "revise"): _revise,
    (ApprovalKind.ACTION, "reject"): _reject,
    (ApprovalKind.VALIDATION, "accept"): _accept_invalid,
    (ApprovalKind.VALIDATION, "feedback"): _validate_again,
    (ApprovalKind.VALIDATION, "reject"): _reject,
    (ApprovalKind.ESCALATION, "retry"): _escalation_retry,
    (ApprovalKind.ESCALATION, "restart"): _escalation_restart,
    (ApprovalKind.ESCALATION, "accept"): _escalation_accept,
    (ApprovalKind.ESCALATION, "fail"): _escalation_fail,
    (ApprovalKind.INPUT, "answer"): _answer,
    (ApprovalKind.INPUT, "decline"): _decline,
}
