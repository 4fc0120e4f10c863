"""Checks of a rule's conditions beyond the schema."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from cairn.core.comparisons import Operator
from cairn.core.conditions import Root
from cairn.core.states import ApprovalKind
from cairn.definitions.findings import Finding
from cairn.definitions.frozen_model import Document
from cairn.definitions.input_paths import PathError
from cairn.definitions.raw_document import get
from cairn.definitions.rules.condition_documents import (
    MAX_DEPTH,
    Leaf,
    as_tuple,
    default_root,
    field_of,
    leaves,
    only_kind,
    parts_of,
)
from cairn.definitions.rules.fields import resolve_field
from cairn.documents import Value
from cairn.documents.pointers import child

MAX_CONDITIONS = 100  # of one rule
TEMPLATE_VALUES = "values"  # the parameter of an email with the values of its templates

_SMALLER = (Operator.LESS, Operator.AT_MOST)
_LARGER = (Operator.GREATER, Operator.AT_LEAST)


def check_conditions(path: str, rule: Document, checkpoints: Collection[str]) -> Iterator[Finding]:
    section = "trigger" if "trigger" in rule else "conditions"
    conditions = rule.get(section)
    if not isinstance(conditions, dict):
        return
    pointer = child(path, section)
    found = list(leaves(conditions, pointer))
    if too_deep := next((leaf for leaf in found if leaf.depth > MAX_DEPTH), None):
        yield Finding(too_deep.path, f"conditions are nested more than {MAX_DEPTH} levels deep: split the rule")
        return
    if len(found) > MAX_CONDITIONS:
        yield Finding(pointer, f"expected at most {MAX_CONDITIONS} conditions, but got {len(found)}: split the rule")
        return
    yield from _check_kinds(pointer, conditions, found)
    root, approves = default_root(conditions), get(rule, "action", "auto_approve") is True
    for leaf in found:
        yield from _check_field(leaf, root, checkpoints)
        yield from _check_range(leaf)
        if approves:
            yield from _check_approving(leaf)
    if approves:
        yield from _check_template_values(found, root)


def _check_kinds(pointer: str, conditions: Document, found: list[Leaf]) -> Iterator[Finding]:
    """Values of actions exist only for actions, and those of results only for results."""
    limited = [(leaf, kind) for leaf in found if (kind := only_kind(leaf)) is not None]
    if not limited:
        return
    first, kind = limited[0]
    for leaf, other in limited:
        if other is not kind:
            yield Finding(
                leaf.path,
                f"{_name(leaf)} exists only for {_plural(other)}, but {_name(first)} only for {_plural(kind)}: "
                "write two rules",
            )
            return
    named = as_tuple(conditions.get("kind"))
    if named and set(named) != {kind}:
        yield Finding(
            child(pointer, "kind"),
            f"{_name(first)} exists only for {_plural(kind)}: write `kind: {kind}`, or two rules",
        )


def _plural(kind: ApprovalKind) -> str:
    return "actions" if kind is ApprovalKind.ACTION else "results"


def _name(leaf: Leaf) -> str:
    return f"`{field_of(leaf) or leaf.key}`"


def _check_field(leaf: Leaf, root: Root | None, checkpoints: Collection[str]) -> Iterator[Finding]:
    field = field_of(leaf)
    if field is None:
        return
    try:
        resolve_field(field, root, checkpoints)
    except PathError as error:
        yield Finding(child(leaf.path, "field"), str(error))


def _check_range(leaf: Leaf) -> Iterator[Finding]:
    comparison = _comparison(leaf)
    if comparison is None:
        return
    operator, value = comparison
    match operator, value:
        case Operator.BETWEEN, [low, high] if low > high:
            yield Finding(leaf.path, f"between {low:g} and {high:g} is nothing: write the lower number first")
        case _:
            return


def _check_approving(leaf: Leaf) -> Iterator[Finding]:
    """Comparisons that approve more than they seem to."""
    comparison = _comparison(leaf)
    if comparison is None:
        return
    operator, value = comparison
    if operator is Operator.CONTAINS:
        yield Finding(
            leaf.path,
            "a rule that approves can't use `contains`, because it also matches longer texts and lists with other "
            "items: compare with `==` or `in`, and lists with `every_in`",
        )
    bounds = _LARGER if leaf.is_negated else _SMALLER
    if operator in bounds and (value < 0 or (value == 0 and operator in (Operator.LESS, Operator.AT_LEAST))):
        yield Finding(
            leaf.path,
            "a rule that approves takes numbers up to a limit from 0 on, so this matches nothing: use `between`",
        )


def _check_template_values(found: list[Leaf], root: Root | None) -> Iterator[Finding]:
    """The values of an email's templates are not sent, so that a rule can't rely on them."""
    operations = next((as_tuple(leaf.value) for leaf in found if leaf.key == "operation_type" and not leaf.depth), ())
    if operations and "send_email" not in operations:
        return
    for leaf in found:
        field = field_of(leaf)
        if field is None:
            continue
        try:
            resolved = resolve_field(field, root)
        except PathError:
            continue
        if resolved.root is Root.ACTION and resolved.steps[0] == TEMPLATE_VALUES:
            yield Finding(
                child(leaf.path, "field"),
                "a rule that approves can't rely on the values of an email's templates: "
                "name other operations in `operation_type`, or compare what is sent",
            )


def _comparison(leaf: Leaf) -> tuple[Operator, Any] | None:
    """The operator and the value of a comparison, or None if the schema reports it."""
    if leaf.key != "field" or not isinstance(leaf.value, dict):
        return None
    try:
        operator, value = parts_of(leaf.value)
    except ValueError:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if operator in (*_SMALLER, *_LARGER) and not is_number:
        return None
    return None if operator is Operator.BETWEEN and not _is_pair(value) else (operator, value)


def _is_pair(value: Value) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(isinstance(item, int | float) and not isinstance(item, bool) for item in value)
    )
