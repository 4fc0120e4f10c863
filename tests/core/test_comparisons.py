"""Comparisons: every operator with values of every type, as true, false or unknown."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from cairn.core.comparisons import MAX_LIST, MAX_TEXT, MISSING, Operator, Options, Truth, both, compare, either, negate

LISTS = ("in", "not_in", "every_in", "any_in")


def compared(value: Any, operator: str, expected: Any, *, is_exact: bool) -> Truth:
    return compare(value, Operator(operator), Options(expected) if operator in LISTS else expected, is_exact=is_exact)


# value, operator, expected value, the result for a rule that requires approval, and for one that approves
CASES: list[tuple[Any, str, Any, Truth, Truth]] = [
    (5, "==", 5.0, True, True),
    (1, "==", True, None, None),
    (True, "==", True, True, True),
    (False, "==", True, False, False),
    ("5", "==", 5, None, None),
    ("5", "!=", 5, None, None),
    (5, "!=", 5, False, False),
    (6, "!=", 5, True, True),
    ("DE", "==", "DE", True, True),
    ("FR", "==", "DE", False, False),
    ("x", "==", None, False, False),
    ("x", "!=", None, True, True),
    ([5], "==", 5, None, None),
    ({"a": 5}, "!=", 5, None, None),
    (6, ">", 5, True, True),
    (5, ">", 5, False, False),
    (5, ">=", 5, True, True),
    (4, "<", 5, True, True),
    (5.0, "<=", 5, True, True),
    (6, "<=", 5, False, False),
    (0.1, "<=", 0.1, True, True),
    (2**70, ">", 2**70 - 1, True, True),
    (10**23, "==", 1e23, True, True),  # as written, although the float is a little less
    (10**23 + 1, ">", 1e23, True, True),
    (10**400, ">", 1e308, True, True),
    ("5000", ">", 5, None, None),
    ("1000 EUR", ">", 5, None, None),
    (True, ">", 0, None, None),
    ([6], ">", 5, None, None),
    (10, "between", (10, 50), True, True),
    (50, "between", (10, 50), True, True),
    (9.99, "between", (10, 50), False, False),
    (50.01, "between", (10, 50), False, False),
    ("20", "between", (10, 50), None, None),
    ("DE", "in", ("DE", "AT"), True, True),
    (7.0, "in", ("DE", 7), True, True),
    ("FR", "in", ("DE", 7), None, None),
    (True, "in", (1,), None, None),
    ("FR", "in", ("DE", None), False, False),
    ("FR", "not_in", ("DE", "AT"), True, True),
    ("DE", "not_in", ("DE", "AT"), False, False),
    ("7", "not_in", ("DE", 7), None, None),
    (["new", "urgent"], "contains", "urgent", True, True),
    (["new"], "contains", "urgent", False, False),
    (["new", 5], "contains", "urgent", None, None),
    ([], "contains", "urgent", False, False),
    ("very urgent", "contains", "urgent", True, True),
    ("calm", "contains", "urgent", False, False),
    ("very urgent", "contains", 5, None, None),
    ({"vip": 1}, "contains", "vip", None, None),
    (5, "contains", 5, None, None),
    (["a", "b"], "every_in", ("a", "b", "c"), True, True),
    (["a", "x"], "every_in", ("a", "b"), False, False),
    (["a", 5], "every_in", ("a", "b"), None, None),
    ("a", "every_in", ("a", "b"), True, True),  # an address field accepts one address, too
    ([], "every_in", ("a",), None, None),
    ({"a": 1}, "every_in", ("a",), None, None),
    (["a", "x"], "any_in", ("a", "b"), True, True),
    (["x"], "any_in", ("a", "b"), False, False),
    ([], "any_in", ("a",), False, False),
    ([None, "x"], "any_in", ("a",), None, None),
    # The same text, written in another way: asking rules treat it as equal, approving ones as unknown.
    ("usd", "==", "USD", True, None),
    (" USD ", "==", "USD", True, None),
    ("ＵＳＤ", "==", "USD", True, None),  # noqa: RUF001
    ("usd", "!=", "USD", False, None),
    ("straße", "==", "STRASSE", True, None),
    ("usd", "in", ("USD", "EUR"), True, None),
    ("usd", "not_in", ("USD", "EUR"), False, None),
    (["USD", "usd"], "every_in", ("USD",), True, None),
    (["usd"], "any_in", ("USD",), True, None),
    ("VERY URGENT", "contains", "urgent", True, None),
    (["URGENT"], "contains", "urgent", True, None),
    # Long values are not compared.
    ("x" * (MAX_TEXT + 1), "==", "y", None, None),
    ("x" * (MAX_TEXT + 1), "contains", "y", None, None),
    ("x" * (MAX_TEXT + 1), "in", ("y",), None, None),
    (["a"] * (MAX_LIST + 1), "every_in", ("a",), None, None),
    (["a"] * (MAX_LIST + 1), "any_in", ("a",), None, None),
]


@pytest.mark.parametrize(("value", "operator", "expected", "if_asking", "if_approving"), CASES)
def test_operators(value: Any, operator: str, expected: Any, if_asking: Truth, if_approving: Truth) -> None:
    assert compared(value, operator, expected, is_exact=False) is if_asking
    assert compared(value, operator, expected, is_exact=True) is if_approving


def test_every_operator_is_in_the_table() -> None:
    assert {operator for _, operator, *_ in CASES} == {operator.value for operator in Operator}


@pytest.mark.parametrize("operator", Operator)
@pytest.mark.parametrize("value", [MISSING, None, math.nan, math.inf, -math.inf], ids=str)
def test_values_that_cannot_be_compared_are_unknown(value: Any, operator: Operator) -> None:
    expected = (0, 1) if operator in (*LISTS, "between") else 1
    if operator is Operator.CONTAINS or value is MISSING or value is None or operator not in ("every_in", "any_in"):
        assert compared(value, operator, expected, is_exact=True) is None
        assert compared(value, operator, expected, is_exact=False) is None


def test_truth_tables() -> None:
    """Three-valued logic, written down for each pair."""
    table: dict[tuple[Truth, Truth], tuple[Truth, Truth]] = {
        # left, right: all, any
        (True, True): (True, True),
        (True, False): (False, True),
        (True, None): (None, True),
        (False, False): (False, False),
        (False, None): (False, None),
        (None, None): (None, None),
    }
    for left, right in itertools.product((True, False, None), repeat=2):
        pair = (left, right) if (left, right) in table else (right, left)
        assert (both((left, right)), either((left, right))) == table[pair]
    assert [negate(truth) for truth in (True, False, None)] == [False, True, None]
    assert (both(()), either(())) == (True, False)


def test_a_long_list_is_compared_in_linear_time() -> None:
    """Ten million pairs would take seconds, inside a transaction."""
    values = [f"user{n}@example.com" for n in range(MAX_LIST)]
    options = Options(values[:1000])
    assert compare(values, Operator.EVERY_IN, options, is_exact=False) is False
    assert compare(values[:1000] * 10, Operator.EVERY_IN, options, is_exact=True) is True
