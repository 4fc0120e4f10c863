"""Checks of rules that the schema can't express."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple
from zoneinfo import available_timezones

from cairn.core.rules import DEFAULT_TIMEOUT
from cairn.definitions.findings import Finding, warning
from cairn.definitions.frozen_model import Document
from cairn.definitions.raw_document import objects, section, text
from cairn.definitions.rules.condition_checks import check_conditions
from cairn.definitions.rules.condition_documents import as_tuple
from cairn.definitions.rules.rulebook import parse_hours
from cairn.documents import Value
from cairn.documents.pointers import child, join

_AUTO_APPROVAL_KEYS = ("rollout_percentage", "audit_sample_percentage", "notify")


class RulePeople(NamedTuple):
    """The number of approvals that a rule requires, and the people who can give them."""

    path: str
    required_approvals: int
    people: tuple[str, ...]


def check_semantics(document: Value, checkpoints: Collection[str] = ()) -> Iterator[Finding]:
    """`checkpoints`: the keys of the pipeline, for rules of one pipeline."""
    yield from _check_names(document)
    for path, rule in _rules(document):
        yield from check_conditions(path, rule, checkpoints)
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
        if hour_range is not None and hour_range[0] == hour_range[1]:
            message = "these hours are empty: use 00:00-24:00 for the whole day, or disabled"
            yield Finding(f"{path}/{days}", message)


def required_people(document: Value) -> Iterator[RulePeople]:
    """The people that each rule requires, for rules that name people or require several approvals."""
    for index, rule in objects(document, "checkpoints"):
        action = section(rule, "action")
        required, people = action.get("require_approval_count", 1), as_tuple(action.get("approvers"))
        if isinstance(required, int | float) and (required > 1 or people):
            key = "require_approval_count" if required > 1 else "approvers"
            yield RulePeople(join(("checkpoints", index, "action", key)), int(required), people)
