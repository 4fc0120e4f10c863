"""Compare a value with the value of a condition. The result is true, false or unknown."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from enum import Enum, StrEnum
from operator import ge, gt, le, lt
from typing import Any, Final, TypeAlias, cast

Truth: TypeAlias = bool | None  # None: unknown
MAX_TEXT = 100_000  # characters of a compared text; the result for a longer one is unknown
MAX_LIST = 10_000  # items of a compared list; the result for a longer one is unknown
_EXACT = 2**53  # integers up to this size are exact as floating-point numbers


class Operator(StrEnum):
    EQUAL = "=="
    NOT_EQUAL = "!="
    GREATER = ">"
    AT_LEAST = ">="
    LESS = "<"
    AT_MOST = "<="
    BETWEEN = "between"  # includes both ends
    IN = "in"
    NOT_IN = "not_in"
    CONTAINS = "contains"
    EVERY_IN = "every_in"
    ANY_IN = "any_in"


ORDERS: Mapping[Operator, Callable[[Any, Any], bool]] = {
    Operator.GREATER: gt,
    Operator.AT_LEAST: ge,
    Operator.LESS: lt,
    Operator.AT_MOST: le,
}


class MissingValue(Enum):
    """The type of MISSING, which differs from null."""

    MISSING = "missing"


MISSING: Final = MissingValue.MISSING


def both(truths: Iterable[Truth]) -> Truth:
    """`all`: false if one is false, else unknown if one is unknown."""
    is_unknown = False
    for truth in truths:
        if truth is False:
            return False
        is_unknown = is_unknown or truth is None
    return None if is_unknown else True


def either(truths: Iterable[Truth]) -> Truth:
    """`any`: true if one is true, else unknown if one is unknown."""
    is_unknown = False
    for truth in truths:
        if truth is True:
            return True
        is_unknown = is_unknown or truth is None
    return None if is_unknown else False


def negate(truth: Truth) -> Truth:
    return None if truth is None else not truth


def compare(value: Any, operator: Operator, expected: Any, *, is_exact: bool) -> Truth:
    """Whether the value passes the comparison. Missing, null and values of another type are unknown.

    `expected` is an `Options` for the operators that take a list, except `between`.
    Texts that differ only in case, outer spaces or Unicode form are the same for a rule that requires approval. For a
    rule that approves (`is_exact`) they are neither the same nor different.
    """
    if value is MISSING or value is None:
        return None
    match operator:
        case Operator.EQUAL:
            return _equal(value, expected, is_exact)
        case Operator.NOT_EQUAL:
            return negate(_equal(value, expected, is_exact))
        case Operator.IN:
            return expected.include(value, is_exact=is_exact)
        case Operator.NOT_IN:
            return negate(expected.include(value, is_exact=is_exact))
        case Operator.BETWEEN:
            low, high = expected
            return both((_order(value, ge, low), _order(value, le, high)))
        case Operator.CONTAINS:
            return _contains(value, expected, is_exact)
        case Operator.EVERY_IN:
            items = _items(value)
            return both(expected.include(item, is_exact=is_exact) for item in items) if items else None
        case Operator.ANY_IN:
            items = _items(value)
            return None if items is None else either(expected.include(item, is_exact=is_exact) for item in items)
        case _:
            return _order(value, ORDERS[operator], expected)


def _order(value: Any, order: Callable[[Any, Any], bool], expected: Any) -> Truth:
    if not (is_number(value) and is_number(expected)):
        return None
    return order(*_comparable(value, expected))


def is_number(value: Any) -> bool:
    match value:
        case bool():
            return False
        case int():
            return True
        case float():
            return math.isfinite(value)
        case _:
            return False


def _comparable(left: float, right: float) -> tuple[Any, Any]:
    """Compare as decimals, as the numbers are written. Only mixed types with a large integer need a conversion."""
    if type(left) is type(right) or (abs(left) <= _EXACT and abs(right) <= _EXACT):
        return left, right
    return as_decimal(left), as_decimal(right)


def as_decimal(number: float) -> Decimal:
    """The number as it is written."""
    return Decimal(repr(number)) if isinstance(number, float) else Decimal(number)


def _equal(value: Any, expected: Any, is_exact: bool) -> Truth:
    match value, expected:
        case _, None:
            return None if value is None else False
        case bool(), bool():
            return value is expected
        case str(), str():
            return _same_text(value, expected, is_exact)
        case _ if is_number(value) and is_number(expected):
            left, right = _comparable(value, expected)
            return bool(left == right)
        case _:
            return None


def _same_text(value: str, expected: str, is_exact: bool) -> Truth:
    if value == expected:
        return True
    if len(value) > MAX_TEXT:
        return None
    if fold(value) != fold(expected):
        return False
    return None if is_exact else True


def fold(text: str) -> str:
    """The text without differences in case, outer spaces and Unicode form."""
    if text.isascii():
        return text.strip().casefold()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).strip()


class Options:
    """The values of a list in a condition, prepared for lookup, so that long lists stay cheap."""

    __slots__ = ("_booleans", "_folded", "_numbers", "_texts", "_types")

    def __init__(self, values: Sequence[Any]) -> None:
        self._texts = frozenset(value for value in values if isinstance(value, str))
        self._folded = frozenset(map(fold, self._texts))
        self._numbers = frozenset(as_decimal(value) for value in values if is_number(value))
        self._booleans = frozenset(value for value in values if isinstance(value, bool))
        self._types = sum(map(bool, (self._texts, self._numbers, self._booleans)))

    def include(self, value: Any, *, is_exact: bool) -> Truth:
        """Whether the value equals one of these. Unknown if it can't be compared with all of them."""
        match value:
            case bool():
                found, of_type = value in self._booleans, self._booleans
            case str():
                found, of_type = self._text(value, is_exact), self._texts
            case _ if is_number(value):
                found, of_type = as_decimal(value) in self._numbers, self._numbers
            case _:
                return None
        if found is not False:
            return found
        return False if self._types == bool(of_type) else None

    def _text(self, value: str, is_exact: bool) -> Truth:
        if value in self._texts:
            return True
        if len(value) > MAX_TEXT:
            return None
        if fold(value) not in self._folded:
            return False
        return None if is_exact else True


def _contains(value: Any, expected: Any, is_exact: bool) -> Truth:
    match value:
        case str():
            return _text_contains(value, expected, is_exact) if isinstance(expected, str) else None
        case list() | tuple():
            items = _items(cast("Sequence[Any]", value))
            return None if items is None else either(_equal(item, expected, is_exact) for item in items)
        case _:
            return None


def _text_contains(value: str, expected: str, is_exact: bool) -> Truth:
    if expected in value:
        return True
    if len(value) > MAX_TEXT:
        return None
    if fold(expected) not in fold(value):
        return False
    return None if is_exact else True


def _items(value: Any) -> Sequence[Any] | None:
    """The items of a list. A single value is a list of one, because an address field accepts both."""
    match value:
        case list() | tuple():
            items = cast("Sequence[Any]", value)
            return items if len(items) <= MAX_LIST else None
        case str() | bool() | int() | float():
            return (value,)
        case _:
            return None
