"""Checks of rules that the schema can't express."""

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

_AUTO_APPROVAL_KEYS = ("rollout_percentage", "audit_sample_percentage", "notify")


class RulePeople(NamedTuple):
    """The number of approvals that a rule requires, and the people who can give them."""

    path: str
    required_approvals: int
    people: tuple[str, ...]


def check_semantics(document: Value) -> Iterator[Finding]:
    yield from _check_names(document)
    for path, rule in _rules(document):
        yield from _check_paths(path, rule)
        yield from _check_action(child(path, "action"), section(rule, "action"))
    yield from _check_hours(document)


def _rules(document: Value) -> Iterator[tuple[str, Document]]:
    """All rules of both sections, with their paths."""
    for index, rule in objects(document, "checkpoints"):
        yield join(("checkpoints", index)), rule
    for index, rule in objects(document, "auto_approval", "rules"):
        yield join(("auto_approval", "rules", index)), rule


def _check_names(document: Value) -> Iterator[Finding]:
    """Check that names are unique, because they identify rules in events, rollouts and scores."""
    first: dict[str, str] = {}
    for path, rule in _rules(document):
        name = text(rule, "name")
        if name is None:
            continue
        if name in first:
            yield Finding(child(path, "name"), f"duplicate rule name {name!r}, also used by {first[name]}")
        first.setdefault(name, path)


def _check_paths(path: str, rule: Document) -> Iterator[Finding]:
    for section_name in ("trigger", "conditions"):
        for key in ("data_threshold", "custom_field"):
            pointer = path + join((section_name, key))
            condition = get(rule, section_name, key)
            comparisons = (
                [(pointer, condition)] if isinstance(condition, dict) else _listed(pointer, rule, section_name, key)
            )
            for comparison_path, comparison in comparisons:
                field = text(comparison, "field")
                if not field:
                    continue
                try:
                    parse_path(field)
                except PathError as error:
                    yield Finding(child(comparison_path, "field"), str(error))


def _listed(pointer: str, rule: Document, *path: str) -> list[tuple[str, Value]]:
    return [(child(pointer, index), comparison) for index, comparison in enumerate(items(rule, *path))]


def _check_action(path: str, action: Document) -> Iterator[Finding]:
    timeout = action.get("timeout_seconds", DEFAULT_TIMEOUT)
    escalation = section(action, "escalation")
    escalates = bool(escalation) and escalation.get("enabled", True) is True
    after = escalation.get("after_seconds")
    if escalates and isinstance(after, int | float) and isinstance(timeout, int | float) and after >= timeout >= 1:
        yield Finding(
            path + "/escalation/after_seconds",
            f"expected less than the timeout of {timeout:g} seconds, but got {after:g}",
        )
    if action.get("on_timeout") == "escalate" and not escalates:
        message = "without `escalation`, a timeout only gives the same people more time: add `escalation`"
        yield warning(path + "/on_timeout", message)
    if action.get("auto_approve") is True:
        return
    yield from (
        warning(child(path, key), f"`{key}` has no effect, because this rule does not approve automatically")
        for key in _AUTO_APPROVAL_KEYS
        if key in action
    )


def _check_hours(document: Value) -> Iterator[Finding]:
    path = "/auto_approval/global_settings/business_hours"
    hours = section(document, "auto_approval", "global_settings", "business_hours")
    zone = text(hours, "timezone")
    if zone is not None and zone not in available_timezones():
        yield Finding(f"{path}/timezone", f"unknown time zone {zone!r}: use an IANA name such as America/New_York")
    for days in ("monday_friday", "saturday_sunday"):
        hour_range = parse_hours(text(hours, days) or "")
        if hour_range is not None and hour_range[0] >= hour_range[1]:
            yield Finding(f"{path}/{days}", "the end must be later than the start, on the same day")


def required_people(document: Value) -> Iterator[RulePeople]:
    """The people that each rule requires, for rules that name people or require several approvals."""
    for index, rule in objects(document, "checkpoints"):
        action = section(rule, "action")
        required, people = action.get("require_approval_count", 1), as_tuple(action.get("approvers"))
        if isinstance(required, int | float) and (required > 1 or people):
            key = "require_approval_count" if required > 1 else "approvers"
            yield RulePeople(join(("checkpoints", index, "action", key)), int(required), people)
