"""Conditions: every kind of trigger, every operator, and the displayed values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from cairn.core.comparisons import MISSING, Operator
from cairn.core.conditions import (
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    ConditionFacts,
    FieldLookup,
    Not,
    OneOf,
    Root,
    kinds_of,
    with_floors,
)
from cairn.core.conditions import evaluate as evaluate_condition
from cairn.core.display import display
from cairn.core.rule_verdict import ConditionResult, RiskLevel, RuleQuestion
from cairn.core.states import ApprovalKind
from tests.core.rule_builders import ALWAYS, action, compared, field, question, sure
from tests.mentions import mentions


def evaluate(condition: Condition, of: RuleQuestion, data: Mapping[str, Any] | None = None) -> ConditionResult:
    facts = ConditionFacts(of, lambda field: (data or {}).get(field.path, MISSING))
    return evaluate_condition(condition, facts, is_exact=False)


REFUND = question(proposed=action("refund", RiskLevel.MEDIUM, 0.87, amount=99.99, order={"items": [{"id": 7}]}))
PLAIN = question(ApprovalKind.COMPLETION)
PLAIN_ACTION = question(proposed=action())


@pytest.mark.parametrize(
    ("condition", "of", "expected"),
    [
        (OneOf("kind", ("start", "action")), REFUND, ConditionResult("kind", "start or action", "action", True)),
        (OneOf("kind", ("start",)), REFUND, ConditionResult("kind", "start", "action", False)),
        (
            OneOf("risk_level", ("high", "critical")),
            REFUND,
            ConditionResult("risk_level", "high or critical", "medium", False),
        ),
        (OneOf("risk_level", ("medium",)), REFUND, ConditionResult("risk_level", "medium", "medium", True)),
        (OneOf("risk_level", ("medium",)), PLAIN, ConditionResult("risk_level", "medium", "none", None)),
        (OneOf("operation_type", ("refund",)), REFUND, ConditionResult("operation_type", "refund", "refund", True)),
        (OneOf("operation_type", ("refund",)), PLAIN, ConditionResult("operation_type", "refund", "none", None)),
        (sure(">=", 0.8), REFUND, ConditionResult("confidence", ">= 0.8", "0.87", True)),
        (sure("<", 0.8), REFUND, ConditionResult("confidence", "< 0.8", "0.87", False)),
        (sure("<", 0.8), PLAIN, ConditionResult("confidence", "< 0.8", "missing", None)),
        (compared("amount", "<=", 50), REFUND, ConditionResult("amount", "<= 50", "99.99", False)),
        (compared("order.items.0.id", "==", 7), REFUND, ConditionResult("order.items.0.id", "== 7", "7", True)),
        (compared("order.items.1.id", "==", 7), REFUND, ConditionResult("order.items.1.id", "== 7", "missing", None)),
        (
            Comparison(FieldLookup("o", Root.ACTION, ("order", "items", "0", "id")), Operator.LESS, 8),
            REFUND,
            ConditionResult("o", "< 8", "7", True),
        ),
        (compared("order.items.id", "==", 7), REFUND, ConditionResult("order.items.id", "== 7", "missing", None)),
        (compared("order.id", "==", 7), REFUND, ConditionResult("order.id", "== 7", "missing", None)),
        (compared("amount.cents", "==", 7), REFUND, ConditionResult("amount.cents", "== 7", "missing", None)),
    ],
)
def test_each_trigger_kind_is_evaluated(condition: Condition, of: RuleQuestion, expected: ConditionResult) -> None:
    assert evaluate(condition, of) == expected


def test_combined_conditions_are_one_result() -> None:
    either_one = AnyOf((compared("amount", ">", 1000), compared("input.region", "==", "EU")))
    result = evaluate(either_one, REFUND, {"input.region": "EU"})
    assert result == ConditionResult(
        "amount, input.region",
        "amount > 1000 or input.region == EU",
        "amount is 99.99, input.region is EU",
        True,
    )
    assert evaluate(either_one, REFUND, {"input.region": "US"}).matched is False
    assert evaluate(either_one, REFUND).matched is None


def test_conditions_can_be_nested() -> None:
    nested = AllOf((OneOf("operation_type", ("refund",)), Not(AnyOf((compared("amount", ">", 1000), sure("<", 0.5))))))
    result = evaluate(nested, REFUND)
    assert result.matched is True
    assert result.field == "operation_type, amount, confidence"
    assert result.expected == "(operation_type refund) and not (amount > 1000 or confidence < 0.5)"
    assert evaluate(Not(nested), REFUND).matched is False
    assert evaluate(Not(compared("total", ">", 1000)), REFUND).matched is None


def test_operations_are_compared_exactly_only_by_approving_rules() -> None:
    of = question(proposed=action("Refund"))
    facts = ConditionFacts(of, lambda _: MISSING)
    condition = OneOf("operation_type", ("refund",))
    assert evaluate_condition(condition, facts, is_exact=False).matched is True
    assert evaluate_condition(condition, facts, is_exact=True).matched is None


@pytest.mark.parametrize(
    ("operator", "expected", "amounts"),
    [
        ("<=", ">= 0 and <= 50", {50: True, 0: True, 51: False, -1: False, -1_000_000: False}),
        ("<", ">= 0 and < 50", {50: False, 49.99: True, -0.01: False}),
    ],
)
def test_an_upper_bound_of_an_approving_rule_excludes_negative_numbers(
    operator: str, expected: str, amounts: dict[float, bool]
) -> None:
    bounded = with_floors(compared("amount", operator, 50))
    for amount, is_match in amounts.items():
        result = evaluate(bounded, question(proposed=action(amount=amount)))
        assert result == ConditionResult(
            "amount", expected, f"{amount:g}" if amount != -1_000_000 else "-1000000", is_match
        )
    assert evaluate(bounded, question(proposed=action(amount="5"))).matched is None


def test_the_negation_of_a_lower_bound_is_an_upper_bound() -> None:
    bounded = with_floors(Not(compared("amount", ">", 50)))
    matches = {n: evaluate(bounded, question(proposed=action(amount=n))).matched for n in (51, 50, 0, -1)}
    assert matches == {51: False, 50: True, 0: True, -1: False}
    assert evaluate(bounded, PLAIN_ACTION).expected == "not (amount > 50 or < 0)"
    assert with_floors(sure("<", 0.5)) == sure("<", 0.5)
    assert with_floors(compared("amount", "between", (-5, 50))) == compared("amount", "between", (-5, 50))


@pytest.mark.parametrize(
    ("conditions", "kinds"),
    [
        ((ALWAYS,), set(ApprovalKind)),
        ((compared("input.tier", "==", "gold"),), set(ApprovalKind)),
        ((compared("amount", ">", 5),), {ApprovalKind.ACTION}),
        ((sure("<", 0.5),), {ApprovalKind.ACTION}),
        ((OneOf("risk_level", ("high",)),), {ApprovalKind.ACTION}),
        ((Not(OneOf("operation_type", ("refund",))),), {ApprovalKind.ACTION}),
        ((AnyOf((ALWAYS, compared("result.total", ">", 5))),), {ApprovalKind.COMPLETION}),
        ((OneOf("kind", ("start", "completion")),), {ApprovalKind.START, ApprovalKind.COMPLETION}),
    ],
)
def test_conditions_decide_which_approvals_a_rule_is_about(
    conditions: tuple[Condition, ...], kinds: set[ApprovalKind]
) -> None:
    assert kinds_of(conditions) == kinds


def test_each_root_has_its_own_values() -> None:
    """A parameter named like a root doesn't replace it."""
    of = question(proposed=action(input={"tier": "gold"}, run={"created_by": "admin"}, tier="gold", amount=5))
    fields: list[str] = []
    facts = ConditionFacts(of, lambda field: fields.append(field.path) or "silver")
    paths = ("input.tier", "run.created_by", "outputs.check.tier", "amount", "action.input.tier", "input.tier")
    assert [facts.value(field(path))[0] for path in paths] == ["silver", "silver", "silver", 5, "gold", "silver"]
    assert fields == ["input.tier", "run.created_by", "outputs.check.tier"]
    assert facts.value(field("total"))[0] is MISSING


@pytest.mark.parametrize("name", ["password", "mail.api_key", "headers.Authorization", "access-token"])
def test_secrets_are_not_shown(name: str) -> None:
    path = f"input.{name}"
    assert evaluate(compared(path, "!=", "x"), PLAIN, {path: "geheim"}) == ConditionResult(path, "!= x", "hidden", True)
    assert evaluate(compared(path, "!=", "x"), PLAIN).actual == "missing"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (False, "false"),
        (1.5, "1.5"),
        ("a" * 201, "a" * 199 + "…"),
        (["a", 1, [2], {"b": 1}], "[a, 1, …, …]"),
        (("DE", None), "[DE, null]"),
        (list(range(21)), mentions("21")),
        ({"a": 1}, mentions("1")),
        (int("9" * 300), "9" * 199 + "…"),
    ],
)
def test_long_values_are_shortened(value: Any, text: str) -> None:
    assert display(value) == text


def test_comparisons_are_formatted_as_written() -> None:
    assert compared("country", "not_in", ("DE", 7)).expected == "not_in [DE, 7]"
