"""The question that rules answer before an approval is requested, and their verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from cairn.core.states import ApprovalKind, OnExpiry

if TYPE_CHECKING:
    from cairn.core.execution import Execution


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
    """An action that an agent or a script proposes."""

    operation_type: str
    parameters: Mapping[str, Any]
    risk: RiskLevel = RiskLevel.HIGH
    confidence: float | None = None  # from 0 to 1
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])  # computed by Cairn: they hide parameters


class RuleQuestion(NamedTuple):
    """The question whether an approval is required."""

    kind: ApprovalKind
    approval: str
    execution: str
    checkpoint: str  # its key
    at: datetime
    action: ProposedAction | None = None
    completed: Mapping[str, Execution] = MappingProxyType({})  # by checkpoint key, at this point of the decision


@dataclass(frozen=True, slots=True)
class ApprovalTerms:
    """Who has to approve, how many people, and by when."""

    required_approvals: int = 1
    approvers: tuple[str, ...] = ()  # user names, email addresses, roles or groups; empty: all approvers
    not_by_starter: bool = False
    timeout: float | None = None  # seconds
    on_expiry: OnExpiry = OnExpiry.FAIL
    escalate_after: float | None = None  # seconds
    escalate_to: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()  # for notifications
    recipients: tuple[str, ...] = ()  # of notifications; empty: those who can decide


class ConditionResult(NamedTuple):
    """The result of one condition, as text for people."""

    field: str
    expected: str
    actual: str
    matched: bool | None  # None: unknown, because the value is missing or can't be compared


class EvaluatedRule(NamedTuple):
    """A rule that was evaluated, and its outcome."""

    rule: str
    scope: str  # global, or the pipeline's id
    section: str  # checkpoints or auto_approval
    outcome: str
    conditions: tuple[ConditionResult, ...] = ()
    shadow: bool = False


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """The decision of the rules. The defaults mean that no rule matches."""

    requires_approval: bool | None = None  # False: the rule approves; None: no rule matches
    rule: str = ""
    scope: str = ""
    revision: int = 0  # of the scope's rules
    priority: int = 100
    terms: ApprovalTerms = field(default_factory=ApprovalTerms)
    evaluated_rules: tuple[EvaluatedRule, ...] = ()
    audit: bool = False  # people review this automatic approval afterwards
    notify: bool = False  # people are notified of this automatic approval
    stopped: bool = False  # emergency stop: nothing is approved automatically
    is_readable: bool = True  # False: some rules can't be read, so an approval is required


Judge = Callable[[RuleQuestion], RuleVerdict]

NO_VERDICT = RuleVerdict()


def no_rules(_: RuleQuestion) -> RuleVerdict:
    return NO_VERDICT
