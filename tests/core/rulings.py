"""Rules and questions in one line each."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from cairn.core.conditions import CONFIDENCE, MISSING, Comparison, Field, OneOf, Operator, Test
from cairn.core.rule_verdict import Action, Question, Risk, Verdict
from cairn.core.rules import GLOBAL, Book, Rule, Rulebook, Section, judge
from cairn.core.states import Kind

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)  # a Monday
PIPELINE = "11111111-1111-4111-8111-111111111111"


def action(operation: str = "send_email", risk: Risk = Risk.HIGH, confidence: float | None = None, **of: Any) -> Action:
    return Action(operation, of, risk, confidence)


def question(
    kind: Kind = Kind.ACTION, proposed: Action | None = None, at: datetime = NOON, approval: str = "a"
) -> Question:
    return Question(kind, approval, "e", "step", at, proposed)


def field(path: str) -> Field:
    return Field(path, tuple(int(step) if step.isdecimal() else step for step in path.split(".")))


def compared(path: str, operator: str, value: Any) -> Comparison:
    return Comparison(field(path), Operator(operator), value)


def sure(operator: str, value: float) -> Comparison:
    return Comparison(CONFIDENCE, Operator(operator), value)


ALWAYS = OneOf("kind", tuple(kind.value for kind in Kind))
NEVER = OneOf("operation_type", ("nothing",))


def asks(name: str, *tests: Test, section: Section = Section.CHECKPOINTS, **more: Any) -> Rule:
    return Rule(name, section, False, tests or (ALWAYS,), **more)


def approves(name: str, *tests: Test, section: Section = Section.CHECKPOINTS, **more: Any) -> Rule:
    return Rule(name, section, True, tests or (ALWAYS,), **more)


def book(*rules: Rule, scope: str = GLOBAL, revision: int = 1, **more: Any) -> Book:
    ordered = tuple(sorted(rules, key=lambda rule: rule.priority))
    return Book(scope, revision, Rulebook(ordered, **more))


def said(books: list[Book], of: Question | None = None, data: Mapping[str, Any] | None = None, **more: Any) -> Verdict:
    return judge(books, of or question(), lambda path: (data or {}).get(path, MISSING), **more)


def outcomes(verdict: Verdict) -> dict[str, str]:
    return {one.rule: one.outcome for one in verdict.considered}
