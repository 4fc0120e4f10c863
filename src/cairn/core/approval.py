"""A question put to people, and their answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from cairn.core.frozen import Replaceable
from cairn.core.rule_verdict import ApprovalTerms, EvaluatedRule, RiskLevel
from cairn.core.states import ApprovalKind, ApprovalStatus

APPROVING_DECISIONS = frozenset({"approve", "modify", "accept"})  # decisions that several people may have to give


@dataclass(frozen=True, slots=True)
class Vote:
    """One person's (or rule's) answer to an approval."""

    by: str
    at: datetime
    decision: str
    feedback: str = ""
    digest: str = ""  # what it was bound to
    answer: str | None = None  # checksum of what was filled in or modified


@dataclass(frozen=True)
class Approval(Replaceable):
    id: str
    execution: str
    kind: ApprovalKind
    digest: str  # of what is shown
    requested_at: datetime
    status: ApprovalStatus = ApprovalStatus.PENDING
    terms: ApprovalTerms = field(default_factory=ApprovalTerms)
    assigned_to: tuple[str, ...] = ()  # who may decide now; none: whoever may decide at all
    votes: tuple[Vote, ...] = ()
    period: int = 1
    reminded_period: int = 0  # the period in which people were reminded last
    escalated: bool = False  # others have been brought in
    expires_at: datetime | None = None
    closed_at: datetime | None = None
    reason: str = ""
    attempt: int = 1  # of its execution, when it was asked
    reused_from: str | None = None  # the approval of equal content that it repeats
    rule: str = ""  # the one that asks, or has approved
    scope: str = ""  # of that rule: global, or the pipeline's id
    rules_revision: int = 0
    priority: int = 100
    audit: bool = False  # people look at this automatic approval afterwards
    operation_type: str | None = None  # of a proposed action, and so are the next two
    risk: RiskLevel | None = None
    confidence: float | None = None
    evaluated_rules: tuple[EvaluatedRule, ...] = field(default=(), compare=False)  # written once, when it is asked

    @property
    def required_approvals(self) -> int:
        """How many different people have to agree."""
        return 1 if self.kind in (ApprovalKind.INPUT, ApprovalKind.ESCALATION) else self.terms.required_approvals

    @property
    def counted_votes(self) -> tuple[Vote, ...]:
        """The votes that count: a modification restarts the count."""
        last = max((n for n, vote in enumerate(self.votes) if vote.decision == "modify"), default=0)
        return self.votes[last:]

    @property
    def approved_by(self) -> frozenset[str]:
        return frozenset(vote.by for vote in self.counted_votes if vote.decision in APPROVING_DECISIONS)
