"""The door of one dispatch: hands approved actions over to their proposer and records what it reports."""

from __future__ import annotations

from typing import Any, cast

from cairn.core.execution import Execution
from cairn.ports import HandOver
from cairn.services.actions.sender import ActionSender
from cairn.services.actions.transports import SentAction
from cairn.services.text import sanitize_value
from cairn.store import Connection, LoadedRun
from cairn.store.actions import ledger

PROPOSER, ASSUMED = "proposer", "assumed"


class DispatchActions:
    """The approved actions of one dispatch, by the numbers of its recorded calls."""

    def __init__(self, sender: ActionSender, loaded: LoadedRun, e: Execution) -> None:
        self._sender = sender
        self._loaded = loaded
        self._execution = e
        self._handed_over: list[str] = []  # without a report

    async def hand_over(self, number: int) -> HandOver | None:
        """Start the action of a recorded call. None: it can't start now, and the call stays pending."""
        action_id = await self._action_of(number)
        if action_id is None:
            return None
        started = await self._sender.start(self._loaded, action_id)
        if started is None:
            return None
        self._handed_over.append(action_id)
        return HandOver(
            parameters=dict(started.content),
            idempotency_key=started.key,
            modified=started.action.modified,
        )

    async def report(self, number: int, outcome: str, result: Any) -> None:
        """Record the outcome of a handed-over action: done or failed."""
        action_id = await self._action_of(number)
        if action_id is None or action_id not in self._handed_over:
            return
        self._handed_over.remove(action_id)
        state = "done" if outcome == "done" else "failed"
        await self._sender.finish(action_id, SentAction(state, as_result(result)), reported_by=PROPOSER)

    async def assume_done(self) -> None:
        """Record handed-over actions without a report as done, because their proposer has continued."""
        for action_id in self._handed_over:
            await self._sender.finish(action_id, SentAction("done", {}), reported_by=ASSUMED)
        self._handed_over.clear()

    async def _action_of(self, number: int) -> str | None:
        e = self._execution

        def read(connection: Connection) -> str | None:
            return ledger.action_of_call(connection, e.id, e.revision, number)

        return await self._sender.database.aread(read)


def as_result(value: Any) -> dict[str, Any]:
    """The reported result as an object."""
    clean = sanitize_value(value)
    return cast("dict[str, Any]", clean) if isinstance(clean, dict) else {"value": clean}
