"""What is asked of the rules before people are asked, and what they answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from cairn.core.states import Kind, OnExpiry


class Risk(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        return tuple(Risk).index(self)


@dataclass(frozen=True, slots=True)
class Action:
    """What somebody proposes to do outside."""

    operation_type: str
    parameters: Mapping[str, Any]
    risk: Risk = Risk.HIGH
    confidence: float | None = None  # from 0 to 1


class Question(NamedTuple):
    """An approval that is about to be asked."""

    kind: Kind
    approval: str
    execution: str
    checkpoint: str  # its key
    at: datetime
    action: Action | None = None


@dataclass(frozen=True, slots=True)
class Terms:
    """Under which people are asked."""

    needed: int = 1
    approvers: tuple[str, ...] = ()  # persons, addresses, roles, groups; none: whoever may decide
    not_by_starter: bool = False
    period: float | None = None  # seconds to decide
    on_expiry: OnExpiry = OnExpiry.FAIL
    escalate_after: float | None = None  # seconds until others are brought in
    escalate_to: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()  # where people are told
    recipients: tuple[str, ...] = ()  # who is told; none: those who may decide


class Condition(NamedTuple):
    """One condition of a rule, in words for people."""

    field: str
    wanted: str
    actual: str
    holds: bool


class Considered(NamedTuple):
    """A rule that was looked at, and what came of it."""

    rule: str
    scope: str  # global, or the pipeline's id
    section: str  # checkpoints or auto_approval
    outcome: str
    conditions: tuple[Condition, ...] = ()
    shadow: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the rules say; nothing, where none matches."""

    asks: bool | None = None  # people are asked; or the rule approves; or no rule matches
    rule: str = ""
    scope: str = ""
    revision: int = 0  # of the rules of that scope
    priority: int = 100
    terms: Terms = field(default_factory=Terms)
    considered: tuple[Considered, ...] = ()
    audit: bool = False  # people look at this automatic approval afterwards
    notify: bool = False  # people are told of this automatic approval
    stopped: bool = False  # nothing is approved without people


Judge = Callable[[Question], Verdict]

NO_VERDICT = Verdict()


def no_rules(_: Question) -> Verdict:
    return NO_VERDICT
