"""Measure how often rules agree with users, as proportions with confidence bounds."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from cairn.core.states import ApprovalStatus

Z = 1.959964  # of the normal distribution, for 95 % confidence

APPROVED, MODIFIED, REVISED, REJECTED = "approved", "modified", "revision_requested", "rejected"


@dataclass(frozen=True, slots=True)
class Proportion:
    """A count out of a total, with the bounds of the true rate at 95 % confidence (Wilson)."""

    count: int = 0
    total: int = 0

    @property
    def rate(self) -> float | None:
        return self.count / self.total if self.total else None

    @property
    def bounds(self) -> tuple[float, float]:
        if self.total == 0:
            return 0.0, 1.0
        rate, n = self.count / self.total, self.total
        center = rate + Z * Z / (2 * n)
        margin = Z * sqrt(rate * (1 - rate) / n + Z * Z / (4 * n * n))
        scale = 1 + Z * Z / n
        low = 0.0 if self.count == 0 else (center - margin) / scale
        high = 1.0 if self.count == self.total else (center + margin) / scale
        return low, high


def user_decision(status: str, is_modified: bool) -> str | None:
    """The final decision of users. None if they didn't decide, for example because of a timeout."""
    match status:
        case ApprovalStatus.APPROVED:
            return MODIFIED if is_modified else APPROVED
        case ApprovalStatus.REVISION_REQUESTED:
            return REVISED
        case ApprovalStatus.REJECTED:
            return REJECTED
        case _:
            return None


def agrees(decision: str) -> bool:
    """Whether an automatic approval would have had the same result. Approval of a modified action doesn't count."""
    return decision == APPROVED
