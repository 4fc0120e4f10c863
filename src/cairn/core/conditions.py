"""The conditions of a rule: evaluate them, and describe the results as text for people."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from operator import ge, gt, le, lt
from typing import Any, Final, TypeAlias, cast

from cairn.core.rule_verdict import ConditionResult, RuleQuestion

MAX_LENGTH = 200  # characters of a displayed value
MAX_ITEMS = 20  # of a list that is displayed item by item


class Operator(StrEnum):
    EQUAL = "=="
    NOT_EQUAL = "!="
    GREATER = ">"
    AT_LEAST = ">="
    LESS = "<"
    AT_MOST = "<="
    IN = "in"
    NOT_IN = "not_in"
    CONTAINS = "contains"


class MissingValue(Enum):
    """The type of MISSING, which differs from null."""

    MISSING = "missing"


MISSING: Final = MissingValue.MISSING
FieldReader: TypeAlias = Callable[[str], Any]  # returns the value at a path, or MISSING

_SECRET = re.compile(r"passw|secret|token|credential|authorization|(api|private|access)[_-]?key", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FieldLookup:
    """A path into the action's parameters or the run's data."""

    path: str  # as written in the rule
    steps: tuple[str | int, ...]


CONFIDENCE = FieldLookup("confidence", ())  # of the proposer: not part of the data


class ConditionFacts:
    """The values that conditions check for one question. Each field is read once."""

    def __init__(self, question: RuleQuestion, read_field: FieldReader) -> None:
        action = question.action
        self.attributes = {
            "kind": question.kind.value,
            "risk_level": action.risk.value if action else None,
            "operation_type": action.operation_type if action else None,
        }
        self._parameters: Mapping[str, Any] = action.parameters if action else {}
        self._read_field = read_field
        confidence = action.confidence if action else None
        self._confidence = _with_text(MISSING if confidence is None else confidence)
        self._known: dict[str, tuple[Any, str]] = {}

    def value(self, field: FieldLookup) -> tuple[Any, str]:
        """The field's value and its text. The action's parameters come before the run's data."""
        if field is CONFIDENCE:
            return self._confidence
        known = self._known.get(field.path)
        if known is None:
            value = resolve_path(field.steps, self._parameters)
            if value is MISSING:
                value = self._read_field(field.path)
            is_secret = value is not MISSING and any(isinstance(s, str) and _SECRET.search(s) for s in field.steps)
            known = self._known[field.path] = (value, "hidden") if is_secret else _with_text(value)
        return known


def _with_text(value: Any) -> tuple[Any, str]:
    return value, display(value)


def resolve_path(steps: Sequence[str | int], value: Any) -> Any:
    for step in steps:
        match value, step:
            case Mapping(), str() if step in value:
                value = cast("Mapping[str, Any]", value)[step]
            case list() | tuple(), _ if (at := _position(step)) is not None and at < len(cast("Sequence[Any]", value)):
                value = cast("Sequence[Any]", value)[at]
            case _:
                return MISSING
    return value


def _position(step: str | int) -> int | None:
    """The index in a list: `items.0.id` means the same as `items[0].id`."""
    if isinstance(step, int):
        return step
    return int(step) if step.isdecimal() and len(step) < 10 else None


@dataclass(frozen=True, slots=True)
class OneOf:
    """Checks whether an attribute (kind, risk level or operation type) has one of several values."""

    attribute: str
    values: tuple[str, ...]

    def evaluate(self, facts: ConditionFacts, is_cautious: bool) -> ConditionResult:  # noqa: ARG002 - an attribute is always known
        value = facts.attributes[self.attribute]
        return ConditionResult(
            self.attribute, truncate(" or ".join(self.values)), value or "none", value in self.values
        )


