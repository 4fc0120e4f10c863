"""What a run may use of models before it pauses."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits on one run; None is none."""

    max_cost_usd: Decimal | None = None
    max_tokens: int | None = None  # in and out
    max_calls: int | None = None

    def with_defaults(self, other: Budget) -> Budget:
        """This one where it says something, else the other."""
        return Budget(
            other.max_cost_usd if self.max_cost_usd is None else self.max_cost_usd,
            other.max_tokens if self.max_tokens is None else self.max_tokens,
            other.max_calls if self.max_calls is None else self.max_calls,
        )

    @property
    def as_dict(self) -> dict[str, Any]:
        """As events and rows tell it: amounts of money as texts, which keep every digit."""
        cost = None if self.max_cost_usd is None else str(self.max_cost_usd)
        given = {"max_cost_usd": cost, "max_tokens": self.max_tokens, "max_calls": self.max_calls}
        return {name: value for name, value in given.items() if value is not None}


UNLIMITED = Budget()
