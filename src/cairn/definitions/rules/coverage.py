"""What a rule covers: kinds of approval, operations, and the parameters that it leaves open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cairn.core.comparisons import Operator
from cairn.core.conditions import CONFIDENCE, AllOf, AnyOf, Comparison, Condition, Not, OneOf, Root, leaves
from cairn.core.rules import APPROVABLE, Rule
from cairn.core.states import ApprovalKind

# What a comparison has to be to limit a value, and what it has to be inside of `not`.
_LIMITING = frozenset(
    {Operator.EQUAL, Operator.IN, Operator.EVERY_IN, Operator.BETWEEN, Operator.LESS, Operator.AT_MOST}
)
_LIMITING_NEGATED = frozenset({Operator.NOT_EQUAL, Operator.NOT_IN, Operator.GREATER, Operator.AT_LEAST})
# Facts of an action, and the parameters that they stand for.
FACTS: Mapping[str, tuple[str, ...]] = {
    "host": (),
    "origin": (),
    "path": (),
    "recipients": ("to", "cc", "bcc"),
    "type": (),
    "untrusted": (),
}


@dataclass(frozen=True, slots=True)
class KnownOperation:
    """An action type, as far as rules are concerned."""

    name: str
    parameters: tuple[str, ...]
    required: frozenset[str] = frozenset()
    identity: tuple[str, ...] | None = None  # the parameters that make two actions the same; None: all of them

    @property
    def identity_parameters(self) -> tuple[str, ...]:
        return self.parameters if self.identity is None else self.identity


class OpenParameters(NamedTuple):
    """The identity parameters of an operation that a rule doesn't limit."""

    operation: str
    parameters: tuple[str, ...]


class OptionalField(NamedTuple):
    """A parameter that a rule reads, and the operations that don't require it."""

    field: str
    operations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    kinds: tuple[ApprovalKind, ...]
    operations: tuple[str, ...] | None  # None: all, or the rule is not about actions
    open_parameters: tuple[OpenParameters, ...] = ()  # of rules that approve
    optional_fields: tuple[OptionalField, ...] = ()  # of rules that ask

    @property
    def includes_actions(self) -> bool:
        return ApprovalKind.ACTION in self.kinds


def coverage(rule: Rule, known: Mapping[str, KnownOperation]) -> Coverage:
    kinds = tuple(kind for kind in ApprovalKind if kind in rule.kinds and (not rule.approves or kind in APPROVABLE))
    if ApprovalKind.ACTION not in kinds:
        return Coverage(kinds, None)
    named = _operations(AllOf(rule.conditions))
    operations = None if named is None else tuple(sorted(named))
    covered = [known[name] for name in (sorted(known) if operations is None else operations) if name in known]
    if not rule.approves:
        return Coverage(kinds, operations, optional_fields=tuple(_optional_fields(rule, covered)))
    limited = _limited(AllOf(rule.conditions))
    limited |= {parameter for field in limited for parameter in FACTS.get(field, ())}
    found = (OpenParameters(each.name, tuple(_open(each, limited))) for each in covered)
    return Coverage(kinds, operations, tuple(each for each in found if each.parameters))


def approves_once(rule: Rule) -> bool:
    """Whether the rule approves an operation above low risk at most once per checkpoint and item of a family."""
    return rule.approves and rule.limit is None and ApprovalKind.ACTION in rule.kinds


def _open(operation: KnownOperation, limited: Iterable[str]) -> Iterator[str]:
    covered = set(limited)
    for parameter in operation.identity_parameters:
        if parameter not in covered:
            yield parameter


def _operations(condition: Condition) -> frozenset[str] | None:
    """The operations that can match. None: all."""
    match condition:
        case OneOf("operation_type", values):
            return frozenset(values)
        case AllOf(conditions):
            found = [each for inner in conditions if (each := _operations(inner)) is not None]
            return found[0].intersection(*found) if found else None
        case AnyOf(conditions):
            each = [_operations(inner) for inner in conditions]
            named = [one for one in each if one is not None]
            return frozenset[str]().union(*named) if len(named) == len(each) else None
        case _:
            return None


def _limited(condition: Condition, *, is_negated: bool = False) -> frozenset[str]:
    """The parameters for which not every value matches, as paths."""
    match condition:
        case Comparison(field, operator) if field.root is Root.ACTION and field is not CONFIDENCE:
            limits = operator in (_LIMITING_NEGATED if is_negated else _LIMITING)
            return frozenset({".".join(map(str, field.steps))}) if limits else frozenset()
        case AllOf(conditions):
            return _combined(conditions, is_negated, is_conjunction=not is_negated)
        case AnyOf(conditions):
            return _combined(conditions, is_negated, is_conjunction=is_negated)
        case Not(inner):
            return _limited(inner, is_negated=not is_negated)
        case _:
            return frozenset()


def _combined(conditions: Sequence[Condition], is_negated: bool, *, is_conjunction: bool) -> frozenset[str]:
    found = [_limited(inner, is_negated=is_negated) for inner in conditions]
    return found[0].union(*found) if is_conjunction else found[0].intersection(*found)


def _optional_fields(rule: Rule, operations: Sequence[KnownOperation]) -> Iterator[OptionalField]:
    """Without the field, the rule asks, because its condition is unknown."""
    fields = {
        str(leaf.field.steps[0]): leaf.field.path
        for condition in rule.conditions
        for leaf in leaves(condition)
        if isinstance(leaf, Comparison) and leaf.field.root is Root.ACTION and leaf.field is not CONFIDENCE
    }
    for name, path in fields.items():
        without = tuple(each.name for each in operations if name not in each.required)
        if without and name not in FACTS:
            yield OptionalField(path, without)
