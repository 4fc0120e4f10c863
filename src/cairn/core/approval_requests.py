"""Request approval if a rule or the checkpoint's settings require it, or let a rule approve."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from cairn.core import approval_reuse
from cairn.core.approval import Approval, Vote
from cairn.core.commands import ActionRequest, ApprovalExpired, EscalationDue, ReminderDue
from cairn.core.draft import Draft
from cairn.core.effects import ScheduleTimer
from cairn.core.events import EventType
from cairn.core.execution import Execution
from cairn.core.rule_verdict import RuleQuestion, RuleVerdict
from cairn.core.rules import APPROVABLE
from cairn.core.states import ApprovalKind, ApprovalStatus

REMINDER_AT = 0.5  # of the time to decide
UNREADABLE_RULES = "The rules in force can't be read, so nothing is approved. Correct and save the rules."
LOW_RISK = "low risk"  # named as the rule that approves low-risk actions when no rule matches


def request_input(d: Draft, e: Execution, kind: ApprovalKind, digest: str, reason: str = "") -> None:
    """Request a decision from people, even if a rule would approve. Rules only set the terms."""
    _request(d, _approval(d, e, kind, digest, _judge(d, e, kind), reason))


def required_verdict(d: Draft, e: Execution, kind: ApprovalKind, digest: str, *, flag: bool) -> RuleVerdict | None:
    """The verdict to request approval with, or None if the execution can continue.

    It can continue if neither the checkpoint nor a rule requires approval, if equal content was approved before, or
    if a rule approves now. `flag` is the checkpoint's own setting.
    """
    verdict = _judge(d, e, kind)
    is_required = flag if verdict.requires_approval is None else verdict.requires_approval
    if not is_required and not flag:
        return None
    if kind is not ApprovalKind.START and approval_reuse.reuse(d, e, kind, digest, verdict):
        return None
    if not is_required:
        _approve(d, _approval(d, e, kind, digest, verdict), verdict)
        return None
    return verdict


def request(d: Draft, e: Execution, kind: ApprovalKind, digest: str, verdict: RuleVerdict) -> None:
    """Request approval from people."""
    _request(d, _approval(d, e, kind, digest, verdict))


def request_action(d: Draft, e: Execution, request: ActionRequest) -> None:
    """Request a decision on an action, or record that a rule approved it."""
    a = _approval(d, e, request.kind, request.digest, request.verdict, request.reason).replace(
        action=request.action,
        operation_type=request.operation_type,
        risk=request.risk,
        confidence=request.confidence,
        assigned_to=request.assigned_to,
    )
    if request.verdict.requires_approval is False:
        _approve(d, a, request.verdict)
    else:
        _request(d, a)


def rules_are_readable(d: Draft, a: Approval) -> bool:
    """Whether all rules that could be about this approval can be read now."""
    return a.kind not in APPROVABLE or _judge(d, d.run.executions[a.execution], a.kind).is_readable


def _judge(d: Draft, e: Execution, kind: ApprovalKind) -> RuleVerdict:
    return d.context.judge(RuleQuestion(kind, d.next_id, e.id, e.key, d.context.at, None, d.run.index.done))


def _approval(
    d: Draft, e: Execution, kind: ApprovalKind, digest: str, verdict: RuleVerdict, reason: str = ""
) -> Approval:
    terms, at = verdict.terms, d.context.at
    return Approval(
        d.new_id(),
        e.id,
        kind,
        digest,
        at,
        terms=terms,
        assigned_to=terms.approvers,
        expires_at=at + timedelta(seconds=terms.timeout) if terms.timeout is not None else None,
        reason=reason if verdict.is_readable else " ".join(filter(None, (reason, UNREADABLE_RULES))),
        attempt=e.attempt,
        rule=verdict.rule,
        scope=verdict.scope,
        rules_revision=verdict.revision,
        priority=verdict.priority,
        evaluated_rules=verdict.evaluated_rules,
    )


def _request(d: Draft, a: Approval) -> None:
    d.update_approval(a)
    d.record(
        EventType.APPROVAL_REQUESTED,
        a,
        kind=a.kind.value,
        digest=a.digest,
        required_approvals=a.required_approvals,
        reason=a.reason,
        **_by_rule(a),
    )
    period = a.terms.timeout
    if period is not None:
        d.effects.append(ScheduleTimer(period, ApprovalExpired(a.id, a.period)))
        d.effects.append(ScheduleTimer(period * REMINDER_AT, ReminderDue(a.id, a.period)))
    if a.terms.escalate_after is not None:
        d.effects.append(ScheduleTimer(a.terms.escalate_after, EscalationDue(a.id)))


def _approve(d: Draft, a: Approval, verdict: RuleVerdict) -> None:
    """Approve by a rule, and record its conditions in the audit log."""
    by, at = f"rule:{a.rule or LOW_RISK}", d.context.at
    vote = Vote(by, at, "approve", digest=a.digest)
    a = d.update_approval(a.replace(votes=(vote,), audit=verdict.audit, expires_at=None))
    rule = next((r for r in verdict.evaluated_rules if (r.rule, r.scope) == (a.rule, a.scope)), None)
    results = rule.conditions if rule else ()
    conditions = [{"field": r.field, "expected": r.expected, "actual": r.actual} for r in results]
    d.close(
        a,
        ApprovalStatus.AUTO_APPROVED,
        decision="approve",
        digest=a.digest,
        approved_by=by,
        conditions=conditions,
        notify=verdict.notify,
        audit=verdict.audit,
        **_by_rule(a),
    )


def _by_rule(a: Approval) -> dict[str, Any]:
    detail: dict[str, Any] = {}
    if a.rule:
        detail |= {"rule": a.rule, "scope": a.scope, "rules_revision": a.rules_revision}
    if a.operation_type is not None and a.risk is not None:
        detail |= {"operation_type": a.operation_type, "risk_level": a.risk.value, "confidence": a.confidence}
    return detail
