"""A thread for one call, and its line back to the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class CallStopped(RuntimeError):
    """The execution is over for Cairn: whatever the function still does is dropped."""

    def __init__(self) -> None:
        super().__init__("this execution has been stopped; what the function does now is dropped")


class CallThread:
    """Runs a call in a thread of its own, and drops it when the caller is cancelled.

    The thread is no member of a pool: a call that hangs takes no place of another, and does not hold up the exit.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._is_dropped = False

    async def run(self, call: Callable[[], Any]) -> tuple[Any, BaseException | None]:
        """What the call returns, or raises."""
        done: asyncio.Future[tuple[Any, BaseException | None]] = self._loop.create_future()

        def work() -> None:
            try:
                outcome = (call(), None)
            except BaseException as error:  # noqa: BLE001 - it is handed on
                outcome = (None, error)
            # The loop is closed when the whole process ends before the call does.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(settle, outcome)

        def settle(outcome: tuple[Any, BaseException | None]) -> None:
            if not done.done():
                done.set_result(outcome)

        threading.Thread(
            target=contextvars.copy_context().run, args=(work,), name="cairn-function", daemon=True
        ).start()
        try:
            return await done
        except asyncio.CancelledError:
            self._is_dropped = True
            raise

    def guard(self, call: Callable[..., T]) -> Callable[..., T]:
        """The same call, as long as anybody is there for it."""

        def guarded(*args: Any) -> T:
            if self._is_dropped:
                raise CallStopped
            return call(*args)

        return guarded

    def post(self, call: Callable[..., None]) -> Callable[..., None]:
        """The same call, made on the event loop; in order, and before the end of `run`."""

        def posted(*args: Any) -> None:
            self._loop.call_soon_threadsafe(call, *args)

        return self.guard(posted)
