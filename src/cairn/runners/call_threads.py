"""Run a function in its own thread and let it call back to the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

from cairn.runners.processes.lifecycle import await_shielded

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
        self._loop_thread = threading.get_ident()
        self._is_abandoned = False
        self._is_over = False
        self._waiting = set[asyncio.Task[Any]]()  # coroutines that the thread waits for

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
        finally:
            self._is_over = True
            if self._waiting:
                await await_shielded(asyncio.wait(self._waiting))

    def check(self) -> None:
        """Raise CallStopped once the thread is abandoned."""
        if self._is_abandoned:
            raise CallStopped

    def guard(self, call: Callable[..., T]) -> Callable[..., T]:
        """Wrap a callback so that it raises CallStopped once the thread is abandoned."""

        def guarded(*args: Any) -> T:
            self.check()
            return call(*args)

        return guarded

    def post(self, call: Callable[..., None]) -> Callable[..., None]:
        """Wrap a callback so that it runs on the event loop, in order and before `run` returns."""

        def posted(*args: Any) -> None:
            self._loop.call_soon_threadsafe(call, *args)

        return self.guard(posted)

    def wait(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine on the event loop and wait in the thread. `run` doesn't return before it has ended."""
        self.check()
        if threading.get_ident() == self._loop_thread:
            raise RuntimeError("Register the coroutine function itself, so that it can await its calls of ctx.")
        result = asyncio.run_coroutine_threadsafe(self._waited(call), self._loop).result()
        self.check()
        return result

    async def _waited(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if self._is_over:
            raise CallStopped
        task = cast("asyncio.Task[Any]", asyncio.current_task())
        self._waiting.add(task)
        try:
            return await call()
        finally:
            self._waiting.discard(task)
