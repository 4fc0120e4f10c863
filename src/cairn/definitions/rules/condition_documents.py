"""Read the conditions of a rule from its document: their parts, their paths and their meaning."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from cairn.core.comparisons import Operator
from cairn.core.conditions import CONFIDENCE, AllOf, AnyOf, Comparison, Condition, Not, OneOf, Root
from cairn.core.states import ApprovalKind
from cairn.definitions.frozen_model import Document
from cairn.definitions.rules.fields import has_root, resolve_field
from cairn.documents import Value
from cairn.documents.pointers import child

CONFIDENCE_KEYS = ("agent_confidence", "confidence")
COMPARISON_KEYS = ("data_threshold", "custom_field")
ACTION_KEYS = ("risk_level", "operation_type", *CONFIDENCE_KEYS)  # only actions have these
MAX_DEPTH = 8  # of nested conditions
_SHORT_OPERATORS = (Operator.BETWEEN, Operator.EVERY_IN, Operator.ANY_IN)  # also keys of a comparison
_CONFIDENCE = re.compile(r"(>=|<=|==|!=|>|<) *(.+)")


class Leaf(NamedTuple):
    """A condition that contains no others, with its JSON pointer."""

    path: str
    key: str  # `field` for a comparison
    value: Value
    is_negated: bool  # inside an odd number of `not`
    depth: int


def leaves(conditions: Value, path: str, *, is_negated: bool = False, depth: int = 0) -> Iterator[Leaf]:
    """Every condition in the document. Parts with another shape are left out: the schema reports them."""
    if not isinstance(conditions, dict) or depth > MAX_DEPTH:
        if depth > MAX_DEPTH:
            yield Leaf(path, "", None, is_negated, depth)
        return
    if "field" in conditions:
        yield Leaf(path, "field", conditions, is_negated, depth)
        return
    for key, value in conditions.items():
        at = child(path, key)
        match key, value:
            case "all" | "any", list():
                for position, inner in enumerate(value):
                    yield from leaves(inner, child(at, position), is_negated=is_negated, depth=depth + 1)
            case "not", dict():
                yield from leaves(value, at, is_negated=not is_negated, depth=depth + 1)
            case (("data_threshold" | "custom_field"), dict()):
                yield Leaf(at, "field", value, is_negated, depth)
            case _:
                yield Leaf(at, key, value, is_negated, depth)


def only_kind(leaf: Leaf) -> ApprovalKind | None:
    """The one kind of approval that has the value. None if all have it, or if another root is needed to tell."""
    if leaf.key in ACTION_KEYS:
        return ApprovalKind.ACTION
    field = field_of(leaf)
    if field is None:
        return None
    if has_root(field, Root.ACTION):
        return ApprovalKind.ACTION
    return ApprovalKind.COMPLETION if has_root(field, Root.RESULT) else None


def field_of(leaf: Leaf) -> str | None:
    """The path that a comparison reads."""
    if leaf.key != "field" or not isinstance(leaf.value, dict):
        return None
    field = leaf.value.get("field")
    return field if isinstance(field, str) and field else None


def only_kinds(conditions: Value) -> list[str]:
    """The kinds of approval that the rule is limited to. None if it is about all kinds."""
    kinds = {kind for leaf in leaves(conditions, "") if (kind := only_kind(leaf)) is not None}
    named = set(as_tuple(conditions.get("kind"))) if isinstance(conditions, dict) else set[str]()
    return sorted(kinds or named)


def default_root(conditions: Value) -> Root | None:
    """The root of names without one: that of the only kind of approval that the rule is about."""
    match only_kinds(conditions):
        case [ApprovalKind.ACTION]:
            return Root.ACTION
        case [ApprovalKind.COMPLETION]:
            return Root.RESULT
        case _:
            return None


def parts_of(comparison: Document) -> tuple[Operator, Any]:
    """The operator and the value of a comparison. A list of values without an operator means any of them."""
    for operator in _SHORT_OPERATORS:
        if operator in comparison:
            return operator, comparison[operator]
    value = comparison.get("value")
    default = Operator.IN if isinstance(value, list) else Operator.EQUAL
    return Operator(cast("str", comparison.get("operator", default))), value


def compile_conditions(conditions: Document) -> tuple[Condition, ...]:
    """The conditions of a valid document."""
    return tuple(_compiled(conditions, default_root(conditions)))


def _compiled(conditions: Document, root: Root | None) -> Iterator[Condition]:
    for key, value in cast("dict[str, Any]", conditions).items():
        match key:
            case "all":
                yield AllOf(tuple(_nested(inner, root) for inner in value))
            case "any":
                yield AnyOf(tuple(_nested(inner, root) for inner in value))
            case "not":
                yield Not(_nested(value, root))
            case "kind" | "risk_level" | "operation_type":
                yield OneOf(key, as_tuple(value))
            case "agent_confidence" | "confidence":
                yield _confidence(value)
            case _:
                yield _comparison(value, root)


def _nested(conditions: Document, root: Root | None) -> Condition:
    if "field" in conditions:
        return _comparison(conditions, root)
    inner = tuple(_compiled(conditions, root))
    return inner[0] if len(inner) == 1 else AllOf(inner)


def _comparison(comparison: Document, root: Root | None) -> Comparison:
    operator, value = parts_of(comparison)
    field = resolve_field(cast("str", comparison["field"]), root)
    return Comparison(field, operator, tuple(cast("list[Any]", value)) if isinstance(value, list) else value)


def _confidence(test: dict[str, Any] | str) -> Comparison:
    if isinstance(test, str):
        _, operator, value, _ = _CONFIDENCE.split(test)
        return Comparison(CONFIDENCE, Operator(operator), float(value))
    return Comparison(CONFIDENCE, Operator(test["operator"]), float(test["value"]))


def as_tuple(value: Any) -> tuple[str, ...]:
    """The items of a list, or a single text."""
    if isinstance(value, str):
        return (value,)
    return tuple(str(item) for item in cast("list[Any]", value)) if isinstance(value, list) else ()
