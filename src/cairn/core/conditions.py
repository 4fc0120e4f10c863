"""The conditions of a rule: evaluate them, and describe the results as text for people.

A condition is true, false or unknown. Only the rule as a whole is decided: unknown counts as a match for a rule that
requires approval, and not for one that approves.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias, assert_never, cast

from cairn.core.comparisons import MISSING, Operator, Options, Truth, both, compare, either, negate
from cairn.core.display import display, truncate
from cairn.core.rule_verdict import ConditionResult, RuleQuestion
from cairn.core.states import ApprovalKind

_SECRET = re.compile(r"passw|secret|token|credential|authorization|(api|private|access)[_-]?key", re.IGNORECASE)
_LISTS = frozenset({Operator.IN, Operator.NOT_IN, Operator.EVERY_IN, Operator.ANY_IN})
_UPPER_BOUNDS = frozenset({Operator.LESS, Operator.AT_MOST})
_LOWER_BOUNDS = frozenset({Operator.GREATER, Operator.AT_LEAST})


class Root(StrEnum):
    """The first part of a path: where the value comes from."""

    ACTION = "action"  # the parameters of the proposed action, and what Cairn computes about it
    INPUT = "input"  # of the run
    RUN = "run"
    PIPELINE = "pipeline"
    CHECKPOINT = "checkpoint"
    RESULT = "result"  # of the checkpoint, which needs approval
    OUTPUTS = "outputs"  # of completed checkpoints, by key


@dataclass(frozen=True, slots=True)
class FieldLookup:
    """A path that starts at a root."""

    path: str  # as written in the rule
    root: Root
    steps: tuple[str | int, ...]


FieldReader: TypeAlias = Callable[[FieldLookup], Any]  # returns the value of a field, or MISSING
CONFIDENCE = FieldLookup("confidence", Root.ACTION, ())  # of the proposer: not a parameter
UNTRUSTED = "untrusted"  # the fact that something from outside entered the proposal: never a parameter


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
        self._computed: Mapping[str, Any] = action.facts if action else {}
        self._read_field = read_field
        confidence = action.confidence if action else None
        self._confidence = _with_text(MISSING if confidence is None else confidence)
        self._known: dict[FieldLookup, tuple[Any, str]] = {}

    def value(self, field: FieldLookup) -> tuple[Any, str]:
        """The field's value and its text. The root alone decides where it is looked up."""
        if field is CONFIDENCE:
            return self._confidence
        known = self._known.get(field)
        if known is None:
            value = self._of_action(field.steps) if field.root is Root.ACTION else self._read_field(field)
            is_secret = value is not MISSING and any(isinstance(s, str) and _SECRET.search(s) for s in field.steps)
            known = self._known[field] = (value, "hidden") if is_secret else _with_text(value)
        return known

    @property
    def is_untrusted(self) -> bool:
        return self._computed.get(UNTRUSTED, False) is not False

    def _of_action(self, steps: tuple[str | int, ...]) -> Any:
        is_computed = steps[0] in self._computed or steps[0] == UNTRUSTED
        return resolve_path(steps, self._computed if is_computed else self._parameters)


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
    options: Options = dataclasses.field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", Options(self.values))


@dataclass(frozen=True, slots=True)
class Comparison:
    """Compares a field with a value. An approving rule's upper bound has a floor: below 0, it doesn't match."""

    field: FieldLookup
    operator: Operator
    value: Any  # a tuple for `between` and for operators with a list
    has_floor: bool = False
    expected: str = dataclasses.field(init=False, compare=False)  # the text for people, built once
    operand: Any = dataclasses.field(init=False, compare=False, repr=False)  # the value, prepared for comparisons

    def __post_init__(self) -> None:
        object.__setattr__(self, "operand", Options(self.value) if self.operator in _LISTS else self.value)
        text = f"{self.operator.value} {display(self.value)}"
        if self.has_floor:
            text = f">= 0 and {text}" if self.operator in _UPPER_BOUNDS else f"{text} or < 0"
        object.__setattr__(self, "expected", truncate(text))


@dataclass(frozen=True, slots=True)
class AllOf:
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    condition: Condition


Condition: TypeAlias = OneOf | Comparison | AllOf | AnyOf | Not


