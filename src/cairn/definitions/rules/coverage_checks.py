"""Warnings about rules that cover more than they seem to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cairn.core.rules import Rule, Rulebook, RuleSection
from cairn.definitions.findings import Finding, warning
from cairn.definitions.raw_document import objects, text
from cairn.definitions.rules.coverage import KnownOperation, OptionalField, coverage
from cairn.documents import Value
from cairn.documents.pointers import join

_SHOWN = 5  # names in a message


def check_coverage(document: Value, rulebook: Rulebook, known: Mapping[str, KnownOperation]) -> Iterator[Finding]:
    """Warnings about a valid document."""
    paths = dict(_paths(document))
    for rule in rulebook.rules:
        if rule.enabled:
            yield from _check(rule, paths[rule.name], known)


def _paths(document: Value) -> Iterator[tuple[str, str]]:
    """The pointer to the conditions of each rule, by its name."""
    for section, key in ((RuleSection.CHECKPOINTS, "trigger"), (RuleSection.AUTO_APPROVAL, "conditions")):
        holder = ("checkpoints",) if section is RuleSection.CHECKPOINTS else ("auto_approval", "rules")
        for index, rule in objects(document, *holder):
            yield text(rule, "name") or "", join((*holder, index, key))


def _check(rule: Rule, path: str, known: Mapping[str, KnownOperation]) -> Iterator[Finding]:
    found = coverage(rule, known)
    if not found.includes_actions:
        return
    if rule.approves and found.operations is None:
        message = "this rule approves every action that matches: name its `operation_type`"
        yield warning(path, message if len(found.kinds) == 1 else f"{message}, or the `kind` that it is about")
        return
    for each in found.open_parameters:
        yield warning(
            path,
            f"this rule approves {each.operation} with any {_listed(each.parameters)}: "
            "compare the parameters that matter, or accept all values",
        )
    if found.optional_fields:
        yield warning(path, "; ".join(map(_optional, found.optional_fields)))


def _optional(found: OptionalField) -> str:
    return (
        f"`{found.field}` can be missing from {_listed(found.operations, quote='')}, which then require approval: "
        "name the operations that this rule is about"
    )


def _listed(names: tuple[str, ...], quote: str = "`") -> str:
    shown = [f"{quote}{name}{quote}" for name in names[:_SHOWN]]
    rest = len(names) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")
