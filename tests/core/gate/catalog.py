"""What can be proposed in the model, and the rules about it."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

from cairn.core.action import LimitUse, Place
from cairn.core.action_rules import ActionRules, ApprovingRule, RuleLimit
from cairn.core.business_hours import BusinessHours, HourRange
from cairn.core.comparisons import MISSING
from cairn.core.conditions import Condition, OneOf
from cairn.core.rule_judge import judge_action
from cairn.core.rule_verdict import ApprovalTerms, ProposedAction, RiskLevel, RuleQuestion
from cairn.core.rules import Rule, ScopedRulebook
from cairn.core.seats import SeatGroup
from cairn.core.states import ActionEffect, ApprovalKind
from tests.core.rule_builders import approves, asks, book, compared, field

FINANCE, LEGAL = "finance", "legal"
OPENS, CLOSES = 8, 20  # business hours
HOURS = HourRange(OPENS * 60, CLOSES * 60)


class OperationType(NamedTuple):
    effect: ActionEffect
    risk: RiskLevel
    identity: tuple[str, ...]
    is_handed_over: bool = False
    is_idempotent: bool = False


class Content(NamedTuple):
    """A request. `file` is the version of an attached file, once it is resolved."""

    operation: str
    account: str
    amount: Any
    memo: int | None = 0
    file: int | None = None
    untrusted: bool = False

    @property
    def type(self) -> OperationType:
        return OPERATIONS[self.operation]

    @property
    def digest(self) -> str:
        return digest_of(self)

    @property
    def identity(self) -> str:
        return digest_of([(name, getattr(self, name)) for name in self.type.identity])

    def resolved(self, file_version: int) -> Content:
        return self if self.file is None else self._replace(file=file_version)


EVERYTHING = ("account", "amount", "memo", "file")
OPERATIONS = {
    "transfer": OperationType(ActionEffect.CHANGES, RiskLevel.HIGH, ("account", "amount")),
    "payout": OperationType(ActionEffect.CHANGES, RiskLevel.MEDIUM, ("account", "amount"), is_idempotent=True),
    "booking": OperationType(ActionEffect.CHANGES, RiskLevel.MEDIUM, ("account", "amount"), is_handed_over=True),
    "note": OperationType(ActionEffect.CHANGES, RiskLevel.LOW, EVERYTHING),
    "search": OperationType(ActionEffect.SENDS, RiskLevel.LOW, EVERYTHING),
}


def digest_of(value: object) -> str:
    return sha256(repr(value).encode()).hexdigest()[:16]


def operation(*names: str) -> Condition:
    return OneOf("operation_type", names)


SUM = field("amount")
RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        asks(
            "large",
            operation("transfer", "payout", "booking"),
            compared("amount", ">", 100),
            steps=((SeatGroup((FINANCE,)), SeatGroup((LEGAL,))),),
        ),
        asks(
            "account B",
            operation("transfer"),
            compared("account", "==", "B"),
            terms=ApprovalTerms(required_approvals=2, not_by_starter=True),
        ),
        asks("legal notes", operation("note"), compared("memo", "==", 2), terms=ApprovalTerms(approvers=(LEGAL,))),
        approves(
            "small",
            operation("transfer"),
            compared("amount", "<=", 50),
            limit=RuleLimit(2, "amount", Decimal(80), "family", SUM),
        ),
        approves("bookings", operation("booking"), compared("amount", "<=", 50)),
        approves(
            "daily",
            operation("payout"),
            compared("amount", "<=", 60),
            limit=RuleLimit(9, "amount", Decimal(120), "day", SUM),
        ),
    )
}


@lru_cache
def books(active: frozenset[str]) -> list[ScopedRulebook]:
    hours = BusinessHours("UTC", weekdays=HOURS, weekend=HOURS)
    return [book(*(rule for name, rule in RULES.items() if name in active), hours=hours)]


def rules_about(content: Content, active: frozenset[str], at: datetime) -> ActionRules:
    parameters = {"account": content.account, "amount": content.amount, "memo": content.memo}
    given = {name: value for name, value in parameters.items() if value is not None}
    proposed = ProposedAction(
        content.operation, given, content.type.risk, None, {"untrusted": True} if content.untrusted else {}
    )
    question = RuleQuestion(ApprovalKind.ACTION, "", "", "", at, proposed)
    return judge_action(books(active), question, lambda _: MISSING, draw_key="")


def limit_use(rule: ApprovingRule, place: Place, at: datetime) -> LimitUse | None:
    if rule.limit is None or rule.limit_use is None:
        return None
    window = f"family {place.family}" if rule.limit.per == "family" else f"day {at:%Y-%m-%d}"
    return LimitUse(rule.rule_id, window, rule.limit_use.amount)
