"""Every key of a rules document in the compiled rulebook."""

from __future__ import annotations

from cairn.core.business_hours import BusinessHours, HourRange
from cairn.core.comparisons import Operator
from cairn.core.conditions import CONFIDENCE, AllOf, AnyOf, Comparison, FieldLookup, Not, OneOf, Root
from cairn.core.rule_verdict import ApprovalTerms
from cairn.core.rules import Rule, Rulebook, RuleSection
from cairn.core.states import OnExpiry
from cairn.definitions.rules import load
from tests.definitions.test_rules import FOLDER


def test_the_sample_checkpoint_rules_are_compiled() -> None:
    assert load((FOLDER / "valid" / "sample-checkpoint-rules.yaml").read_text("utf-8")).rulebook == Rulebook(
        (
            Rule(
                "High-Value Financial Operations",
                RuleSection.CHECKPOINTS,
                False,
                (
                    OneOf("risk_level", ("high", "critical")),
                    OneOf("operation_type", ("financial_transaction", "refund")),
                    Comparison(FieldLookup("amount", Root.ACTION, ("amount",)), Operator.GREATER, 1000),
                ),
                priority=1,
                terms=ApprovalTerms(
                    required_approvals=2,
                    timeout=3600.0,
                    escalate_after=1800.0,
                    escalate_to=("manager@example.com",),
                    channels=("teams", "email"),
                    recipients=("finance-team@example.com",),
                ),
                channels=("teams", "email"),
            ),
            Rule(
                "Data Deletion Safety",
                RuleSection.CHECKPOINTS,
                False,
                (
                    OneOf("operation_type", ("delete", "drop_table", "truncate")),
                    OneOf("risk_level", ("high", "critical")),
                ),
                priority=2,
                terms=ApprovalTerms(
                    timeout=7200.0, on_expiry=OnExpiry.CANCEL, channels=("teams",), recipients=("admin@example.com",)
                ),
                channels=("teams",),
            ),
            Rule(
                "Low Confidence Decisions",
                RuleSection.CHECKPOINTS,
                False,
                (Comparison(CONFIDENCE, Operator.LESS, 0.75),),
                priority=3,
                terms=ApprovalTerms(timeout=1800.0, channels=("teams",)),
                channels=("teams",),
            ),
            Rule(
                "Auto-Approve Safe Operations",
                RuleSection.CHECKPOINTS,
                True,
                (OneOf("risk_level", ("low",)), OneOf("operation_type", ("read", "query", "search"))),
                priority=10,
            ),
        )
    )


def test_the_sample_auto_approval_rules_are_compiled() -> None:
    auto = RuleSection.AUTO_APPROVAL
    assert load((FOLDER / "valid" / "sample-auto-approval.yaml").read_text("utf-8")).rulebook == Rulebook(
        (
            Rule(
                "Auto-Approve Safe Reads",
                auto,
                True,
                (
                    OneOf("risk_level", ("low",)),
                    OneOf("operation_type", ("read", "query", "search")),
                    Comparison(CONFIDENCE, Operator.AT_LEAST, 0.8),
                ),
            ),
            Rule(
                "Auto-Approve Small Refunds",
                auto,
                True,
                (
                    OneOf("risk_level", ("low", "medium")),
                    OneOf("operation_type", ("financial_transaction",)),
                    Comparison(FieldLookup("amount", Root.ACTION, ("amount",)), Operator.AT_MOST, 50, has_floor=True),
                    Comparison(CONFIDENCE, Operator.AT_LEAST, 0.9),
                ),
                terms=ApprovalTerms(timeout=3600.0, channels=("teams",)),
                notify=True,
                channels=("teams",),
            ),
            Rule(
                "Gradual Auto-Approve Emails",
                auto,
                True,
                (
                    OneOf("operation_type", ("send_email",)),
                    OneOf("risk_level", ("low",)),
                    Comparison(CONFIDENCE, Operator.AT_LEAST, 0.85),
                ),
                rollout=25.0,
            ),
        ),
        hours=BusinessHours("America/New_York", HourRange(540, 1020)),
    )


def test_every_key_is_compiled() -> None:
    amount = FieldLookup("amount", Root.ACTION, ("amount",))
    first, second = load(
        (FOLDER / "valid" / "every-trigger-and-every-action-key.yaml").read_text("utf-8")
    ).rulebook.rules
    assert first == Rule(
        "Everything at once",
        RuleSection.CHECKPOINTS,
        False,
        (
            OneOf("risk_level", ("low", "medium", "high", "critical")),
            OneOf("operation_type", ("external_api_call",)),
            Comparison(amount, Operator.BETWEEN, (0, 1000000)),
            AnyOf(
                (
                    Comparison(amount, Operator.AT_LEAST, 1000.5),
                    Comparison(
                        FieldLookup("order.items_count", Root.ACTION, ("order", "items_count")), Operator.NOT_EQUAL, 0
                    ),
                )
            ),
            AllOf(
                (
                    Comparison(
                        FieldLookup("recipients", Root.ACTION, ("recipients",)),
                        Operator.EVERY_IN,
                        ("a@example.com", "b@example.com"),
                    ),
                    AnyOf(
                        (
                            Comparison(
                                FieldLookup("run.is_test", Root.RUN, ("is_test",)),
                                Operator.EQUAL,
                                False,
                            ),
                            AllOf((OneOf("risk_level", ("critical",)), Comparison(CONFIDENCE, Operator.LESS, 0.5))),
                        )
                    ),
                )
            ),
            Not(
                Comparison(
                    FieldLookup("outputs.check.status", Root.OUTPUTS, ("check", "status")),
                    Operator.IN,
                    ("ok", "skipped"),
                )
            ),
            Comparison(CONFIDENCE, Operator.LESS, 0.8),
            Comparison(
                FieldLookup("input.customer.tier", Root.INPUT, ("customer", "tier")), Operator.IN, ("gold", "platinum")
            ),
        ),
        priority=0,
        terms=ApprovalTerms(
            required_approvals=3,
            approvers=("role:approver", "reviewer@example.com"),
            timeout=60.0,
            on_expiry=OnExpiry.ESCALATE,
            escalate_after=30.0,
            escalate_to=("manager@example.com",),
            channels=("slack",),
            recipients=("#approvals",),
        ),
        notify=True,
        channels=("webhook", "email"),
        rollout=0.0,
        audit=12.5,
    )
    assert second == Rule(
        "Timeout that fails",
        RuleSection.CHECKPOINTS,
        False,
        (Comparison(FieldLookup("input.region", Root.INPUT, ("region",)), Operator.EQUAL, "EU"),),
    )


def test_a_section_that_is_off_has_its_rules_disabled() -> None:
    text = (FOLDER / "valid" / "keep-for-people-and-shadow.yaml").read_text("utf-8")
    book = load(text).rulebook
    assert [(rule.name, rule.enabled, rule.shadow) for rule in book.rules] == [
        ("Never the big ones", True, False),
        ("Try this one out", False, True),
    ]
    assert (book.stopped, book.hours) == (True, None)
    off = load(text.replace("enabled: true", "enabled: false", 1)).rulebook
    assert [rule.enabled for rule in off.rules] == [False, False]
