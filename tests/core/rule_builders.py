"""Builders for rules and rule questions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from cairn.core.action_rules import ActionRules
from cairn.core.comparisons import MISSING, Operator
from cairn.core.conditions import CONFIDENCE, Comparison, Condition, FieldLookup, Not, OneOf, Root
from cairn.core.rule_judge import judge, judge_action
from cairn.core.rule_verdict import ProposedAction, RiskLevel, RuleQuestion, RuleVerdict
from cairn.core.rules import GLOBAL, Rule, Rulebook, RuleSection, ScopedRulebook
from cairn.core.states import ApprovalKind

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)  # a Monday
PIPELINE = "11111111-1111-4111-8111-111111111111"


def action(
    operation: str = "send_email", risk: RiskLevel = RiskLevel.HIGH, confidence: float | None = None, **of: Any
) -> ProposedAction:
    return ProposedAction(operation, of, risk, confidence)


def question(
    kind: ApprovalKind = ApprovalKind.ACTION,
    proposed: ProposedAction | None = None,
    at: datetime = NOON,
    approval: str = "a",
) -> RuleQuestion:
    return RuleQuestion(kind, approval, "e", "step", at, proposed)


def field(path: str) -> FieldLookup:
    """A field of the action, or of the root that the path names."""
    first, *rest = (int(step) if step.isdecimal() else step for step in path.split("."))
    if first in tuple(Root):
        return FieldLookup(path, Root(first), tuple(rest))
    return FieldLookup(path, Root.ACTION, (first, *rest))


def compared(path: str, operator: str, value: Any) -> Comparison:
    return Comparison(field(path), Operator(operator), value)


def sure(operator: str, value: float) -> Comparison:
    return Comparison(CONFIDENCE, Operator(operator), value)


ALWAYS = OneOf("kind", tuple(kind.value for kind in ApprovalKind))
NEVER = Not(ALWAYS)


def asks(name: str, *conditions: Condition, section: RuleSection = RuleSection.CHECKPOINTS, **more: Any) -> Rule:
    return Rule(name, section, False, conditions or (ALWAYS,), **more)


def approves(name: str, *conditions: Condition, section: RuleSection = RuleSection.CHECKPOINTS, **more: Any) -> Rule:
    return Rule(name, section, True, conditions or (ALWAYS,), **more)


def book(*rules: Rule, scope: str = GLOBAL, revision: int = 1, **more: Any) -> ScopedRulebook:
    ordered = tuple(sorted(rules, key=lambda rule: rule.priority))
    return ScopedRulebook(scope, revision, Rulebook(ordered, **more))


def evaluate(
    books: list[ScopedRulebook], of: RuleQuestion | None = None, data: Mapping[str, Any] | None = None, **more: Any
) -> RuleVerdict:
    return judge(books, of or question(), lambda field: (data or {}).get(field.path, MISSING), **more)


def judge_one(
    books: list[ScopedRulebook],
    proposed: ProposedAction | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    at: datetime = NOON,
    draw_key: str = "draw",
    stopped: bool = False,
) -> ActionRules:
    """The rules about one action."""
    of = question(proposed=proposed or action(), at=at)
    read = (data or {}).get
    return judge_action(books, of, lambda field: read(field.path, MISSING), draw_key=draw_key, stopped=stopped)


def outcomes(verdict: RuleVerdict) -> dict[str, str]:
    return {rule.rule: rule.outcome for rule in verdict.evaluated_rules}
