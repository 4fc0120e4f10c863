"""A question for people, and their votes."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from cairn.core.frozen import Replaceable
from cairn.core.rule_verdict import ApprovalTerms, EvaluatedRule, RiskLevel
from cairn.core.states import ApprovalKind, ApprovalStatus

APPROVING_DECISIONS = frozenset({"approve", "accept"})  # several people can be required to make them


@dataclass(frozen=True, slots=True)
class Vote:
    """The decision of one person or rule on an approval."""

    by: str
    at: datetime
    decision: str
    feedback: str = ""
    digest: str = ""  # of the content that was decided on
    answer: str | None = None  # checksum of the form answers or the modified parameters


@dataclass(frozen=True)
class Approval(Replaceable):
    id: str
    execution: str
    kind: ApprovalKind
    digest: str  # of the content to decide on
    requested_at: datetime
    status: ApprovalStatus = ApprovalStatus.PENDING
    terms: ApprovalTerms = field(default_factory=ApprovalTerms)
    assigned_to: tuple[str, ...] = ()  # who can decide now; empty: all approvers
    votes: tuple[Vote, ...] = ()
    period: int = 1
    reminded_period: int = 0  # the last period with a reminder
    escalated: bool = False  # `terms.escalate_to` can decide too
    expires_at: datetime | None = None
    closed_at: datetime | None = None
    reason: str = ""
    attempt: int = 1  # of the execution, when approval was requested
    action: str | None = None  # the id of the action
    reused_from: str | None = None  # the earlier approval of equal content
    rule: str = ""  # the rule that requires approval or has approved
    scope: str = ""  # of that rule: global, or the pipeline's id
    rules_revision: int = 0
    priority: int = 100
    audit: bool = False  # people review this automatic approval afterwards
    operation_type: str | None = None  # of the proposed action, like `risk` and `confidence`
    risk: RiskLevel | None = None
    confidence: float | None = None
    evaluated_rules: tuple[EvaluatedRule, ...] = field(default=(), compare=False)  # saved once, with the request

    @property
    def required_approvals(self) -> int:
        """The number of different people who have to approve."""
        return 1 if self.kind in (ApprovalKind.INPUT, ApprovalKind.ESCALATION) else self.terms.required_approvals

    @property
    def approved_by(self) -> frozenset[str]:
        return frozenset(vote.by for vote in self.votes if vote.decision in APPROVING_DECISIONS)
