"""The actions that were handed over to the code or agent of one dispatch, until their outcome is recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from cairn.ports import ActionDoor, HandOver
from cairn.runners.processes.lifecycle import await_shielded

T = TypeVar("T")


class DoorError(BaseException):
    """A request to the door failed. It is not an error of the code that made it, which must not catch it."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class HandOvers:
    """Calls the door, one request at a time. A request that has started is completed, even after a cancellation."""

    def __init__(self, door: ActionDoor | None) -> None:
        self._door = door
        self._lock = asyncio.Lock()
        self._unreported: list[int] = []  # call numbers

    @property
    def unreported(self) -> tuple[int, ...]:
        """The numbers of the calls whose actions have no outcome yet, oldest first."""
        return tuple(self._unreported)

    async def begin(self, number: int) -> HandOver | None:
        """Start the action of this call. None: it can't start now."""
        if self._door is None:
            return None
        hand_over = await self._send(self._door.hand_over(number))
        if hand_over is not None:
            self._unreported.append(number)
        return hand_over

    def report(self, number: int, outcome: str, result: Any) -> Coroutine[Any, Any, None]:
        """Record the outcome of an unreported action."""
        self._unreported.remove(number)
        return self._send(self._door.report(number, outcome, result) if self._door is not None else None)

    def assume_done(self) -> Coroutine[Any, Any, None]:
        """The proposer has continued, so unreported actions count as done."""
        door = self._door if self._unreported else None
        self._unreported.clear()
        return self._send(door.assume_done() if door is not None else None)

    async def _send(self, request: Coroutine[Any, Any, T] | None) -> T | None:
        """Complete a request, even if the caller is cancelled. Then raise the cancellation."""
        if request is None:
            return None
        async with self._lock:
            task = asyncio.ensure_future(request)
            try:
                await await_shielded(task)
            except Exception as error:
                raise DoorError(error) from error
            return task.result()


class OffsetDoor:
    """A door for a script whose calls are numbered after the questions for its parameters."""

    def __init__(self, door: ActionDoor, offset: int) -> None:
        self._door = door
        self._offset = offset

    async def hand_over(self, number: int) -> HandOver | None:
        return await self._door.hand_over(number + self._offset)

    async def report(self, number: int, outcome: str, result: Any) -> None:
        await self._door.report(number + self._offset, outcome, result)

    async def assume_done(self) -> None:
        await self._door.assume_done()
