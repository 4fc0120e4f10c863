"""What is asked of the rules before people are asked, and what they answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from cairn.core.states import ApprovalKind, OnExpiry


class RiskLevel(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        return tuple(RiskLevel).index(self)


@dataclass(frozen=True, slots=True)
class ProposedAction:
    """What somebody proposes to do outside."""

    operation_type: str
    parameters: Mapping[str, Any]
    risk: RiskLevel = RiskLevel.HIGH
    confidence: float | None = None  # from 0 to 1


class RuleQuestion(NamedTuple):
    """An approval that is about to be asked."""

    kind: ApprovalKind
    approval: str
    execution: str
    checkpoint: str  # its key
    at: datetime
    action: ProposedAction | None = None


@dataclass(frozen=True, slots=True)
class ApprovalTerms:
    """Under which people are asked."""

    required_approvals: int = 1
    approvers: tuple[str, ...] = ()  # persons, addresses, roles, groups; none: whoever may decide
    not_by_starter: bool = False
    timeout: float | None = None  # seconds to decide
    on_expiry: OnExpiry = OnExpiry.FAIL
    escalate_after: float | None = None  # seconds until others are brought in
    escalate_to: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()  # where people are told
    recipients: tuple[str, ...] = ()  # who is told; none: those who may decide


class ConditionResult(NamedTuple):
    """One condition of a rule, in words for people."""

    field: str
    expected: str
    actual: str
    matched: bool


class EvaluatedRule(NamedTuple):
    """A rule that was looked at, and what came of it."""

    rule: str
    scope: str  # global, or the pipeline's id
    section: str  # checkpoints or auto_approval
    outcome: str
    conditions: tuple[ConditionResult, ...] = ()
    shadow: bool = False


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """What the rules say; nothing, where none matches."""

    requires_approval: bool | None = None  # people are asked; or the rule approves; or no rule matches
    rule: str = ""
    scope: str = ""
    revision: int = 0  # of the rules of that scope
    priority: int = 100
    terms: ApprovalTerms = field(default_factory=ApprovalTerms)
    evaluated_rules: tuple[EvaluatedRule, ...] = ()
    audit: bool = False  # people look at this automatic approval afterwards
    notify: bool = False  # people are told of this automatic approval
    stopped: bool = False  # nothing is approved without people


Judge = Callable[[RuleQuestion], RuleVerdict]

NO_VERDICT = RuleVerdict()


def no_rules(_: RuleQuestion) -> RuleVerdict:
    return NO_VERDICT
