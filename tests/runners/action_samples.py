"""Actions for tests of runners: a door in memory, and the results of recorded calls."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cairn.ports import HandOver, RecordedCall

Json = dict[str, Any]
REFUND: Json = {"account": "42", "amount": 5}
APPROVED: Json = {
    "decision": "approved",
    "state": "approved",
    "result": None,
    "idempotency_key": "key-1",
    "action_id": "a1",
    "reason": None,
}


def recorded(state: str, **fields: Any) -> Json:
    """The result of a recorded action in this state."""
    return {**APPROVED, "state": state, **fields}


def refund_call(number: int, result: Mapping[str, Any] | None, **arguments: Any) -> RecordedCall:
    """The recorded call of `ctx.propose_action("refund", REFUND)`."""
    proposed: Json = {
        "operation_type": "refund",
        "parameters": REFUND,
        "reasoning": "",
        "confidence": None,
        "risk_level": None,
        "supporting_data": None,
        **arguments,
    }
    return RecordedCall(number, "action", proposed, result)


@dataclass
class MemoryDoor:
    """Hands over each action once, and lists what it was asked."""

    held: frozenset[int] = frozenset()
    approved: Json = field(default_factory=lambda: dict(REFUND))
    modified: bool = False
    log: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])
    delay: float = 0
    error: Exception | None = None

    async def hand_over(self, number: int) -> HandOver | None:
        await asyncio.sleep(self.delay)
        if self.error is not None:
            raise self.error
        if number in self.held:
            self.log.append(("held", number))
            return None
        assert ("hand_over", number) not in self.log, "an action is handed over once"
        self.log.append(("hand_over", number))
        return {"parameters": self.approved, "idempotency_key": f"key-{number}", "modified": self.modified}

    async def report(self, number: int, outcome: str, result: Any) -> None:
        await asyncio.sleep(self.delay)
        self.log.append(("report", number, outcome, result))

    async def assume_done(self) -> None:
        await asyncio.sleep(self.delay)
        self.log.append(("assume_done",))
