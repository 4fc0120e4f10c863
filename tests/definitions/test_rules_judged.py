"""Verdicts of the sample rules."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache

import pytest

from cairn.core.comparisons import MISSING
from cairn.core.rule_judge import judge
from cairn.core.rule_verdict import ConditionResult, ProposedAction, RiskLevel, RuleQuestion, RuleVerdict
from cairn.core.rules import GLOBAL, Rulebook, ScopedRulebook
from cairn.core.states import ApprovalKind
from cairn.definitions.rules import load
from tests.definitions.test_rules import FOLDER
from tests.mentions import mentions

OPEN = datetime(2026, 3, 2, 15, 0, tzinfo=UTC)  # Monday, 10:00 in New York
NIGHT = datetime(2026, 3, 3, 3, 0, tzinfo=UTC)
SATURDAY = datetime(2026, 3, 7, 15, 0, tzinfo=UTC)
CHECKPOINT_RULES = "sample-checkpoint-rules.yaml"
AUTO_APPROVAL_RULES = "sample-auto-approval.yaml"


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


def propose(operation: str, risk: str = "high", confidence: float | None = 0.95, **parameters: float) -> ProposedAction:
    return ProposedAction(operation, parameters, RiskLevel(risk), confidence)


TABLE = {
    "a large refund requires approval": (
        CHECKPOINT_RULES,
        propose("refund", amount=1000.01),
        "High-Value Financial Operations",
        True,
    ),
    "a refund of exactly the limit doesn't": (CHECKPOINT_RULES, propose("refund", amount=1000), "", None),
    "a refund of medium risk doesn't": (CHECKPOINT_RULES, propose("refund", "medium", amount=5000), "", None),
    "another operation doesn't": (CHECKPOINT_RULES, propose("send_email", amount=5000), "", None),
    "deletion requires approval": (CHECKPOINT_RULES, propose("drop_table", "critical"), "Data Deletion Safety", True),
    "low confidence requires approval": (
        CHECKPOINT_RULES,
        propose("send_email", "low", 0.74),
        "Low Confidence Decisions",
        True,
    ),
    "the rule with the lower priority number applies": (
        CHECKPOINT_RULES,
        propose("delete", "high", 0.1),
        "Data Deletion Safety",
        True,
    ),
    "a safe operation is approved": (CHECKPOINT_RULES, propose("query", "low"), "Auto-Approve Safe Operations", False),
    "a safe operation with low confidence isn't": (
        CHECKPOINT_RULES,
        propose("query", "low", 0.5),
        "Low Confidence Decisions",
        True,
    ),
    "a safe operation without confidence requires approval": (
        CHECKPOINT_RULES,
        propose("query", "low", None),
        "Low Confidence Decisions",
        True,
    ),
    "a refund without an amount requires approval": (
        CHECKPOINT_RULES,
        propose("refund"),
        "High-Value Financial Operations",
        True,
    ),
    "a safe read is approved": (AUTO_APPROVAL_RULES, propose("read", "low", 0.8), "Auto-Approve Safe Reads", False),
    "a safe read with too little confidence isn't": (AUTO_APPROVAL_RULES, propose("read", "low", 0.79), "", None),
    "a safe read without confidence isn't": (AUTO_APPROVAL_RULES, propose("read", "low", None), "", None),
    "a small refund is approved": (
        AUTO_APPROVAL_RULES,
        propose("financial_transaction", "medium", 0.9, amount=50),
        "Auto-Approve Small Refunds",
        False,
    ),
    "a larger refund isn't": (
        AUTO_APPROVAL_RULES,
        propose("financial_transaction", "low", 0.99, amount=50.01),
        "",
        None,
    ),
    "a small refund without an amount isn't": (
        AUTO_APPROVAL_RULES,
        propose("financial_transaction", "low", 0.99),
        "",
        None,
    ),
    "a refund with a negative amount isn't": (
        AUTO_APPROVAL_RULES,
        propose("financial_transaction", "low", 0.99, amount=-1_000_000),
        "",
        None,
    ),
}


@pytest.mark.parametrize("case", TABLE)
def test_the_verdict_of_each_example_rule(case: str) -> None:
    file, action, rule, asks = TABLE[case]
    verdict = judged(file, action=action)
    assert (verdict.rule, verdict.requires_approval) == (rule, asks)


@pytest.mark.parametrize("at", [NIGHT, SATURDAY])
def test_outside_business_hours_approval_is_required(at: datetime) -> None:
    verdict = judged(AUTO_APPROVAL_RULES, action=propose("read", "low"), at=at)
    assert (verdict.rule, verdict.requires_approval, verdict.terms.timeout) == ("Auto-Approve Safe Reads", True, 3600.0)
    assert verdict.evaluated_rules[0].outcome == mentions()


def test_a_quarter_of_the_emails_is_approved_automatically() -> None:
    mail = propose("send_email", "low", 0.9)
    approved = sum(judged(AUTO_APPROVAL_RULES, action=mail, id=str(n)).requires_approval is False for n in range(1000))
    assert 200 < approved < 300


def test_an_automatic_approval_has_its_reasons() -> None:
    """The notification lists each condition with its value."""
    verdict = judged(AUTO_APPROVAL_RULES, action=propose("financial_transaction", "low", 0.92, amount=35))
    assert (verdict.notify, verdict.terms.channels) == (True, ("teams",))
    assert verdict.evaluated_rules[1].conditions == (
        ConditionResult("risk_level", "low or medium", "low", True),
        ConditionResult("operation_type", "financial_transaction", "financial_transaction", True),
        ConditionResult("amount", ">= 0 and <= 50", "35", True),
        ConditionResult("confidence", ">= 0.9", "0.92", True),
    )


def test_requiring_approval_wins_over_automatic_approval() -> None:
    unsure = propose("read", "low", 0.8)
    assert judged(CHECKPOINT_RULES, AUTO_APPROVAL_RULES, action=unsure).rule == "Auto-Approve Safe Reads"
    assert judged(AUTO_APPROVAL_RULES, CHECKPOINT_RULES, action=unsure).rule == "Auto-Approve Safe Operations"
    large = propose("financial_transaction", "high", 0.99, amount=2000)
    assert judged(AUTO_APPROVAL_RULES, CHECKPOINT_RULES, action=large).rule == "High-Value Financial Operations"
    assert judged(AUTO_APPROVAL_RULES, CHECKPOINT_RULES, action=large).scope == "pipeline"


def test_rules_about_actions_ignore_other_approvals() -> None:
    assert [
        judged(CHECKPOINT_RULES, AUTO_APPROVAL_RULES, action=None, kind=kind).requires_approval
        for kind in ApprovalKind
        if kind is not ApprovalKind.ACTION
    ] == [None] * 5
