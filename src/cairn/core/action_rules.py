"""The rules about one action: every rule that asks, and every rule that could approve, in order."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from cairn.core.comparisons import as_decimal, fold, is_number
from cairn.core.conditions import ConditionFacts, FieldLookup
from cairn.core.rule_verdict import ApprovalTerms, EvaluatedRule
from cairn.core.seats import Requirement

LIMIT_PERIODS = ("run", "family", "hour", "day")  # other values of `per` are fields of the action


@dataclass(frozen=True, slots=True)
class RuleLimit:
    """How much a rule approves: a number of actions, the sum of their amounts, or both."""

    count: int | None = None
    sum_field: str | None = None
    sum_max: Decimal | None = None
    per: str = "family"  # run, family, hour, day, or a field: each of its values has a limit of its own
    sum_lookup: FieldLookup | None = None
    per_lookup: FieldLookup | None = None  # None: `per` is not a field


class LimitUse(NamedTuple):
    """What an action adds to a limit."""

    amount: Decimal = Decimal(0)
    group: str = ""  # the value of the field in `per`


class AskingRule(NamedTuple):
    """A rule that requires approval of the action."""

    rule_id: str
    rule: str
    scope: str  # global, or the pipeline's id
    revision: int
    priority: int
    requirement: Requirement
    terms: ApprovalTerms  # deadline, what happens at it, escalation, channels and recipients


class ApprovingRule(NamedTuple):
    """A rule whose conditions are true, and whether it can approve now."""

    rule_id: str
    rule: str
    scope: str
    revision: int
    is_in_hours: bool
    in_rollout: bool
    allows_untrusted: bool
    limit: RuleLimit | None
    audit: bool  # people review this approval afterwards
    notify: bool
    log: bool
    terms: ApprovalTerms  # channels and recipients of the notification
    limit_use: LimitUse | None = None  # None: without a limit, or the action can't be counted
    blocked_by: str = ""  # why it can't approve now, apart from its limit; empty if it can

    @property
    def can_approve(self) -> bool:
        """Whether it approves if its limit is not reached."""
        return not self.blocked_by


class ActionRules(NamedTuple):
    asking: tuple[AskingRule, ...]  # all of them count
    approving: tuple[ApprovingRule, ...]  # the pipelines' rules before the global ones
    evaluated: tuple[EvaluatedRule, ...]
    is_stopped: bool  # emergency stop: no rule approves
    is_readable: bool  # False: some rules can't be read, so nothing is approved or started


def limit_use(limit: RuleLimit | None, facts: ConditionFacts) -> LimitUse | None:
    """What the action adds to the limit. None if it can't be counted: its amount or its group is unknown."""
    if limit is None:
        return None
    amount, group = Decimal(0), ""
    if limit.sum_lookup is not None:
        value = facts.value(limit.sum_lookup)[0]
        if not is_number(value) or value < 0:
            return None
        amount = as_decimal(value)
    if limit.per_lookup is not None:
        found = _group(facts.value(limit.per_lookup)[0])
        if found is None:
            return None
        group = found
    return LimitUse(amount, group)


def _group(value: Any) -> str | None:
    """A text for the value. Texts that people read as the same are the same."""
    match value:
        case str():
            return json.dumps(fold(value), ensure_ascii=False)
        case bool():
            return json.dumps(value)
        case _ if is_number(value):
            return format(as_decimal(value).normalize(), "f")
        case _:
            return None
