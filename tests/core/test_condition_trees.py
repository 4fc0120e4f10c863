"""Random trees of conditions: another evaluator agrees, and less knowledge never approves more."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from cairn.core.comparisons import MISSING, Operator
from cairn.core.conditions import AllOf, AnyOf, Comparison, Condition, FieldLookup, Not, Root
from tests.core.rule_builders import action, approves, asks, book, evaluate, question

NUMBERS = st.integers(-3, 60) | st.sampled_from([0.1, 49.99, 1e23, 10**23, -0.5])
TEXTS = st.sampled_from(["USD", "usd", " USD", "EUR", "DE", "ＤＥ", ""])  # noqa: RUF001
ITEMS = st.lists(TEXTS, max_size=3)
WRONG = st.sampled_from([MISSING, None, float("nan"), float("inf"), True, {"a": 1}])  # for a number, a text or a list
FIELDS = {"amount": NUMBERS, "fee": NUMBERS, "currency": TEXTS, "country": TEXTS, "to": ITEMS}

# Conditions are also plain tuples: ("amount", "<=", 50), ("all", [...]), ("any", [...]), ("not", ...).
Plain = tuple[Any, ...]


def leaves(*, approving: bool) -> st.SearchStrategy[Plain]:
    numeric = st.sampled_from(["==", "!=", ">", ">=", "<", "<="])
    ranges = st.tuples(NUMBERS, NUMBERS).map(lambda pair: tuple(sorted(pair, key=Fraction)))
    options = st.lists(TEXTS, min_size=1, max_size=3).map(tuple)
    texts = st.sampled_from(["==", "!="] if approving else ["==", "!=", "contains"])
    listed = st.sampled_from(["every_in", "any_in"])
    return st.one_of(
        st.tuples(st.sampled_from(["amount", "fee"]), numeric, NUMBERS),
        st.tuples(st.sampled_from(["amount", "fee"]), st.just("between"), ranges),
        st.tuples(st.sampled_from(["currency", "country"]), texts, TEXTS),
        st.tuples(st.sampled_from(["currency", "country"]), st.sampled_from(["in", "not_in"]), options),
        st.tuples(st.just("to"), listed, options),
    )


def trees(*, approving: bool) -> st.SearchStrategy[Plain]:
    return st.recursive(
        leaves(approving=approving),
        lambda inner: st.one_of(
            st.tuples(st.sampled_from(["all", "any"]), st.lists(inner, min_size=1, max_size=3)),
            st.tuples(st.just("not"), inner),
        ),
        max_leaves=8,
    )


def built(plain: Plain) -> Condition:
    match plain:
        case ("all", inner):
            return AllOf(tuple(map(built, inner)))
        case ("any", inner):
            return AnyOf(tuple(map(built, inner)))
        case ("not", inner):
            return Not(built(inner))
        case (name, operator, value):
            return Comparison(FieldLookup(name, Root.ACTION, (name,)), Operator(operator), value)
        case _:
            raise AssertionError(plain)


# Another evaluator: truth is 1, unknown a half, falsehood 0.
HALF = Fraction(1, 2)


def worth(plain: Plain, facts: Mapping[str, Any], *, approving: bool, negated: bool = False) -> Fraction:
    match plain:
        case ("all", inner):
            return min(worth(one, facts, approving=approving, negated=negated) for one in inner)
        case ("any", inner):
            return max(worth(one, facts, approving=approving, negated=negated) for one in inner)
        case ("not", inner):
            return 1 - worth(inner, facts, approving=approving, negated=not negated)
        case (name, operator, value):
            return of_leaf(facts.get(name), operator, value, approving, negated)
        case _:
            raise AssertionError(plain)


def of_leaf(fact: Any, operator: str, value: Any, approving: bool, negated: bool) -> Fraction:
    if operator in ("every_in", "any_in"):
        return of_list(fact, operator, value, approving)
    if isinstance(value, str) or operator in ("in", "not_in"):
        return of_text(fact, operator, value, approving) if isinstance(fact, str) else HALF
    number = as_written(fact)
    return HALF if number is None else Fraction(of_number(number, operator, value, approving, negated))


def of_list(fact: Any, operator: str, value: tuple[str, ...], approving: bool) -> Fraction:
    if fact == [] and operator == "any_in":
        return Fraction(0)
    if not isinstance(fact, list) or fact == []:
        return HALF
    items = cast("list[str]", fact)
    each = [max(alike(item, option, approving) for option in value) for item in items]
    return min(each) if operator == "every_in" else max(each)


def of_text(fact: str, operator: str, value: Any, approving: bool) -> Fraction:
    match operator:
        case "==":
            return alike(fact, value, approving)
        case "!=":
            return 1 - alike(fact, value, approving)
        case "in":
            return max(alike(fact, option, approving) for option in value)
        case "not_in":
            return 1 - max(alike(fact, option, approving) for option in value)
        case _:
            return Fraction(plainly(value) in plainly(fact))


def of_number(number: Fraction, operator: str, value: Any, approving: bool, negated: bool) -> bool:
    if operator == "between":
        return as_written(value[0]) <= number <= as_written(value[1])
    limit = as_written(value)
    match operator:
        case "<" | "<=":
            is_match = number < limit or (operator == "<=" and number == limit)
            return is_match and (number >= 0 or not approving or negated)
        case ">" | ">=":
            is_match = number > limit or (operator == ">=" and number == limit)
            return is_match or (approving and negated and number < 0)
        case _:
            return (number == limit) is (operator == "==")


def as_written(value: Any) -> Any:
    """The number as it is written, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value or abs(value) == float("inf"):  # noqa: PLR0124
        return None
    return Fraction(str(value))


