"""Limits on the model usage of a run. The run pauses when it reaches one."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits on one run. None means no limit."""

    max_cost_usd: Decimal | None = None
    max_tokens: int | None = None  # input and output
    max_calls: int | None = None

    def with_defaults(self, other: Budget) -> Budget:
        """This budget, with the limits of `other` where it has none."""
        return Budget(
            other.max_cost_usd if self.max_cost_usd is None else self.max_cost_usd,
            other.max_tokens if self.max_tokens is None else self.max_tokens,
            other.max_calls if self.max_calls is None else self.max_calls,
        )

    @property
    def as_dict(self) -> dict[str, Any]:
        """The limits for events and rows. Amounts of money are strings, which keep every digit."""
        cost = None if self.max_cost_usd is None else str(self.max_cost_usd)
        limits = {"max_cost_usd": cost, "max_tokens": self.max_tokens, "max_calls": self.max_calls}
        return {name: value for name, value in limits.items() if value is not None}


UNLIMITED = Budget()
