"""Load rules, or report all findings with their line, column and path."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from cairn.core.rules import Rulebook
from cairn.definitions.findings import Finding, RulesError, errors
from cairn.definitions.frozen_model import Document
from cairn.definitions.json_schema.messages import explain
from cairn.definitions.rules.checks import RulePeople, check_semantics, required_people
from cairn.definitions.rules.name_checks import KnownNames, check_names
from cairn.definitions.rules.published_schema import schema, validator
from cairn.definitions.rules.rulebook import compile_rules
from cairn.documents import DocumentError, SourceMap, SourcePosition, Value, decode_yaml
from cairn.documents.pointers import child, join

# Counts the users who can decide, among the given names or among all users.
CountApprovers = Callable[[tuple[str, ...]], int]


@dataclass(frozen=True, slots=True)
class LoadedRules:
    """A rules document and its compiled rulebook."""

    document: Document
    rulebook: Rulebook
    warnings: tuple[Finding, ...] = ()


def load(
    text: bytes | str,
    *,
    count: CountApprovers | None = None,
    checkpoints: Collection[str] = (),
    known: KnownNames | None = None,
) -> LoadedRules:
    """Load a rules file. Raises RulesError with all findings. A file that is empty or has only comments is valid.

    `checkpoints` are the keys of the pipeline that the rules are for. With `known`, every name must refer to someone.
    """
    try:
        document, positions = decode_yaml(text)
    except DocumentError as error:
        raise RulesError([Finding("", error.message, line=error.line, column=error.column)]) from None
    document = {} if document is None else document
    checks = _check(document, positions, count, checkpoints, known)
    findings = sorted(checks, key=lambda finding: (finding.line or 0, finding.column or 0))
    if errors(findings) or not isinstance(document, dict):
        raise RulesError(findings)
    return LoadedRules(document, compile_rules(document), tuple(findings))


def _check(
    document: Value,
    positions: SourceMap,
    count: CountApprovers | None,
    checkpoints: Collection[str],
    known: KnownNames | None,
) -> Iterator[Finding]:
    shape_errors = list(dict.fromkeys(_check_shape(document, positions)))
    yield from shape_errors
    invalid = {finding.path for finding in shape_errors if finding.path}
    names = list(check_names(document, known)) if known is not None else []
    people = _missing_people(document, count, skip_nobody=known is not None) if count else ()
    for finding in (*check_semantics(document, checkpoints), *names, *people):
        if not any(finding.path == path or finding.path.startswith(f"{path}/") for path in invalid):
            yield _located(finding, positions.value(finding.path))


def _check_shape(document: Value, positions: SourceMap) -> Iterator[Finding]:
    for error in validator().iter_errors(document):
        path = join(error.instance_path)
        for text, key in explain(error, schema()):
            position = positions.value(path) if key is None else positions.key(child(path, key))
            yield _located(Finding(path, text), position)


def _missing_people(document: Value, count: CountApprovers, *, skip_nobody: bool) -> Iterator[Finding]:
    """Report rules that require more approvals than there are people who can decide.

    With `skip_nobody`, rules whose names all refer to nobody are left out: each of these names has its own finding.
    """
    for rule in required_people(document):
        available = count(rule.people)
        if skip_nobody and rule.people and available == 0:
            continue
        if available < rule.required_approvals:
            yield Finding(rule.path, _too_few(rule, available))


def _too_few(rule: RulePeople, available: int) -> str:
    approvals = "1 approval is" if rule.required_approvals == 1 else f"{rule.required_approvals} approvals are"
    users = "no user" if available == 0 else "only 1 user" if available == 1 else f"only {available} users"
    among = f" of {', '.join(rule.people)}" if rule.people else ""
    return f"{approvals} required, but {users}{among} can decide: name others, invite users or require fewer approvals"


def _located(finding: Finding, position: SourcePosition | None) -> Finding:
    return replace(finding, line=position.line, column=position.column) if position else finding
