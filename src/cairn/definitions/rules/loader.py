"""Reading rules: everything that is wrong with them, each fault with its line, column and path."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from cairn.core.rules import Rulebook
from cairn.definitions.findings import Finding, RulesError, errors
from cairn.definitions.frozen_model import Document
from cairn.definitions.json_schema.messages import explain
from cairn.definitions.rules.checks import RulePeople, check_meaning, required_people
from cairn.definitions.rules.published_schema import schema, validator
from cairn.definitions.rules.rulebook import compile_rules
from cairn.documents import DocumentError, SourceMap, Value, decode_yaml
from cairn.documents.pointers import child, join

CountApprovers = Callable[
    [tuple[str, ...]], int
]  # how many people may decide of those who are named; none named: of all


@dataclass(frozen=True, slots=True)
class LoadedRules:
    """What a text of rules says."""

    document: Document
    rulebook: Rulebook
    warnings: tuple[Finding, ...] = ()


def load(text: bytes | str, *, count: CountApprovers | None = None) -> LoadedRules:
    """The rules that a text writes; RulesError with all faults. Nothing, or comments alone, are no rules."""
    try:
        document, positions = decode_yaml(text)
    except DocumentError as error:
        raise RulesError([Finding("", error.message, line=error.line, column=error.column)]) from None
    document = {} if document is None else document
    findings = sorted(_check(document, positions, count), key=lambda found: (found.line or 0, found.column or 0))
    if errors(findings) or not isinstance(document, dict):
        raise RulesError(findings)
    return LoadedRules(document, compile_rules(document), tuple(findings))


def _check(document: Value, positions: SourceMap, count: CountApprovers | None) -> Iterator[Finding]:
    shape = list(dict.fromkeys(_check_shape(document, positions)))
    yield from shape
    ill = {fault.path for fault in shape}
    meant = [*check_meaning(document), *(_missing_people(document, count) if count else ())]
    for found in meant:
        if not any(found.path == path or found.path.startswith(f"{path}/") for path in ill if path):
            yield _located(found, positions)


def _check_shape(document: Value, positions: SourceMap) -> Iterator[Finding]:
    for error in validator().iter_errors(document):
        path = join(error.instance_path)
        for text, key in explain(error, schema()):
            mark = positions.value(path) if key is None else positions.key(child(path, key))
            yield _at(Finding(path, text), mark and (mark.line, mark.column))


def _missing_people(document: Value, count: CountApprovers) -> Iterator[Finding]:
    """A rule that wants more people than there are could never be met."""
    for wanted in required_people(document):
        there = count(wanted.people)
        if there < wanted.required_approvals:
            yield Finding(wanted.path, _too_few(wanted, there))


def _too_few(wanted: RulePeople, there: int) -> str:
    of = f" among {', '.join(wanted.people)}" if wanted.people else ""
    who = "nobody who may decide" if there == 0 else f"only {there} who may decide"
    people = "1 person has" if wanted.required_approvals == 1 else f"{wanted.required_approvals} people have"
    return f"{people} to approve, and there is {who}{of}: name others, invite people, or ask for fewer"


def _located(found: Finding, positions: SourceMap) -> Finding:
    mark = positions.value(found.path)
    return _at(found, mark and (mark.line, mark.column))


def _at(found: Finding, place: tuple[int, int] | None) -> Finding:
    return replace(found, line=place[0], column=place[1]) if place else found
