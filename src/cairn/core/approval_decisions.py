"""Apply decisions on approvals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from cairn.core import approval_requests, rework, transitions
from cairn.core.approval import APPROVING_DECISIONS, Approval, Vote
from cairn.core.commands import ActionDecided, ActionResumed, AssignApproval, Decide
from cairn.core.draft import Draft
from cairn.core.errors import CommandRefused, NotAllowed, StaleCommand
from cairn.core.events import EventType
from cairn.core.execution import Execution, Failure, Rework
from cairn.core.outcomes import accept_result, complete, fail, fail_for_good, fail_run
from cairn.core.reports import request_actions, validate_again
from cairn.core.states import ApprovalKind, ApprovalStatus, PassDecision, WaitingOn
from cairn.core.transitions import ExecutionTransition


def decide(d: Draft, c: Decide) -> None:
    a = check_decision(d, c)
    a = _vote(d, a, c)
    if c.decision in APPROVING_DECISIONS and len(a.approved_by) < a.required_approvals:
        d.record(
            EventType.APPROVAL_VOTE_CAST,
            a,
            kind=a.kind.value,
            decision=c.decision,
            digest=a.digest,
            feedback=c.feedback,
            received_approvals=len(a.approved_by),
            required_approvals=a.required_approvals,
        )
        return
    status = transitions.DECISIONS[a.kind][c.decision]
    if status is ApprovalStatus.APPROVED and d.context.by.startswith("rule:"):
        status = ApprovalStatus.AUTO_APPROVED
    d.close(a, status, decision=c.decision, digest=a.digest, feedback=c.feedback)
    e = d.run.executions[a.execution]
    last_answer = next((vote.answer for vote in reversed(a.votes) if vote.answer is not None), None)
    if last_answer is not None:
        e = d.update(e.replace(answer=last_answer))
    HANDLERS[a.kind, c.decision](d, e, c)


def apply_action_decision(d: Draft, c: ActionDecided) -> None:
    """Record a vote on an action, and continue the execution once it is decided. Seats are counted elsewhere."""
    a = _pending(d, c.approval)
    if a.action is None:
        raise CommandRefused("This approval is not about an action.")
    vote = Vote(d.context.by, d.context.at, c.decision, c.feedback, c.digest or a.digest, c.answer)
    terms = a.terms if c.required == a.required_approvals else replace(a.terms, required_approvals=c.required)
    assigned_to = a.assigned_to if c.assigned_to is None else c.assigned_to
    changes = {"terms": terms, "assigned_to": assigned_to}
    a = d.update_approval(a.replace(digest=c.digest or a.digest, votes=(*a.votes, vote), **changes))
    if c.status is None:
        d.record(
            EventType.APPROVAL_VOTE_CAST,
            a,
            kind=a.kind.value,
            decision=c.decision,
            digest=a.digest,
            feedback=c.feedback,
            received_approvals=c.filled,
            required_approvals=c.required,
        )
        return
    d.close(a, c.status, decision=c.decision, digest=a.digest, feedback=c.feedback)
    e = d.run.executions[a.execution]
    match c.decision:
        case "revise":
            d.withdraw(e, "another action was sent back")
            _revise(d, e, c)
        case "reject":
            _reject(d, e, c)
        case "give_up":
            reason = f"{d.context.by} gave up on an action whose outcome is unknown. {c.feedback}".strip()
            fail_for_good(d, e, e.policy.on_failure, Failure("action_abandoned", reason))
        case _:
            resume_after_action(d, e)


def resume_action(d: Draft, c: ActionResumed) -> None:
    """Continue an execution whose action was held, or ask people first."""
    e = d.run.index.current.get(c.execution)
    if e is None or e.waiting_on is not WaitingOn.ACTION_APPROVAL:
        return
    for a in d.run.pending_of(e.id):
        if a.id in c.withdrawn:
            d.close(a, ApprovalStatus.WITHDRAWN, reason=a.reason)
    request_actions(d, e, c.requests)
    resume_after_action(d, e)


def resume_after_action(d: Draft, e: Execution) -> None:
    is_waiting = e.waiting_on is WaitingOn.ACTION_APPROVAL
    if is_waiting and not d.run.pending_of(e.id):
        d.make_ready(e)


def check_decision(d: Draft, c: Decide) -> Approval:
    """The approval to decide on. Raises CommandRefused if this decision is not possible."""
    a = _pending(d, c.approval)
    if a.action is not None:
        raise CommandRefused("Decide on the action itself.")
    _check_eligible(d, a)
    possible = tuple(transitions.DECISIONS[a.kind])
    if c.decision not in possible:
        raise CommandRefused(f"'{c.decision}' is not a decision for an approval of kind {a.kind.value}.", possible)
    if c.decision in APPROVING_DECISIONS and not approval_requests.rules_are_readable(d, a):
        raise CommandRefused(approval_requests.UNREADABLE_RULES)
    if c.digest is not None and c.digest != a.digest:
        raise StaleCommand("The content has changed since you looked at it. Review it again, then decide.", possible)
    if c.decision in APPROVING_DECISIONS and d.context.by in a.approved_by:
        raise CommandRefused("You have already approved this. Another person has to approve it too.")
    return a


def assign(d: Draft, c: AssignApproval) -> None:
    """Assign the approval to other people. Only someone who can decide it can do this."""
    a = _pending(d, c.approval)
    _check_eligible(d, a)
    if not c.assigned_to or c.assigned_to == a.assigned_to:
        raise CommandRefused("Name the people to assign the approval to.")
    detail: dict[str, Any] = {"from": list(a.assigned_to), "to": list(c.assigned_to), "reason": c.reason}
    a = d.update_approval(a.replace(assigned_to=c.assigned_to))
    d.record(EventType.APPROVAL_ASSIGNED, a, kind=a.kind.value, **detail)


def _pending(d: Draft, approval: str) -> Approval:
    a = d.run.approvals.get(approval)
    if a is None:
        raise CommandRefused("This run has no such approval.")
    if a.status is not ApprovalStatus.PENDING:
        raise CommandRefused(f"The approval is no longer pending. It is {a.status.value}{_by_whom(a)}.")
    return a


def _by_whom(a: Approval) -> str:
    has_no_vote = a.status in (ApprovalStatus.WITHDRAWN, ApprovalStatus.TIMEOUT)
    return "" if has_no_vote else f" by {a.votes[-1].by}"


def _check_eligible(d: Draft, a: Approval) -> None:
    context = d.context
    if a.terms.not_by_starter and context.by == context.starter:
        raise NotAllowed("You started this run. Another person has to decide.")
    assigned_to = {name.casefold() for name in a.assigned_to}
    if assigned_to and context.identities is not None and assigned_to.isdisjoint(context.identities):
        raise NotAllowed(f"This approval is assigned to {', '.join(a.assigned_to)}.", ("assign it to other people",))


def _vote(d: Draft, a: Approval, c: Decide) -> Approval:
    vote = Vote(d.context.by, d.context.at, c.decision, c.feedback, a.digest, c.answer)
    return d.update_approval(a.replace(votes=(*a.votes, vote)))


def _approve_start(d: Draft, e: Execution, _: Decide) -> None:
    d.make_ready(e, start_approved=True)


def _reject_start(d: Draft, e: Execution, c: Decide) -> None:
    if e.is_rework:
        rework.cancel_with_reworks(d, e, "the start was rejected")
        rework.notify_requester(d, e, "refused", c.feedback)
    else:
        d.move(e, ExecutionTransition.REJECT_START, c.feedback)


def _approve_result(d: Draft, e: Execution, _: Decide) -> None:
    complete(d, e)


def _revise(d: Draft, e: Execution, c: Decide | ActionDecided) -> None:
    limit = e.policy.max_revisions
    if e.revision >= limit:
        error = Failure(
            "revision_limit_reached", f"The limit of {limit} revisions is reached. The last feedback: {c.feedback}"
        )
        fail_for_good(d, e, e.policy.on_failure, error)
        return
    revision = e.revision + 1
    d.record(EventType.EXECUTION_REVISED, e, checkpoint=e.key, revision_iteration=revision, feedback=c.feedback)
    d.make_ready(
        e, revision=revision, retries_used=0, validations_used=0, interruptions=0, active_seconds=0.0, answered=False
    )


def _reject(d: Draft, e: Execution, c: Decide | ActionDecided) -> None:
    reason = f"Rejected by {d.context.by}. {c.feedback}".strip()
    fail(d, e, Failure("rejected", reason))
    fail_run(d, reason)


def _accept_invalid(d: Draft, e: Execution, _: Decide) -> None:
    accept_result(d, e, None)


def _validate_again(d: Draft, e: Execution, c: Decide) -> None:
    validate_again(d, e, c.feedback)


def _escalation_retry(d: Draft, e: Execution, c: Decide) -> None:
    """Allow the pending rework, or retry with all its retries."""
    if e.pending_rework is not None:
        pending = e.pending_rework
        rework.check(d.run, pending.key, e)
        requester = d.move(e, ExecutionTransition.WAIT, waiting_on=WaitingOn.REWORK, pending_rework=None)
        rework.create_rework(d, pending.key, requester, Rework(e.key, pending.prompt, pending.reason or c.feedback))
        return
    d.record(EventType.EXECUTION_RETRIED, e, checkpoint=e.key, attempt_number=e.attempt + 1)
    attempt = e.attempt + 1
    d.make_ready(
        e, attempt=attempt, retries_used=0, validations_used=0, interruptions=0, active_seconds=0.0, answered=False
    )


def _escalation_restart(d: Draft, e: Execution, _: Decide) -> None:
    """Start the next pass once the run continues. This completes a deciding checkpoint."""
    if e.pass_decision is not None:
        complete(d, d.update(e.replace(pass_decision=PassDecision.RESTART)))
    else:
        d.make_ready(e, pass_decision=PassDecision.RESTART)


def _escalation_accept(d: Draft, e: Execution, c: Decide) -> None:
    plan, suggestions = d.run.plan, ("retry", "restart", "fail")
    decides = plan[e.key].decides
    if e.pending_rework is not None:
        rework.refuse(d, d.update(e.replace(pending_rework=None)), e.pending_rework.key, c.feedback)
    elif e.digest is None:
        raise CommandRefused("There is no result to accept.", suggestions)
    elif decides and plan.require_second_pass and d.run.pass_number == 1:
        raise CommandRefused("You can't accept the first pass as complete: a second pass is required.", suggestions)
    else:
        complete(d, d.update(e.replace(pass_decision=PassDecision.COMPLETE if decides else None)))


def _escalation_fail(d: Draft, e: Execution, c: Decide) -> None:
    reason = f"Failed by {d.context.by} after an escalation. {c.feedback}".strip()
    fail_for_good(d, e, e.policy.on_failure, Failure("failed_by_decision", reason))


def _answer(d: Draft, e: Execution, _: Decide) -> None:
    d.make_ready(e, answered=True)


def _decline(d: Draft, e: Execution, c: Decide) -> None:
    if e.waiting_on is WaitingOn.QUESTION:
        d.make_ready(e)
    else:
        reason = f"Declined by {d.context.by}. {c.feedback}".strip()
        fail_for_good(d, e, e.policy.on_failure, Failure("declined", reason))


HANDLERS: dict[tuple[ApprovalKind, str], Callable[[Draft, Execution, Decide], None]] = {
    (ApprovalKind.START, "approve"): _approve_start,
    (ApprovalKind.START, "refuse"): _reject_start,
    (ApprovalKind.COMPLETION, "approve"): _approve_result,
    (ApprovalKind.COMPLETION, "revise"): _revise,
    (ApprovalKind.COMPLETION, "reject"): _reject,
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
