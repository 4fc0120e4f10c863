"""Verdicts of the example rules: what each asks about, approves and holds back."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache

import pytest

from cairn.core.comparisons import MISSING
from cairn.core.rule_verdict import ConditionResult, ProposedAction, RiskLevel, RuleQuestion, RuleVerdict
from cairn.core.rules import GLOBAL, Rulebook, ScopedRulebook, judge
from cairn.core.states import ApprovalKind
from cairn.definitions.rules import load
from tests.definitions.test_rules import FOLDER
from tests.mentions import mentions

OPEN = datetime(2026, 3, 2, 15, 0, tzinfo=UTC)  # Monday, 10:00 in New York
NIGHT = datetime(2026, 3, 3, 3, 0, tzinfo=UTC)
SATURDAY = datetime(2026, 3, 7, 15, 0, tzinfo=UTC)
ASKING = "sample-checkpoint-rules.yaml"
APPROVING = "sample-auto-approval.yaml"


@cache
def rulebook(file: str) -> Rulebook:
    return load((FOLDER / "valid" / file).read_text("utf-8")).rulebook


def judged(
    *files: str,
    action: ProposedAction | None,
    at: datetime = OPEN,
    kind: ApprovalKind = ApprovalKind.ACTION,
    id: str = "a",
) -> RuleVerdict:
    books = [ScopedRulebook(GLOBAL if n == 0 else "pipeline", n + 1, rulebook(file)) for n, file in enumerate(files)]
    return judge(books, RuleQuestion(kind, id, "e", "step", at, action), lambda _: MISSING)


def act(operation: str, risk: str = "high", confidence: float | None = 0.95, **parameters: float) -> ProposedAction:
    return ProposedAction(operation, parameters, RiskLevel(risk), confidence)


TABLE = {
    "a large refund needs two": (ASKING, act("refund", amount=1000.01), "High-Value Financial Operations", True),
    "at the bound it does not": (ASKING, act("refund", amount=1000), "", None),
    "nor at medium risk": (ASKING, act("refund", "medium", amount=5000), "", None),
    "nor for another operation": (ASKING, act("send_email", amount=5000), "", None),
    "deleting is looked at": (ASKING, act("drop_table", "critical"), "Data Deletion Safety", True),
    "who is not sure asks": (ASKING, act("send_email", "low", 0.74), "Low Confidence Decisions", True),
    "the lower priority first": (ASKING, act("delete", "high", 0.1), "Data Deletion Safety", True),
    "safe operations pass": (ASKING, act("query", "low"), "Auto-Approve Safe Operations", False),
    "but not if unsure": (ASKING, act("query", "low", 0.5), "Low Confidence Decisions", True),
    "without a confidence people are asked": (ASKING, act("query", "low", None), "Low Confidence Decisions", True),
    "a refund without an amount needs two": (ASKING, act("refund"), "High-Value Financial Operations", True),
    "safe reads pass": (APPROVING, act("read", "low", 0.8), "Auto-Approve Safe Reads", False),
    "a little less sure they do not": (APPROVING, act("read", "low", 0.79), "", None),
    "without a confidence they do not": (APPROVING, act("read", "low", None), "", None),
    "a small refund passes": (
        APPROVING,
        act("financial_transaction", "medium", 0.9, amount=50),
        "Auto-Approve Small Refunds",
        False,
    ),
    "a larger one does not": (APPROVING, act("financial_transaction", "low", 0.99, amount=50.01), "", None),
    "one without an amount does not": (APPROVING, act("financial_transaction", "low", 0.99), "", None),
    "nor a negative one": (APPROVING, act("financial_transaction", "low", 0.99, amount=-1_000_000), "", None),
}


@pytest.mark.parametrize("case", TABLE)
def test_the_verdict_of_each_example_rule(case: str) -> None:
    file, action, rule, asks = TABLE[case]
    verdict = judged(file, action=action)
    assert (verdict.rule, verdict.requires_approval) == (rule, asks)


@pytest.mark.parametrize("at", [NIGHT, SATURDAY])
def test_outside_business_hours_people_are_asked(at: datetime) -> None:
    verdict = judged(APPROVING, action=act("read", "low"), at=at)
    assert (verdict.rule, verdict.requires_approval, verdict.terms.timeout) == ("Auto-Approve Safe Reads", True, 3600.0)
    assert verdict.evaluated_rules[0].outcome == mentions()


def test_a_quarter_of_the_emails_is_approved_automatically() -> None:
    mail = act("send_email", "low", 0.9)
    approved = sum(judged(APPROVING, action=mail, id=str(n)).requires_approval is False for n in range(1000))
    assert 200 < approved < 300


def test_an_automatic_approval_has_its_reasons() -> None:
    """The notification of the story names each condition with its value."""
    verdict = judged(APPROVING, action=act("financial_transaction", "low", 0.92, amount=35))
    assert (verdict.notify, verdict.terms.channels) == (True, ("teams",))
    assert verdict.evaluated_rules[1].conditions == (
        ConditionResult("risk_level", "low or medium", "low", True),
        ConditionResult("operation_type", "financial_transaction", "financial_transaction", True),
        ConditionResult("amount", ">= 0 and <= 50", "35", True),
        ConditionResult("confidence", ">= 0.9", "0.92", True),
    )


def test_requiring_approval_wins_over_automatic_approval() -> None:
    unsure = act("read", "low", 0.8)
    assert judged(ASKING, APPROVING, action=unsure).rule == "Auto-Approve Safe Operations"
    large = act("financial_transaction", "high", 0.99, amount=2000)
    assert judged(APPROVING, ASKING, action=large).rule == "High-Value Financial Operations"
    assert judged(APPROVING, ASKING, action=large).scope == "pipeline"


def test_rules_about_actions_ignore_other_approvals() -> None:
    assert [
        judged(ASKING, APPROVING, action=None, kind=kind).requires_approval
        for kind in ApprovalKind
        if kind is not ApprovalKind.ACTION
    ] == [None] * 5
