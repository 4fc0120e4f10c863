"""A question put to people, and their answers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from cairn.core.states import ApprovalStatus, Kind
from cairn.core.values import Changing

AGREEING = frozenset({"approve", "modify", "accept"})  # decisions that several people may have to give


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
class Approval(Changing):
    id: str
    execution: str
    kind: Kind
    digest: str  # of what is shown
    asked_at: datetime
    status: ApprovalStatus = ApprovalStatus.PENDING
    needed: int = 1
    votes: tuple[Vote, ...] = ()
    period: int = 1
    expires_at: datetime | None = None
    closed_at: datetime | None = None
    reason: str = ""
    attempt: int = 1  # of its execution, when it was asked
    kept_from: str | None = None  # the approval of equal content that it repeats (H3a)

    @property
    def counted(self) -> tuple[Vote, ...]:
        """The votes that count: a modification restarts the count (D26)."""
        last = max((n for n, vote in enumerate(self.votes) if vote.decision == "modify"), default=0)
        return self.votes[last:]

    @property
    def agreeing(self) -> frozenset[str]:
        return frozenset(vote.by for vote in self.counted if vote.decision in AGREEING)
