"""The approvals that people get for actions."""

from __future__ import annotations

from collections.abc import Sequence

from cairn.core.action import Action, History
from cairn.core.action_judgment import Circumstances, Judgment
from cairn.core.action_rules import AskingRule
from cairn.core.action_votes import required_seats
from cairn.core.commands import ActionRequest
from cairn.core.rule_verdict import ApprovalTerms, RuleVerdict
from cairn.core.states import ApprovalKind


def approval_request(
    action: Action, judgment: Judgment, c: Circumstances, confidence: float | None, reason: str = ""
) -> ActionRequest:
    """The approval of a judged action: people decide, or a rule has approved it."""
    verdict = _approved_verdict(judgment, c) if judgment.is_approved else asking_verdict(action, c.rules.asking)
    return ActionRequest(
        action.id,
        ApprovalKind.ACTION,
        c.history.shown_digest(action),
        action.operation,
        action.risk,
        confidence,
        _with_evaluated(verdict, c),
        " ".join(filter(None, (judgment.reason, reason))),
        () if judgment.is_approved else asked_people(action),
    )


def outcome_request(action: Action, history: History, reason: str) -> ActionRequest:
    """The question whether an action happened, for the people who could approve it."""
    return ActionRequest(
        action.id,
        ApprovalKind.OUTCOME,
        history.shown_digest(action),
        action.operation,
        action.risk,
        None,
        RuleVerdict(True, terms=ApprovalTerms(required_approvals=seat_count(action))),
        reason,
        asked_people(action),
    )


def asking_verdict(action: Action, asking: Sequence[AskingRule]) -> RuleVerdict:
    """The terms of the rule with the shortest deadline. The number of approvals is that of all seats."""
    terms = ApprovalTerms()
    rule = min(asking, key=lambda rule: rule.terms.timeout or float("inf"), default=None)
    if rule is not None:
        terms = rule.terms
    terms = ApprovalTerms(
        required_approvals=seat_count(action),
        approvers=asked_people(action),
        not_by_starter=any(r.current.not_by_starter for r in action.requirements),
        timeout=terms.timeout,
        on_expiry=terms.on_expiry,
        escalate_after=terms.escalate_after,
        escalate_to=terms.escalate_to,
        channels=tuple(dict.fromkeys(name for r in asking for name in r.terms.channels)),
        recipients=tuple(dict.fromkeys(name for r in asking for name in r.terms.recipients)),
    )
    if rule is None:
        return RuleVerdict(True, terms=terms)
    return RuleVerdict(True, rule.rule, rule.scope, rule.revision, rule.priority, terms)


def _approved_verdict(judgment: Judgment, c: Circumstances) -> RuleVerdict:
    rule = judgment.rule
    if rule is None:
        return RuleVerdict(requires_approval=False)
    return RuleVerdict(
        requires_approval=False,
        rule=rule.rule,
        scope=rule.scope,
        revision=rule.revision,
        terms=rule.terms,
        evaluated_rules=c.rules.evaluated if rule.log else (),
        audit=rule.audit,
        notify=rule.notify,
    )


def _with_evaluated(verdict: RuleVerdict, c: Circumstances) -> RuleVerdict:
    if verdict.requires_approval is False:
        return verdict
    return RuleVerdict(
        verdict.requires_approval,
        verdict.rule,
        verdict.scope,
        verdict.revision,
        verdict.priority,
        verdict.terms,
        c.rules.evaluated,
    )


def seat_count(action: Action) -> int:
    return max(requirement.seat_count for requirement in required_seats(action))


def asked_people(action: Action) -> tuple[str, ...]:
    """Everyone who could fill a seat. Empty if any approver can fill one."""
    groups = [group for requirement in required_seats(action) for step in requirement.steps for group in step]
    if any(not group.asked for group in groups):
        return ()
    return tuple(dict.fromkeys(name for group in groups for name in group.asked))
