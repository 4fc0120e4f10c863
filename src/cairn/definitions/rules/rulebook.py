"""Compile a rules document into a rulebook."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from cairn.core.business_hours import BusinessHours, HourRange
from cairn.core.rule_verdict import ApprovalTerms
from cairn.core.rules import DEFAULT_TIMEOUT, Rule, Rulebook, RuleSection
from cairn.core.states import OnExpiry
from cairn.definitions.frozen_model import Document
from cairn.definitions.rules.condition_documents import as_tuple, compile_conditions

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
    )


def _terms(action: RulePart) -> ApprovalTerms:
    escalation: RulePart = action.get("escalation") or {}
    notification: RulePart = action.get("notification") or {}
    escalates = bool(escalation) and escalation.get("enabled", True)
    return ApprovalTerms(
        required_approvals=int(action.get("require_approval_count", 1)),
        approvers=as_tuple(action.get("approvers")),
        not_by_starter=action.get("not_by_starter", False),
        timeout=float(action.get("timeout_seconds", DEFAULT_TIMEOUT)),
        on_expiry=OnExpiry(action.get("on_timeout", "fail")),
        escalate_after=float(escalation["after_seconds"]) if escalates else None,
        escalate_to=as_tuple(escalation.get("escalate_to")) if escalates else (),
        channels=as_tuple(notification.get("channels")) or as_tuple(action.get("notification_channels")),
        recipients=as_tuple(notification.get("recipients")),
    )


def _hours(hours: RulePart) -> BusinessHours:
    return BusinessHours(
        hours["timezone"], _hour_range(hours.get("monday_friday")), _hour_range(hours.get("saturday_sunday"))
    )


def _hour_range(text: str | None) -> HourRange | None:
    found = parse_hours(text or "")
    return HourRange(*found) if found else None


def parse_hours(text: str) -> tuple[int, int] | None:
    """Start and end of `09:00-17:00` in minutes since midnight, or None for any other text."""
    found = _HOURS.fullmatch(text)
    return (int(found[1]) * 60 + int(found[2]), int(found[3]) * 60 + int(found[4])) if found else None
