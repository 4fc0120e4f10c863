"""The position of a script in its recorded calls, and the actions that are handed over to it.

The script's process is not trusted. It can only get the action of the call that it is at, once, and after it has made
all earlier calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cairn.ports import HandOver, RecordedCall, WorkOrder
from cairn.runners.hand_overs import HandOvers
from cairn.runners.processes.child.actions import OUTCOMES, is_approved
from cairn.runners.processes.connection import ProtocolError


class ScriptCalls:
    def __init__(self, work: WorkOrder) -> None:
        self._calls = work.calls
        self._hand_overs = HandOvers(work.actions)
        self._position = 0  # the number of calls that have returned
        self._held: int | None = None  # the call whose action can't start now

    async def return_result(self, number: int) -> None:
        """The script reads its inputs after this call."""
        if number <= self._position:
            return
        call = self._call(number)
        if call is None or call.result is None or is_approved(call.result):
            raise ProtocolError(f"call {number} has no result")
        await self._hand_overs.assume_done()
        self._position = number

    async def hand_over(self, number: int) -> HandOver | None:
        """Hand over the action of this call. None: it can't start now."""
        call = self._call(number)
        if call is None or call.kind != "action" or not is_approved(call.result) or self._held is not None:
            raise ProtocolError(f"call {number} has no action that can be handed over")
        await self._hand_overs.assume_done()
        hand_over = await self._hand_overs.begin(number)
        if hand_over is None:
            self._held = number
        else:
            self._position = number
        return hand_over

    async def report(self, outcome: str, result: Any) -> None:
        if outcome not in OUTCOMES:
            raise ProtocolError(f"{outcome!r} is not an outcome")
        if not self._hand_overs.unreported:
            raise ProtocolError("no action was handed over, or its outcome was reported already")
        await self._hand_overs.report(self._hand_overs.unreported[-1], outcome, result)

    async def end(self, number: int, kind: str, arguments: Mapping[str, Any]) -> RecordedCall | None:
        """The script ends with a call that is pending. Return the recorded call if it was made before."""
        call = self._call(number)
        if call is not None and (call.kind, dict(call.arguments)) != (kind, dict(arguments)):
            raise ProtocolError(f"call {number} is not the recorded call")
        if call is not None and call.result is not None and number != self._held:
            raise ProtocolError(f"call {number} is not pending")
        await self._hand_overs.assume_done()
        return call

    def is_held(self, number: int) -> bool:
        return number == self._held

    async def assume_done(self) -> None:
        """The script has returned."""
        await self._hand_overs.assume_done()

    def _call(self, number: int) -> RecordedCall | None:
        """The recorded call with this number, which has to be the next one."""
        if number != self._position + 1:
            raise ProtocolError(f"call {number} is not the next call")
        return self._calls[number - 1] if number <= len(self._calls) else None
