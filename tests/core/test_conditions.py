"""Conditions: every kind of trigger, every operator, and the displayed values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from cairn.core.conditions import (
    MISSING,
    AnyOf,
    Comparison,
    Condition,
    ConditionFacts,
    FieldLookup,
    OneOf,
    Operator,
    display,
    matches,
)
from cairn.core.rule_verdict import ConditionResult, RiskLevel, RuleQuestion
from cairn.core.states import ApprovalKind
from tests.core.rule_builders import action, compared, field, question, sure
from tests.mentions import mentions


def evaluate(condition: Condition, of: RuleQuestion, data: Mapping[str, Any] | None = None) -> ConditionResult:
    return condition.evaluate(ConditionFacts(of, lambda path: (data or {}).get(path, MISSING)), is_cautious=True)


REFUND = question(proposed=action("refund", RiskLevel.MEDIUM, 0.87, amount=99.99, order={"items": [{"id": 7}]}))
PLAIN = question(ApprovalKind.COMPLETION)


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
        (OneOf("risk_level", ("medium",)), PLAIN, ConditionResult("risk_level", "medium", "none", False)),
        (OneOf("operation_type", ("refund",)), REFUND, ConditionResult("operation_type", "refund", "refund", True)),
        (OneOf("operation_type", ("refund",)), PLAIN, ConditionResult("operation_type", "refund", "none", False)),
        (sure(">=", 0.8), REFUND, ConditionResult("confidence", ">= 0.8", "0.87", True)),
        (sure("<", 0.8), REFUND, ConditionResult("confidence", "< 0.8", "0.87", False)),
        (sure("<", 0.8), PLAIN, ConditionResult("confidence", "< 0.8", "missing", False)),
        (compared("amount", "<=", 50), REFUND, ConditionResult("amount", "<= 50", "99.99", False)),
        (compared("order.items.0.id", "==", 7), REFUND, ConditionResult("order.items.0.id", "== 7", "7", True)),
        (compared("order.items.1.id", "==", 7), REFUND, ConditionResult("order.items.1.id", "== 7", "missing", False)),
        (
            Comparison(FieldLookup("o", ("order", "items", "0", "id")), Operator.LESS, 8),
            REFUND,
            ConditionResult("o", "< 8", "7", True),
        ),
        (compared("order.items.id", "==", 7), REFUND, ConditionResult("order.items.id", "== 7", "missing", False)),
        (compared("order.id", "==", 7), REFUND, ConditionResult("order.id", "== 7", "missing", False)),
        (compared("amount.cents", "==", 7), REFUND, ConditionResult("amount.cents", "== 7", "missing", False)),
    ],
)
def test_each_trigger_kind_is_evaluated(condition: Condition, of: RuleQuestion, expected: ConditionResult) -> None:
    assert evaluate(condition, of) == expected


OPERATOR_CASES: list[tuple[Any, str, Any, bool, bool]] = [
    # value, operator, expected value, matches in an approving rule, matches in a rule that requires approval
    (5, "==", 5.0, True, True),
    (1, "==", True, False, False),
    (None, "==", None, True, True),
    ("EU", "==", "eu", False, False),
    (5, "!=", 5, False, False),
    ("5", "!=", 5, True, True),
    (6, ">", 5, True, True),
    (5, ">", 5, False, False),
    (5, ">=", 5, True, True),
    (4, "<", 5, True, True),
    (5.0, "<=", 5, True, True),
    (6, "<=", 5, False, False),
    (2**70, ">", 2**70 - 1, True, True),
    ("5000", ">", 5, False, True),
    (True, ">", 0, False, True),
    (None, ">", 0, False, False),
    ("DE", "in", ("DE", "AT"), True, True),
    (7.0, "in", ("DE", 7), True, True),
    (True, "in", (1,), False, False),
    ("FR", "not_in", ("DE", "AT"), True, True),
    ("DE", "not_in", ("DE", "AT"), False, False),
    (["new", "urgent"], "contains", "urgent", True, True),
    (["new"], "contains", "urgent", False, False),
    ("very urgent", "contains", "urgent", True, True),
    ("very urgent", "contains", 5, False, False),
    ({"vip": 1}, "contains", "vip", True, True),
    ({"vip": 1}, "contains", 5, False, False),
    (5, "contains", 5, False, True),
    (None, "contains", "x", False, False),
    *((MISSING, operator.value, (1,), False, operator.value in ("!=", "not_in")) for operator in Operator),
]


@pytest.mark.parametrize(("value", "operator", "expected", "if_approving", "if_asking"), OPERATOR_CASES)
def test_operators(value: Any, operator: str, expected: Any, if_approving: bool, if_asking: bool) -> None:
    """When the result is uncertain, a rule that requires approval matches and one that approves doesn't."""
    assert matches(value, Operator(operator), expected, False) is if_approving
    assert matches(value, Operator(operator), expected, True) is if_asking


def test_every_operator_is_in_the_table() -> None:
    assert {operator for value, operator, *_ in OPERATOR_CASES if value is not MISSING} == {o.value for o in Operator}


def test_a_list_matches_any_of_its_values() -> None:
    test = AnyOf((compared("amount", ">", 1000), compared("region", "==", "EU")))
    result = evaluate(test, REFUND, {"region": "EU"})
    assert result == ConditionResult(
        "amount, region", "amount > 1000 or region == EU", "amount is 99.99, region is EU", True
    )
    assert not evaluate(test, REFUND).matched


def test_action_parameters_are_read_before_artifacts() -> None:
    paths: list[str] = []
    facts = ConditionFacts(REFUND, lambda path: paths.append(path) or 1)
    assert [facts.value(field(path))[0] for path in ("amount", "total", "total")] == [99.99, 1, 1]
    assert paths == ["total"]


@pytest.mark.parametrize("path", ["password", "mail.api_key", "headers.Authorization", "access-token"])
def test_secrets_are_not_shown(path: str) -> None:
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
