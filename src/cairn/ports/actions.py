"""How a runner hands an approved action to the code or agent that carries it out."""

from __future__ import annotations

from typing import Any, Protocol, TypedDict


class HandOver(TypedDict):
    """An approved action that the proposer carries out now. It is given out once."""

    parameters: dict[str, Any]  # as approved
    idempotency_key: str
    modified: bool  # whether people have changed the parameters


class ActionDoor(Protocol):
    """The approved actions of one dispatch. Calls are known by their number in the revision."""

    async def hand_over(self, number: int) -> HandOver | None:
        """Start the action of a recorded call. None: it can't start now, and the call stays pending."""
        ...

    async def report(self, number: int, outcome: str, result: Any) -> None:
        """Record the outcome of a handed-over action: done or failed."""
        ...

    async def assume_done(self) -> None:
        """Record handed-over actions without a report as done, because their proposer has continued."""
        ...
