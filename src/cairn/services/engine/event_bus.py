"""Change hints inside the process. Subscribers read the database to see what changed."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from threading import Lock, get_ident
from typing import NamedTuple

from cairn.services.engine.commit import Commit


class ChangeHint(NamedTuple):
    """Something changed. Read the database to see what."""

    pipeline_id: str | None
    run_id: str | None
    event_type: str


_QUEUE_LIMIT = 256  # hints queued for a slow subscriber; more are replaced by RESYNC
RESYNC = ChangeHint(None, None, "resync")  # hints were dropped


class EventSubscription:
    """The queued hints of one subscriber. `async for` returns them one by one, `wait` all at once."""

    def __init__(self, run_id: str | None) -> None:
        self.run_id = run_id
        self._loop = asyncio.get_running_loop()
        self._thread = get_ident()
        self._pushed = asyncio.Event()
        self._queue: deque[ChangeHint] = deque()
        self._lock = Lock()
        self._closed = False

    def push(self, changes: tuple[ChangeHint, ...]) -> None:
        """Can be called from any thread."""
        matching = [c for c in changes if self.run_id is None or c.run_id == self.run_id]
        if not matching:
            return
        with self._lock:
            self._queue.extend(matching)
            if len(self._queue) > _QUEUE_LIMIT:
                self._queue.clear()
                self._queue.append(RESYNC)
        self._wake()

    def close(self) -> None:
        self._closed = True
        self._wake()

    @property
    def is_closed(self) -> bool:
        return self._closed

    async def wait(self, seconds: float | None = None) -> tuple[ChangeHint, ...]:
        """All hints since the last call. Empty after a timeout or when the event bus is closed."""
        try:
            async with asyncio.timeout(seconds):
                while not self._queue and not self._closed:
                    self._pushed.clear()
                    if not self._queue and not self._closed:
                        await self._pushed.wait()
        except TimeoutError:
            return ()
        with self._lock:
            hints = tuple(self._queue)
            self._queue.clear()
        return hints

    def __aiter__(self) -> EventSubscription:
        return self

    async def __anext__(self) -> ChangeHint:
        while not self._closed:
            if self._queue:
                with self._lock:
                    return self._queue.popleft()
            self._pushed.clear()
            if not self._queue and not self._closed:
                await self._pushed.wait()
        raise StopAsyncIteration

    def _wake(self) -> None:
        if self._loop.is_closed():
            return
        if get_ident() == self._thread:
            self._pushed.set()
        else:
            self._loop.call_soon_threadsafe(self._pushed.set)


class EventBus:
    def __init__(self) -> None:
        self._subscriptions: tuple[EventSubscription, ...] = ()
        self._lock = Lock()
        self._closed = False

    @property
    def has_subscribers(self) -> bool:
        return bool(self._subscriptions)

    async def after_commit(self, commits: Sequence[Commit]) -> None:
        for commit in commits:
            if self.has_subscribers:
                facts = commit.after.facts
                self.publish(
                    *(ChangeHint(facts.pipeline_id, facts.run_id, str(e.type)) for e in commit.decision.events)
                )

    def publish(self, *changes: ChangeHint) -> None:
        for subscription in self._subscriptions:
            subscription.push(changes)

    def publish_transient(self, *changes: ChangeHint) -> None:
        """Publish only to subscribers of a single run, because lists don't show such changes."""
        for subscription in self._subscriptions:
            if subscription.run_id is not None:
                subscription.push(changes)

    @contextmanager
    def subscribe(self, run_id: str | None = None) -> Generator[EventSubscription, None, None]:
        """Subscribe to the hints of one run, or to all."""
        subscription = EventSubscription(run_id)
        if self._closed:
            subscription.close()
        with self._lock:
            self._subscriptions = (*self._subscriptions, subscription)
        try:
            yield subscription
        finally:
            with self._lock:
                self._subscriptions = tuple(other for other in self._subscriptions if other is not subscription)

    def close(self) -> None:
        """End all current and future subscriptions when the server stops."""
        self._closed = True
        for subscription in self._subscriptions:
            subscription.close()