# Evaluation
def evaluate(condition: Condition, facts: ConditionFacts, *, is_exact: bool) -> ConditionResult:
    """The condition's truth, with the value that was found. `is_exact`: see `compare`."""
    truth = truth_of(condition, facts, is_exact)
    match condition:
        case OneOf(attribute, values):
            actual = facts.attributes[attribute] or "none"
            return ConditionResult(attribute, truncate(" or ".join(values)), actual, truth)
        case Comparison(field):
            return ConditionResult(field.path, condition.expected, facts.value(field)[1], truth)
        case _:
            found = {_name(leaf): _actual(leaf, facts) for leaf in leaves(condition)}
            actual = ", ".join(f"{name} is {value}" for name, value in found.items())
            return ConditionResult(truncate(", ".join(found)), truncate(describe(condition)), truncate(actual), truth)


def truth_of(condition: Condition, facts: ConditionFacts, is_exact: bool) -> Truth:
    match condition:
        case OneOf(attribute):
            return condition.options.include(facts.attributes[attribute], is_exact=is_exact)
        case Comparison():
            return _compared(condition, facts.value(condition.field)[0], is_exact)
        case AllOf(conditions):
            return both(truth_of(inner, facts, is_exact) for inner in conditions)
        case AnyOf(conditions):
            return either(truth_of(inner, facts, is_exact) for inner in conditions)
        case Not(inner):
            return negate(truth_of(inner, facts, is_exact))
        case _:
            assert_never(condition)


def _compared(condition: Comparison, value: Any, is_exact: bool) -> Truth:
    truth = compare(value, condition.operator, condition.operand, is_exact=is_exact)
    if not condition.has_floor or truth is None:
        return truth
    is_negative = value < 0
    return truth and not is_negative if condition.operator in _UPPER_BOUNDS else truth or is_negative


# Structure
def leaves(condition: Condition) -> Iterator[OneOf | Comparison]:
    match condition:
        case AllOf(conditions) | AnyOf(conditions):
            for inner in conditions:
                yield from leaves(inner)
        case Not(inner):
            yield from leaves(inner)
        case _:
            yield condition


def kinds_of(conditions: Iterable[Condition]) -> frozenset[ApprovalKind]:
    """The kinds of approvals that a rule with these conditions is about. Others don't have the values it reads."""
    kinds = frozenset(ApprovalKind)
    for condition in conditions:
        if isinstance(condition, OneOf) and condition.attribute == "kind":
            kinds &= frozenset(map(ApprovalKind, condition.values))
        for leaf in leaves(condition):
            if (only := _only_kind(leaf)) is not None:
                kinds &= {only}
    return kinds


def _only_kind(leaf: OneOf | Comparison) -> ApprovalKind | None:
    match leaf:
        case OneOf("kind"):
            return None
        case OneOf():
            return ApprovalKind.ACTION
        case Comparison(FieldLookup(root=Root.ACTION)):
            return ApprovalKind.ACTION
        case Comparison(FieldLookup(root=Root.RESULT)):
            return ApprovalKind.COMPLETION
        case _:
            return None


def with_floors(condition: Condition, *, is_negated: bool = False) -> Condition:
    """The condition as an approving rule means it: an upper bound doesn't include negative numbers."""
    match condition:
        case Comparison(field, operator) if field is not CONFIDENCE:
            bounds = _LOWER_BOUNDS if is_negated else _UPPER_BOUNDS
            return dataclasses.replace(condition, has_floor=True) if operator in bounds else condition
        case AllOf(conditions):
            return AllOf(tuple(with_floors(inner, is_negated=is_negated) for inner in conditions))
        case AnyOf(conditions):
            return AnyOf(tuple(with_floors(inner, is_negated=is_negated) for inner in conditions))
        case Not(inner):
            return Not(with_floors(inner, is_negated=not is_negated))
        case _:
            return condition


# Texts
def describe(condition: Condition) -> str:
    match condition:
        case AllOf(conditions):
            return " and ".join(map(_in_parentheses, conditions))
        case AnyOf(conditions):
            return " or ".join(map(_in_parentheses, conditions))
        case Not(inner):
            return f"not {describe(inner)}" if isinstance(inner, Not) else f"not ({describe(inner)})"
        case Comparison(field):
            return f"{field.path} {condition.expected}"
        case OneOf(attribute, values):
            return f"{attribute} {' or '.join(values)}"


def _in_parentheses(condition: Condition) -> str:
    is_simple = isinstance(condition, Not) or (isinstance(condition, Comparison) and not condition.has_floor)
    return describe(condition) if is_simple else f"({describe(condition)})"


def _name(leaf: OneOf | Comparison) -> str:
    return leaf.attribute if isinstance(leaf, OneOf) else leaf.field.path


def _actual(leaf: OneOf | Comparison, facts: ConditionFacts) -> str:
    return facts.attributes[leaf.attribute] or "none" if isinstance(leaf, OneOf) else facts.value(leaf.field)[1]
