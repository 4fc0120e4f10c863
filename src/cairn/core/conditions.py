"""What a rule looks at in a question, and whether it holds, in words for people."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from operator import ge, gt, le, lt
from typing import Any, Final, TypeAlias, cast

from cairn.core.rule_verdict import ConditionResult, RuleQuestion

LONGEST = 200  # characters of what is shown of a value
MANY = 20  # items of a list that are shown one by one


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
    """Stands where there is no value: null is one."""

    MISSING = "missing"


MISSING: Final = MissingValue.MISSING
Look: TypeAlias = Callable[[str], Any]  # the value at a path, or MISSING

_SECRET = re.compile(r"passw|secret|token|credential|authorization|(api|private|access)[_-]?key", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FieldLookup:
    """A place in the action's parameters or in the run's data."""

    path: str  # as it is written
    steps: tuple[str | int, ...]


CONFIDENCE = FieldLookup("confidence", ())  # how sure the proposer is: no place in the data


class ConditionFacts:
    """What can be seen of one question; each field is looked up once."""

    def __init__(self, question: RuleQuestion, look: Look) -> None:
        action = question.action
        self.words = {
            "kind": question.kind.value,
            "risk_level": action.risk.value if action else None,
            "operation_type": action.operation_type if action else None,
        }
        self._parameters: Mapping[str, Any] = action.parameters if action else {}
        self._look = look
        confidence = action.confidence if action else None
        self._confidence = _seen(MISSING if confidence is None else confidence)
        self._known: dict[str, tuple[Any, str]] = {}

    def value(self, field: FieldLookup) -> tuple[Any, str]:
        """Among the action's parameters, else in the run's data; and what is shown of it."""
        if field is CONFIDENCE:
            return self._confidence
        known = self._known.get(field.path)
        if known is None:
            value = follow(field.steps, self._parameters)
            if value is MISSING:
                value = self._look(field.path)
            is_secret = value is not MISSING and any(isinstance(s, str) and _SECRET.search(s) for s in field.steps)
            known = self._known[field.path] = (value, "hidden") if is_secret else _seen(value)
        return known


def _seen(value: Any) -> tuple[Any, str]:
    return value, shown(value)


def follow(steps: Sequence[str | int], value: Any) -> Any:
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
    """In a list; `items.0.id` is as good as `items[0].id`."""
    if isinstance(step, int):
        return step
    return int(step) if step.isdecimal() and len(step) < 10 else None


@dataclass(frozen=True, slots=True)
class OneOf:
    """A word of the question (its kind, the action's risk, what the action does) is one of several."""

    about: str
    words: tuple[str, ...]

    def look(self, facts: ConditionFacts, is_cautious: bool) -> ConditionResult:  # noqa: ARG002 - of a word there is no doubt
        word = facts.words[self.about]
        return ConditionResult(self.about, cut(" or ".join(self.words)), word or "none", word in self.words)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A field is compared with a value."""

    field: FieldLookup
    operator: Operator
    value: Any  # several, as a tuple, for `in` and `not_in`
    wanted: str = dataclasses.field(init=False, compare=False)  # in words, made once

    def __post_init__(self) -> None:
        object.__setattr__(self, "wanted", cut(f"{self.operator.value} {shown(self.value)}"))

    def look(self, facts: ConditionFacts, is_cautious: bool) -> ConditionResult:
        value, seen = facts.value(self.field)
        return ConditionResult(self.field.path, self.wanted, seen, holds(value, self.operator, self.value, is_cautious))


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of several comparisons holds."""

    comparisons: tuple[Comparison, ...]

    def look(self, facts: ConditionFacts, is_cautious: bool) -> ConditionResult:
        found = {one: one.look(facts, is_cautious) for one in self.comparisons}
        wanted = " or ".join(f"{one.field.path} {one.wanted}" for one in found)
        seen = {told.field: told.actual for told in found.values()}
        actual = ", ".join(f"{path} is {value}" for path, value in seen.items())
        return ConditionResult(
            cut(", ".join(seen)), cut(wanted), cut(actual), any(told.matched for told in found.values())
        )


Test: TypeAlias = OneOf | Comparison | AnyOf


def holds(value: Any, operator: Operator, wanted: Any, is_cautious: bool) -> bool:
    """Whether it holds. Where that cannot be told it does for the cautious only: a rule that asks, asks in doubt."""
    if value is MISSING:
        return is_cautious and operator in _NEGATIVE
    if operator in _ORDERS:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return _ORDERS[operator](value, wanted)
        return is_cautious and value is not None
    return _LIKENESS[operator](value, wanted, is_cautious)


def is_same(one: Any, other: Any) -> bool:
    """As JSON means it: true is not 1, and 1 is 1.0."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _contains(value: Any, wanted: Any, is_cautious: bool) -> bool:
    match value:
        case str():
            return isinstance(wanted, str) and wanted in value
        case list() | tuple():
            return any(is_same(one, wanted) for one in cast("Sequence[Any]", value))
        case Mapping():
            return isinstance(wanted, str) and wanted in value
        case _:
            return is_cautious and value is not None


_NEGATIVE = frozenset({Operator.NOT_EQUAL, Operator.NOT_IN})
_ORDERS: Mapping[Operator, Callable[[Any, Any], bool]] = {
    Operator.GREATER: gt,
    Operator.AT_LEAST: ge,
    Operator.LESS: lt,
    Operator.AT_MOST: le,
}
_LIKENESS: Mapping[Operator, Callable[[Any, Any, bool], bool]] = {
    Operator.EQUAL: lambda value, wanted, _: is_same(value, wanted),
    Operator.NOT_EQUAL: lambda value, wanted, _: not is_same(value, wanted),
    Operator.IN: lambda value, wanted, _: any(is_same(value, one) for one in wanted),
    Operator.NOT_IN: lambda value, wanted, _: not any(is_same(value, one) for one in wanted),
    Operator.CONTAINS: _contains,
}


def shown(value: Any) -> str:
    """A value in a few words."""
    match value:
        case MissingValue():
            return "missing"
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return cut(value)
        case list() | tuple():
            items = cast("Sequence[Any]", value)
            if len(items) > MANY:
                return f"a list of {len(items)}"
            return cut("[" + ", ".join(shown(one) if _is_plain(one) else "…" for one in items) + "]")
        case Mapping():
            return f"an object of {len(cast('Mapping[str, Any]', value))}"
        case _:
            return cut(str(value))


def _is_plain(value: Any) -> bool:
    return not isinstance(value, list | tuple | Mapping)


def cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
