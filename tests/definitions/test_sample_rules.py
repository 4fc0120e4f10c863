"""Every rule of the two sample files does what its comment says, for actions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest

from cairn.core.action_rules import ActionRules
from cairn.core.comparisons import MISSING
from cairn.core.rule_judge import judge_action
from cairn.core.rule_verdict import ApprovalTerms, ProposedAction, RiskLevel, RuleQuestion
from cairn.core.rules import GLOBAL, ScopedRulebook
from cairn.core.seats import Requirement, SeatGroup
from cairn.core.states import ApprovalKind, OnExpiry
from cairn.definitions.rules import KnownOperation, approves_once, coverage, load
from tests.definitions.test_rules import FOLDER

CHECKPOINT_RULES = "sample-checkpoint-rules.yaml"
AUTO_APPROVAL = "sample-auto-approval.yaml"
OPEN = datetime(2026, 3, 2, 15, 0, tzinfo=UTC)  # Monday, 10:00 in New York
HIGH_VALUE, DELETION = "High-Value Financial Operations", "Data Deletion Safety"
UNSURE, SAFE = "Low Confidence Decisions", "Auto-Approve Safe Operations"
READS, REFUNDS, EMAILS = "Auto-Approve Safe Reads", "Auto-Approve Small Refunds", "Gradual Auto-Approve Emails"


class Case(NamedTuple):
    file: str
    operation: str
    risk: str
    confidence: float | None
    parameters: dict[str, Any]
    asking: list[str]
    approving: list[str]
    at: str = "2026-03-02T15:00"


def amount(value: Any) -> dict[str, Any]:
    return {"amount": value}


CASES = {
    # Critical financial transactions
    "over 1000": Case(CHECKPOINT_RULES, "refund", "high", 0.9, amount(1000.01), [HIGH_VALUE], []),
    "exactly 1000": Case(CHECKPOINT_RULES, "refund", "high", 0.9, amount(1000), [], []),
    "a transaction": Case(CHECKPOINT_RULES, "financial_transaction", "critical", 0.9, amount(5000), [HIGH_VALUE], []),
    "medium risk": Case(CHECKPOINT_RULES, "refund", "medium", 0.9, amount(5000), [], []),
    "another operation": Case(CHECKPOINT_RULES, "send_email", "high", 0.9, amount(5000), [], []),
    "no amount": Case(CHECKPOINT_RULES, "refund", "high", 0.9, {}, [HIGH_VALUE], []),
    "an amount as text": Case(CHECKPOINT_RULES, "refund", "high", 0.9, amount("5"), [HIGH_VALUE], []),
    "another spelling": Case(CHECKPOINT_RULES, "Refund ", "high", 0.9, amount(5000), [HIGH_VALUE], []),
    # Data deletion operations
    "deletion": Case(CHECKPOINT_RULES, "drop_table", "critical", 0.9, {}, [DELETION], []),
    "deletion of low risk": Case(CHECKPOINT_RULES, "truncate", "low", 0.9, {}, [], []),
    # Low-confidence AI decisions
    "not confident": Case(CHECKPOINT_RULES, "send_email", "low", 0.74, {}, [UNSURE], []),
    "confident enough": Case(CHECKPOINT_RULES, "send_email", "low", 0.75, {}, [], []),
    "no confidence": Case(CHECKPOINT_RULES, "send_email", "low", None, {}, [UNSURE], []),
    "two rules": Case(CHECKPOINT_RULES, "delete", "high", 0.1, {}, [DELETION, UNSURE], []),
    # Auto-approve low-risk operations
    "safe": Case(CHECKPOINT_RULES, "query", "low", 0.75, {}, [], [SAFE]),
    "safe, but not confident": Case(CHECKPOINT_RULES, "query", "low", 0.5, {}, [UNSURE], []),
    "almost safe": Case(CHECKPOINT_RULES, "query", "medium", 0.9, {}, [], []),
    "almost a query": Case(CHECKPOINT_RULES, "Query", "low", 0.9, {}, [], []),
    # Low-risk read operations
    "a read": Case(AUTO_APPROVAL, "read", "low", 0.8, {}, [], [READS]),
    "a read, not confident": Case(AUTO_APPROVAL, "read", "low", 0.79, {}, [], []),
    "a read without confidence": Case(AUTO_APPROVAL, "read", "low", None, {}, [], []),
    "a risky read": Case(AUTO_APPROVAL, "read", "medium", 0.9, {}, [], []),
    "at night": Case(AUTO_APPROVAL, "read", "low", 0.9, {}, [], [], "2026-03-03T03:00"),
    "on Saturday": Case(AUTO_APPROVAL, "read", "low", 0.9, {}, [], [], "2026-03-07T15:00"),
    "at five": Case(AUTO_APPROVAL, "read", "low", 0.9, {}, [], [], "2026-03-02T22:00"),
    # Small financial transactions
    "50": Case(AUTO_APPROVAL, "financial_transaction", "medium", 0.9, amount(50), [], [REFUNDS]),
    "0": Case(AUTO_APPROVAL, "financial_transaction", "low", 0.9, amount(0), [], [REFUNDS]),
    "50.01": Case(AUTO_APPROVAL, "financial_transaction", "low", 0.9, amount(50.01), [], []),
    "-50": Case(AUTO_APPROVAL, "financial_transaction", "low", 0.9, amount(-50), [], []),
    "50 as text": Case(AUTO_APPROVAL, "financial_transaction", "low", 0.9, amount("50"), [], []),
    "high risk": Case(AUTO_APPROVAL, "financial_transaction", "high", 0.9, amount(5), [], []),
    "unsure": Case(AUTO_APPROVAL, "financial_transaction", "low", 0.89, amount(5), [], []),
    # Gradual rollout for email operations
    "an email": Case(AUTO_APPROVAL, "send_email", "low", 0.85, {}, [], [EMAILS]),
    "an email, unsure": Case(AUTO_APPROVAL, "send_email", "low", 0.84, {}, [], []),
}
DRAWN = "draw 2"  # in the rollout of 25 %


def judged(case: Case, draw_key: str = DRAWN) -> ActionRules:
    book = ScopedRulebook(GLOBAL, 1, load((FOLDER / "valid" / case.file).read_bytes()).rulebook)
    action = ProposedAction(case.operation, case.parameters, RiskLevel(case.risk), case.confidence)
    at = datetime.fromisoformat(case.at).replace(tzinfo=UTC)
    question = RuleQuestion(ApprovalKind.ACTION, "", "e", "step", at, action)
    return judge_action([book], question, lambda _: MISSING, draw_key=draw_key)


@pytest.mark.parametrize("name", CASES)
def test_a_sample_rule_does_what_its_comment_says(name: str) -> None:
    case = CASES[name]
    found = judged(case)
    assert [rule.rule for rule in found.asking] == case.asking
    assert [rule.rule for rule in found.approving if rule.can_approve and not found.asking] == case.approving


def test_large_transactions_require_two_approvals_within_an_hour() -> None:
    [rule] = judged(CASES["over 1000"]).asking
    assert rule.requirement == Requirement(HIGH_VALUE, GLOBAL, ((SeatGroup((), 2),),))
    assert rule.terms == ApprovalTerms(
        required_approvals=2,
        timeout=3600.0,
        escalate_after=1800.0,
        escalate_to=("manager@example.com",),
        channels=("teams", "email"),
        recipients=("finance-team@example.com",),
    )


def test_a_deletion_without_approval_cancels_the_run_after_two_hours() -> None:
    [rule] = judged(CASES["deletion"]).asking
    assert (rule.terms.timeout, rule.terms.on_expiry) == (7200.0, OnExpiry.CANCEL)
    assert (rule.terms.channels, rule.terms.recipients) == (("teams",), ("admin@example.com",))


def test_both_rules_of_a_deletion_without_confidence_count() -> None:
    first, second = judged(CASES["two rules"]).asking
    assert (first.terms.timeout, second.terms.timeout) == (7200.0, 1800.0)
    assert {rule.rule_id for rule in (first, second)} == {
        "global/data-deletion-safety",
        "global/low-confidence-decisions",
    }


def test_a_quarter_of_the_emails_is_approved() -> None:
    found = [judged(CASES["an email"], str(n)).approving[0] for n in range(1000)]
    assert 200 < sum(rule.can_approve for rule in found) < 300


def test_notifications_and_records_of_automatic_approvals() -> None:
    reads, refunds = judged(CASES["a read"]).approving[0], judged(CASES["50"]).approving[0]
    assert [(rule.notify, rule.terms.channels, rule.log) for rule in (reads, refunds)] == [
        (False, (), True),
        (True, ("teams",), True),
    ]


def test_what_the_sample_rules_leave_open() -> None:
    """They have no limits, so they approve an operation above low risk once."""
    known = KnownOperation("financial_transaction", ("amount", "currency", "account", "memo"), frozenset(), None)
    rules = load((FOLDER / "valid" / AUTO_APPROVAL).read_bytes()).rulebook.rules
    found = {rule.name: coverage(rule, {known.name: known}) for rule in rules}
    assert {name: (cover.kinds, cover.operations) for name, cover in found.items()} == {
        READS: ((ApprovalKind.ACTION,), ("query", "read", "search")),
        REFUNDS: ((ApprovalKind.ACTION,), ("financial_transaction",)),
        EMAILS: ((ApprovalKind.ACTION,), ("send_email",)),
    }
    assert found[REFUNDS].open_parameters == (("financial_transaction", ("currency", "account", "memo")),)
    assert all(map(approves_once, rules))
