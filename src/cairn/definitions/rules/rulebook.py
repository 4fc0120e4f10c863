"""Compile a rules document into a rulebook."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any, cast

from cairn.core.action_rules import LIMIT_PERIODS, RuleLimit
from cairn.core.business_hours import BusinessHours, HourRange
from cairn.core.comparisons import as_decimal
from cairn.core.conditions import FieldLookup, Root
from cairn.core.rule_verdict import ApprovalTerms
from cairn.core.rules import DEFAULT_TIMEOUT, Rule, Rulebook, RuleSection
from cairn.core.seats import Step
from cairn.core.states import OnExpiry
from cairn.definitions.frozen_model import Document
from cairn.definitions.input_paths import PathError
from cairn.definitions.rules.approver_documents import steps_of
from cairn.definitions.rules.condition_documents import as_tuple, compile_conditions
from cairn.definitions.rules.fields import resolve_field
from cairn.definitions.rules.holidays import read_holidays

_HOURS = re.compile(r"([0-9]{2}):([0-9]{2})-([0-9]{2}):([0-9]{2})")
RulePart = Mapping[str, Any]


def compile_rules(document: Document) -> Rulebook:
    """The rulebook of a valid document."""
    auto = cast("RulePart", document.get("auto_approval") or {})
    settings: RulePart = auto.get("global_settings") or {}
    rules = [
        _rule(rule, RuleSection.CHECKPOINTS, rule["trigger"]) for rule in cast("Any", document.get("checkpoints", []))
    ]
    rules += [
        _rule(rule, RuleSection.AUTO_APPROVAL, rule["conditions"], is_on=auto["enabled"])
        for rule in auto.get("rules", ())
    ]
    return Rulebook(
        rules=tuple(sorted(rules, key=lambda rule: rule.priority)),
        hours=_hours(settings["business_hours"]) if settings.get("business_hours_only", False) else None,
        stopped=settings.get("emergency_stop", False),
    )


def _rule(rule: RulePart, section: RuleSection, trigger: RulePart, *, is_on: bool = True) -> Rule:
    action: RulePart = rule["action"]
    terms = _terms(action)
    return Rule(
        name=rule["name"],
        section=section,
        approves=action.get("auto_approve", False),
        conditions=compile_conditions(cast("Document", trigger)),
        enabled=is_on and rule.get("enabled", True),
        shadow=rule.get("shadow", False),
        priority=int(rule.get("priority", 100)),
        terms=terms,
        notify=action.get("notify", False),
        channels=as_tuple(action.get("notification_channels")) or terms.channels,
        log=action.get("log_decision", True),
        rollout=float(action.get("rollout_percentage", 100)),
        audit=float(action.get("audit_sample_percentage", 0)),
        id=rule.get("id", ""),
        expires=date.fromisoformat(rule["expires"]) if "expires" in rule else None,
        steps=_steps(action),
        limit=_limit(action["limit"]) if "limit" in action else None,
        allows_untrusted=action.get("allow_untrusted", False),
    )


def _terms(action: RulePart) -> ApprovalTerms:
    escalation: RulePart = action.get("escalation") or {}
    notification: RulePart = action.get("notification") or {}
    escalates = bool(escalation) and escalation.get("enabled", True)
    groups = [group for step in steps_of(action) for group in step]
    return ApprovalTerms(
        required_approvals=sum(group.count for group in groups),
        approvers=tuple(dict.fromkeys(name for group in groups for name in group.members)),
        not_by_starter=action.get("not_by_starter", False),
        timeout=float(action.get("timeout_seconds", DEFAULT_TIMEOUT)),
        on_expiry=OnExpiry(action.get("on_timeout", "fail")),
        escalate_after=float(escalation["after_seconds"]) if escalates else None,
        escalate_to=as_tuple(escalation.get("escalate_to")) if escalates else (),
        channels=as_tuple(notification.get("channels")) or as_tuple(action.get("notification_channels")),
        recipients=as_tuple(notification.get("recipients")),
    )


def _steps(action: RulePart) -> tuple[Step, ...]:
    """The steps, if there is more than one group of seats. The terms of the rule express a single one."""
    steps = steps_of(action)
    return steps if sum(map(len, steps)) > 1 else ()


def _limit(limit: RulePart) -> RuleLimit:
    field, per = limit.get("sum"), limit.get("per", "family")
    return RuleLimit(
        count=int(limit["count"]) if "count" in limit else None,
        sum_field=field,
        sum_max=as_decimal(limit["max"]) if "max" in limit else None,
        per=per,
        sum_lookup=None if field is None else limit_field(field),
        per_lookup=None if per in LIMIT_PERIODS else limit_field(per),
    )


def limit_field(text: str) -> FieldLookup:
    """A field of a limit, which is about actions. Raises PathError."""
    field = resolve_field(text, Root.ACTION)
    if field.root is Root.RESULT:
        raise PathError(f"{text!r} exists only for results, but a limit counts actions")
    return field


def _hours(hours: RulePart) -> BusinessHours:
    holidays = read_holidays(hours.get("holidays"), hours["timezone"])
    return BusinessHours(
        hours["timezone"],
        _hour_range(hours.get("monday_friday")),
        _hour_range(hours.get("saturday_sunday")),
        holidays.days,
        holidays.known_until,
    )


def _hour_range(text: str | None) -> HourRange | None:
    found = parse_hours(text or "")
    return HourRange(*found) if found else None


def parse_hours(text: str) -> tuple[int, int] | None:
    """Start and end of `09:00-17:00` in minutes since midnight, or None for any other text."""
    found = _HOURS.fullmatch(text)
    return (int(found[1]) * 60 + int(found[2]), int(found[3]) * 60 + int(found[4])) if found else None