def alike(fact: str, value: str, approving: bool) -> Fraction:
    if fact == value:
        return Fraction(1)
    if plainly(fact) == plainly(value):
        return HALF if approving else Fraction(1)
    return Fraction(0)


def plainly(text: str) -> str:
    return text.replace("Ｄ", "D").replace("Ｅ", "E").strip().lower()  # noqa: RUF001


FACTS = st.fixed_dictionaries({name: values | WRONG for name, values in FIELDS.items()})
KNOWN = st.fixed_dictionaries(FIELDS)


def parameters(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value is not MISSING}


@given(st.lists(trees(approving=False), min_size=1, max_size=3), FACTS)
def test_a_rule_that_requires_approval_matches_unless_it_is_false(
    conditions: list[Plain], facts: dict[str, Any]
) -> None:
    rule = asks("ask", *map(built, conditions))
    verdict = evaluate([book(rule)], question(proposed=action(**parameters(facts))))
    worst = min(worth(plain, facts, approving=False) for plain in conditions)
    assert verdict.requires_approval is (True if worst > 0 else None)
    values = [Fraction(HALF if c.matched is None else c.matched) for c in verdict.evaluated_rules[0].conditions]
    assert values == [worth(plain, facts, approving=False) for plain in conditions]


@given(st.lists(trees(approving=True), min_size=1, max_size=3), FACTS)
def test_a_rule_approves_only_if_it_is_true(conditions: list[Plain], facts: dict[str, Any]) -> None:
    rule = approves("approve", *map(built, conditions))
    verdict = evaluate([book(rule)], question(proposed=action(**parameters(facts))))
    worst = min(worth(plain, facts, approving=True) for plain in conditions)
    assert verdict.requires_approval is (False if worst == 1 else None)


@given(
    st.lists(trees(approving=True), min_size=1, max_size=3),
    KNOWN,
    st.dictionaries(st.sampled_from(sorted(FIELDS)), WRONG, min_size=1),
)
def test_values_that_are_missing_or_of_another_type_never_approve_more(
    conditions: list[Plain], facts: dict[str, Any], less: dict[str, Any]
) -> None:
    books = [book(approves("approve", *map(built, conditions)))]
    before = evaluate(books, question(proposed=action(**parameters(facts))))
    after = evaluate(books, question(proposed=action(**parameters(facts | less))))
    if after.requires_approval is False:
        assert before.requires_approval is False
