"""Approval rules, and the rulebooks that contain them."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from hashlib import sha256
from typing import NamedTuple

from cairn.core.action_rules import RuleLimit
from cairn.core.business_hours import BusinessHours
from cairn.core.conditions import Condition, kinds_of, with_floors
from cairn.core.rule_verdict import ApprovalTerms
from cairn.core.seats import Requirement, SeatGroup, Step
from cairn.core.states import ApprovalKind

GLOBAL = "global"  # the scope of all pipelines; other scopes are pipeline ids
APPROVABLE = frozenset(
    {ApprovalKind.START, ApprovalKind.COMPLETION, ApprovalKind.ACTION}
)  # the other kinds need more than an approval
DEFAULT_TIMEOUT = 3600.0  # seconds, for rules without a timeout


class RuleSection(StrEnum):
    CHECKPOINTS = "checkpoints"  # when to require approval, from whom and by when
    AUTO_APPROVAL = "auto_approval"  # when to approve automatically


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    section: RuleSection
    approves: bool
    conditions: tuple[Condition, ...]  # all have to match
    enabled: bool = True
    shadow: bool = False  # scored, but not applied
    priority: int = 100  # lower comes first
    terms: ApprovalTerms = field(default_factory=lambda: ApprovalTerms(timeout=DEFAULT_TIMEOUT))
    notify: bool = False  # notify people of its approvals
    channels: tuple[str, ...] = ()  # for these notifications
    log: bool = True  # record the reasons of its approvals
    rollout: float = 100.0  # percent of matches that it approves
    audit: float = 0.0  # percent of its approvals that people review afterwards
    id: str = ""  # unique in its scope and the same in every revision; by default derived from the name
    steps: tuple[Step, ...] = ()  # the seats, if the rule names several groups
    limit: RuleLimit | None = None  # of what it approves
    allows_untrusted: bool = False  # approves actions that something from outside influenced
    expires: date | None = None  # the last day on which it approves, in UTC
    kinds: frozenset[ApprovalKind] = field(init=False, compare=False)  # that it is about

    def __post_init__(self) -> None:
        if not self.id:
            object.__setattr__(self, "id", id_from(self.name))
        if self.approves:
            object.__setattr__(self, "conditions", tuple(map(with_floors, self.conditions)))
        object.__setattr__(self, "kinds", kinds_of(self.conditions))

    def requirement(self, scope: str) -> Requirement:
        """The seats to fill when the rule requires approval."""
        steps = self.steps or ((SeatGroup(self.terms.approvers, self.terms.required_approvals),),)
        return Requirement(self.name, scope, steps, self.terms.not_by_starter)


@dataclass(frozen=True, slots=True)
class Rulebook:
    """The rules of one scope."""

    rules: tuple[Rule, ...] = ()  # by priority, then in the order of the file
    hours: BusinessHours | None = None  # nothing is approved automatically outside of these
    stopped: bool = False  # nothing is approved automatically
    is_readable: bool = True  # False: the rules are unknown, so nothing is approved


class ScopedRulebook(NamedTuple):
    scope: str
    revision: int
    rulebook: Rulebook

    def id_of(self, rule: Rule) -> str:
        """The rule's id among the rules of all scopes."""
        return f"{self.scope}/{rule.id}"


def id_from(name: str) -> str:
    """The id of a rule whose file sets none: the words of its name."""
    words = re.findall(r"\w+", unicodedata.normalize("NFKC", name).casefold().replace("_", " "))
    return "-".join(words) or f"rule-{sha256(name.encode()).hexdigest()[:8]}"
