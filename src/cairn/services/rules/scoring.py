"""How well a rule agrees with people: shares with what can be said of them from so few cases."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from cairn.core.states import ApprovalStatus

Z = 1.959964  # of the normal distribution: 95 percent lie within

APPROVED, MODIFIED, REVISED, REJECTED = "approved", "modified", "revision_requested", "rejected"


@dataclass(frozen=True, slots=True)
class Proportion:
    """So many of so many, and between which bounds the true share lies with 95 % confidence (Wilson)."""

    count: int = 0
    of: int = 0

    @property
    def rate(self) -> float | None:
        return self.count / self.of if self.of else None

    @property
    def bounds(self) -> tuple[float, float]:
        if self.of == 0:
            return 0.0, 1.0
        share, n = self.count / self.of, self.of
        middle = share + Z * Z / (2 * n)
        reach = Z * sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
        total = 1 + Z * Z / n
        low = 0.0 if self.count == 0 else (middle - reach) / total
        high = 1.0 if self.count == self.of else (middle + reach) / total
        return low, high


def answer_of(status: str, is_modified: bool) -> str | None:
    """What people said in the end; None if they did not decide: silence is no answer."""
    match status:
        case ApprovalStatus.APPROVED:
            return MODIFIED if is_modified else APPROVED
        case ApprovalStatus.REVISION_REQUESTED:
            return REVISED
        case ApprovalStatus.REJECTED:
            return REJECTED
        case _:
            return None


def agrees(answer: str) -> bool:
    """Whether an approval without people would have come to the same. A correction is no yes to what was proposed."""
    return answer == APPROVED
