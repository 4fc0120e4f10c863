"""Run a function in its own thread and let it call back to the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class CallStopped(RuntimeError):
    """The execution has ended. Whatever the function still does is ignored."""

    def __init__(self) -> None:
        super().__init__("This execution was stopped. Anything that the function still does is ignored.")


class CallThread:
    """Runs one call in a thread, and abandons the thread when the caller is cancelled.

    The thread is not part of a pool, so a call that hangs blocks neither other calls nor the exit of the process.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._is_abandoned = False

    async def run(self, call: Callable[[], Any]) -> tuple[Any, BaseException | None]:
        """Run the call. Return its return value or its exception."""
        done: asyncio.Future[tuple[Any, BaseException | None]] = self._loop.create_future()

        def work() -> None:
            try:
                outcome = (call(), None)
            except BaseException as error:  # noqa: BLE001 - returned to the caller
                outcome = (None, error)
            # The loop is closed if the process exits before the call ends.
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
            self._is_abandoned = True
            raise

    def guard(self, call: Callable[..., T]) -> Callable[..., T]:
        """Wrap a callback so that it raises CallStopped once the thread is abandoned."""

        def guarded(*args: Any) -> T:
            if self._is_abandoned:
                raise CallStopped
            return call(*args)

        return guarded

    def post(self, call: Callable[..., None]) -> Callable[..., None]:
        """Wrap a callback so that it runs on the event loop, in order and before `run` returns."""

        def posted(*args: Any) -> None:
            self._loop.call_soon_threadsafe(call, *args)

        return self.guard(posted)