@dataclass(frozen=True, slots=True)
class Comparison:
    """Compares a field with a value."""

    field: FieldLookup
    operator: Operator
    value: Any  # a tuple for `in` and `not_in`
    expected: str = dataclasses.field(init=False, compare=False)  # the text for people, built once

    def __post_init__(self) -> None:
        object.__setattr__(self, "expected", truncate(f"{self.operator.value} {display(self.value)}"))

    def evaluate(self, facts: ConditionFacts, is_cautious: bool) -> ConditionResult:
        value, actual = facts.value(self.field)
        is_match = matches(value, self.operator, self.value, is_cautious)
        return ConditionResult(self.field.path, self.expected, actual, is_match)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Checks whether at least one of several comparisons matches."""

    comparisons: tuple[Comparison, ...]

    def evaluate(self, facts: ConditionFacts, is_cautious: bool) -> ConditionResult:
        results = {comparison: comparison.evaluate(facts, is_cautious) for comparison in self.comparisons}
        expected = " or ".join(f"{comparison.field.path} {comparison.expected}" for comparison in results)
        values = {result.field: result.actual for result in results.values()}
        actual = ", ".join(f"{path} is {value}" for path, value in values.items())
        is_match = any(result.matched for result in results.values())
        return ConditionResult(truncate(", ".join(values)), truncate(expected), truncate(actual), is_match)


Condition: TypeAlias = OneOf | Comparison | AnyOf


def matches(value: Any, operator: Operator, expected: Any, is_cautious: bool) -> bool:
    """Compare the value. If it is missing or of another type, only a cautious comparison matches.

    Rules that require approval compare cautiously, so that people decide in cases of doubt.
    """
    if value is MISSING:
        return is_cautious and operator in _NEGATIVE
    if operator in _ORDERS:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return _ORDERS[operator](value, expected)
        return is_cautious and value is not None
    return _EQUALITIES[operator](value, expected, is_cautious)


def is_same(left: Any, right: Any) -> bool:
    """Equal as JSON values: true is not 1, and 1 is 1.0."""
    return isinstance(left, bool) == isinstance(right, bool) and left == right


def _contains(value: Any, expected: Any, is_cautious: bool) -> bool:
    match value:
        case str():
            return isinstance(expected, str) and expected in value
        case list() | tuple():
            return any(is_same(item, expected) for item in cast("Sequence[Any]", value))
        case Mapping():
            return isinstance(expected, str) and expected in value
        case _:
            return is_cautious and value is not None


_NEGATIVE = frozenset({Operator.NOT_EQUAL, Operator.NOT_IN})
_ORDERS: Mapping[Operator, Callable[[Any, Any], bool]] = {
    Operator.GREATER: gt,
    Operator.AT_LEAST: ge,
    Operator.LESS: lt,
    Operator.AT_MOST: le,
}
_EQUALITIES: Mapping[Operator, Callable[[Any, Any, bool], bool]] = {
    Operator.EQUAL: lambda value, expected, _: is_same(value, expected),
    Operator.NOT_EQUAL: lambda value, expected, _: not is_same(value, expected),
    Operator.IN: lambda value, expected, _: any(is_same(value, item) for item in expected),
    Operator.NOT_IN: lambda value, expected, _: not any(is_same(value, item) for item in expected),
    Operator.CONTAINS: _contains,
}


def display(value: Any) -> str:
    """A short text for a value."""
    match value:
        case MissingValue():
            return "missing"
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return truncate(value)
        case list() | tuple():
            items = cast("Sequence[Any]", value)
            if len(items) > MAX_ITEMS:
                return f"a list of {len(items)}"
            return truncate("[" + ", ".join(display(item) if _is_scalar(item) else "…" for item in items) + "]")
        case Mapping():
            return f"an object of {len(cast('Mapping[str, Any]', value))}"
        case _:
            return truncate(str(value))


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, list | tuple | Mapping)


def truncate(text: str) -> str:
    return text if len(text) <= MAX_LENGTH else f"{text[: MAX_LENGTH - 1]}…"
