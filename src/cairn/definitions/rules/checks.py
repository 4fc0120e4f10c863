"""Checks of rules that the schema can't express."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import date
from itertools import combinations
from typing import NamedTuple
from zoneinfo import available_timezones

from cairn.core.action_rules import LIMIT_PERIODS
from cairn.core.rules import DEFAULT_TIMEOUT, id_from
from cairn.core.states import ApprovalKind
from cairn.definitions.findings import Finding, warning
from cairn.definitions.frozen_model import Document
from cairn.definitions.input_paths import PathError
from cairn.definitions.raw_document import get, objects, section, text
from cairn.definitions.rules.approver_documents import names_seats, seats_of
from cairn.definitions.rules.condition_checks import check_conditions
from cairn.definitions.rules.condition_documents import only_kinds
from cairn.definitions.rules.holidays import HolidayError, read_holidays
from cairn.definitions.rules.rulebook import limit_field, parse_hours
from cairn.documents import Value
from cairn.documents.pointers import child, join

_AUTO_APPROVAL_KEYS = ("rollout_percentage", "audit_sample_percentage", "notify", "limit", "allow_untrusted")
_HOURS = "/auto_approval/global_settings/business_hours"


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
        yield from _check_seats(child(path, "action"), rule)
        yield from _check_limit(child(path, "action"), rule)
        yield from _check_expiry(path, rule)
    yield from _check_hours(document)


def _rules(document: Value) -> Iterator[tuple[str, Document]]:
    """All rules of both sections, with their paths."""
    for index, rule in objects(document, "checkpoints"):
        yield join(("checkpoints", index)), rule
    for index, rule in objects(document, "auto_approval", "rules"):
        yield join(("auto_approval", "rules", index)), rule


def _check_names(document: Value) -> Iterator[Finding]:
    """Check that names and ids are unique, because they identify rules in events, limits, rollouts and scores."""
    names: dict[str, str] = {}
    ids: dict[str, str] = {}
    for path, rule in _rules(document):
        name = text(rule, "name")
        if name is None:
            continue
        if name in names:
            yield Finding(child(path, "name"), f"duplicate rule name {name!r}, also used by {names[name]}")
            continue
        names[name] = path
        rule_id = text(rule, "id") or id_from(name)
        if rule_id in ids:
            key = "id" if text(rule, "id") else "name"
            yield Finding(
                child(path, key),
                f"the id {rule_id!r} is also the id of {ids[rule_id]!r}: add a different `id` to one of the two rules",
            )
        ids.setdefault(rule_id, name)


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


def _check_seats(path: str, rule: Document) -> Iterator[Finding]:
    action = section(rule, "action")
    if not names_seats(action):
        return
    if "require_approval_count" in action:
        message = "seats have their own count: write `count` in each seat, and remove this"
        yield Finding(child(path, "require_approval_count"), message)
    if len(seats_of(action)) > 1 and _kinds(rule) != [ApprovalKind.ACTION]:
        message = "several seats and steps exist only for actions: add `kind: action`, or require one group"
        yield Finding(child(path, "approvers"), message)


def _check_limit(path: str, rule: Document) -> Iterator[Finding]:
    action = section(rule, "action")
    if action.get("auto_approve") is not True:
        return
    is_about_actions = _kinds(rule) == [ApprovalKind.ACTION]
    if action.get("allow_untrusted") is True and not is_about_actions:
        yield warning(child(path, "allow_untrusted"), "this has an effect on actions only")
    limit = section(action, "limit")
    if not limit:
        return
    if not is_about_actions:
        yield Finding(child(path, "limit"), "a limit counts actions: add `kind: action`, or remove the limit")
    for key in ("sum", "per"):
        field = text(limit, key)
        if field is None or (key == "per" and field in LIMIT_PERIODS):
            continue
        try:
            limit_field(field)
        except PathError as error:
            yield Finding(child(child(path, "limit"), key), str(error))


def _check_expiry(path: str, rule: Document) -> Iterator[Finding]:
    expires = text(rule, "expires")
    if expires is None:
        return
    if get(rule, "action", "auto_approve") is not True:
        message = "a rule that requires approval doesn't expire: disable or remove it when it is no longer needed"
        yield Finding(child(path, "expires"), message)
    try:
        date.fromisoformat(expires)
    except ValueError:
        yield Finding(child(path, "expires"), f"{expires!r} is not a date")


def _kinds(rule: Document) -> list[str]:
    return only_kinds(get(rule, "trigger" if "trigger" in rule else "conditions"))


def _check_hours(document: Value) -> Iterator[Finding]:
    path, hours = _HOURS, section(document, "auto_approval", "global_settings", "business_hours")
    zone = text(hours, "timezone")
    if zone is not None and zone not in available_timezones():
        yield Finding(f"{path}/timezone", f"unknown time zone {zone!r}: use an IANA name such as America/New_York")
    else:
        yield from _check_holidays(hours, zone or "UTC")
    for days in ("monday_friday", "saturday_sunday"):
        hour_range = parse_hours(text(hours, days) or "")
        if hour_range is not None and hour_range[0] == hour_range[1]:
            message = "these hours are empty: use 00:00-24:00 for the whole day, or disabled"
            yield Finding(f"{path}/{days}", message)


def _check_holidays(hours: Document, zone: str) -> Iterator[Finding]:
    value = hours.get("holidays")
    try:
        holidays = read_holidays(value, zone)
    except HolidayError as error:
        yield Finding(f"{_HOURS}/holidays{error.path}", str(error))
        return
    if holidays.known_until is not None:
        message = (
            f"this calendar ends in {holidays.known_until.year}: nothing is approved automatically after that year"
        )
        yield warning(f"{_HOURS}/holidays", message)


def required_people(document: Value) -> Iterator[RulePeople]:
    """The people that each rule requires, for rules that name people or require several approvals.

    Different people have to fill the seats of a rule, so several groups together need as many as they have seats.
    """
    for index, rule in objects(document, "checkpoints"):
        path, groups = join(("checkpoints", index, "action")), seats_of(section(rule, "action"))
        for located in groups:
            if located.seats.count > 1 or located.seats.members:
                yield RulePeople(path + located.path, located.seats.count, located.seats.members)
        sizes = {2, len(groups)} if len(groups) > 1 else set[int]()
        for several in (chosen for size in sorted(sizes) for chosen in combinations(groups, size)):
            if all(located.seats.members for located in several):
                people = tuple(dict.fromkeys(name for located in several for name in located.seats.members))
                yield RulePeople(child(path, "approvers"), sum(located.seats.count for located in several), people)
