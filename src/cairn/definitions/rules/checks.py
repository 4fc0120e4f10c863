"""What a schema cannot say of rules: what they mean together, and what could not work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from zoneinfo import available_timezones

from cairn.core.rules import DEFAULT_TIMEOUT
from cairn.definitions.findings import Finding, warning
from cairn.definitions.frozen_model import Document
from cairn.definitions.input_paths import PathError, parse_path
from cairn.definitions.raw_document import get, items, objects, section, text
from cairn.definitions.rules.rulebook import as_tuple, parse_hours
from cairn.documents import Value
from cairn.documents.pointers import child, join

_FOR_APPROVING = ("rollout_percentage", "audit_sample_percentage", "notify")  # of an action, where nobody is asked


class RulePeople(NamedTuple):
    """How many people a rule wants, and whom."""

    path: str
    required_approvals: int
    people: tuple[str, ...]


def check_meaning(document: Value) -> Iterator[Finding]:
    yield from _check_names(document)
    for path, rule in _rules(document):
        yield from _check_paths(path, rule)
        yield from _check_action(child(path, "action"), section(rule, "action"))
    yield from _check_hours(document)


def _rules(document: Value) -> Iterator[tuple[str, Document]]:
    """Every rule of both sections, with its place."""
    for at, rule in objects(document, "checkpoints"):
        yield join(("checkpoints", at)), rule
    for at, rule in objects(document, "auto_approval", "rules"):
        yield join(("auto_approval", "rules", at)), rule


def _check_names(document: Value) -> Iterator[Finding]:
    """The name tells a rule from the others in the trail, in the rollout and in what it is scored by."""
    first: dict[str, str] = {}
    for path, rule in _rules(document):
        name = text(rule, "name")
        if name is None:
            continue
        if name in first:
            yield Finding(child(path, "name"), f"the name {name!r} is taken already, by {first[name]}: choose another")
        first.setdefault(name, path)


def _check_paths(path: str, rule: Document) -> Iterator[Finding]:
    for conditions in ("trigger", "conditions"):
        for key in ("data_threshold", "custom_field"):
            place = join((conditions, key))
            found = get(rule, conditions, key)
            tests = [(path + place, found)] if isinstance(found, dict) else _listed(path + place, rule, conditions, key)
            for where, test in tests:
                field = text(test, "field")
                if not field:
                    continue
                try:
                    parse_path(field)
                except PathError as error:
                    yield Finding(child(where, "field"), str(error))


def _listed(path: str, rule: Document, *way: str) -> list[tuple[str, Value]]:
    return [(child(path, at), test) for at, test in enumerate(items(rule, *way))]


def _check_action(path: str, action: Document) -> Iterator[Finding]:
    period = action.get("timeout_seconds", DEFAULT_TIMEOUT)
    escalation = section(action, "escalation")
    counts = bool(escalation) and escalation.get("enabled", True) is True
    after = escalation.get("after_seconds")
    if counts and isinstance(after, int | float) and isinstance(period, int | float) and after >= period >= 1:
        yield Finding(
            path + "/escalation/after_seconds",
            f"people would be brought in after {after:g} seconds, when the time to decide, {period:g}, is over",
        )
    if action.get("on_timeout") == "escalate" and not counts:
        yield warning(path + "/on_timeout", "nobody is named to escalate to: those who are asked get more time")
    if action.get("auto_approve") is True:
        return
    yield from (
        warning(child(path, key), f"`{key}` has no effect: it is about automatic approvals, and this rule asks")
        for key in _FOR_APPROVING
        if key in action
    )


def _check_hours(document: Value) -> Iterator[Finding]:
    path = "/auto_approval/global_settings/business_hours"
    hours = section(document, "auto_approval", "global_settings", "business_hours")
    zone = text(hours, "timezone")
    if zone is not None and zone not in available_timezones():
        yield Finding(f"{path}/timezone", f"there is no time zone {zone}; write it as America/New_York")
    for days in ("monday_friday", "saturday_sunday"):
        span = parse_hours(text(hours, days) or "")
        if span is not None and span[0] >= span[1]:
            yield Finding(f"{path}/{days}", "the end has to be later than the begin, on the same day")


def required_people(document: Value) -> Iterator[RulePeople]:
    """What the rules that ask want, where they say so."""
    for at, rule in objects(document, "checkpoints"):
        action = section(rule, "action")
        needed, people = action.get("require_approval_count", 1), as_tuple(action.get("approvers"))
        if isinstance(needed, int | float) and (needed > 1 or people):
            key = "require_approval_count" if needed > 1 else "approvers"
            yield RulePeople(join(("checkpoints", at, "action", key)), int(needed), people)
