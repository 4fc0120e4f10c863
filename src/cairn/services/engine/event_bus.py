"""Hints inside one process that something has changed. Subscribers read the database to see what."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from threading import Lock, get_ident
from typing import NamedTuple

from cairn.services.engine.commit import Commit


class ChangeHint(NamedTuple):
    """Something has changed: read the database to see what."""

    pipeline_id: str | None
    run_id: str | None
    event_type: str


_MOST = 256  # hints kept for a listener that is slow; then one stands for all of them
RESYNC = ChangeHint(None, None, "anything")  # more has happened than was kept


class EventSubscription:
    """What one listener has not taken yet. `async for` gives hints one by one, `wait` all at once."""

    def __init__(self, run_id: str | None) -> None:
        self.run_id = run_id
        self._loop = asyncio.get_running_loop()
        self._thread = get_ident()
        self._news = asyncio.Event()
        self._kept: deque[ChangeHint] = deque()
        self._lock = Lock()
        self._closed = False

    def push(self, changes: tuple[ChangeHint, ...]) -> None:
        """May be called from any thread."""
        wanted = [c for c in changes if self.run_id is None or c.run_id == self.run_id]
        if not wanted:
            return
        with self._lock:
            self._kept.extend(wanted)
            if len(self._kept) > _MOST:
                self._kept.clear()
                self._kept.append(RESYNC)
        self._wake()

    def close(self) -> None:
        self._closed = True
        self._wake()

    @property
    def is_closed(self) -> bool:
        return self._closed

    async def wait(self, seconds: float | None = None) -> tuple[ChangeHint, ...]:
        """All hints since the last call; none if nothing came in time or the hub has closed."""
        try:
            async with asyncio.timeout(seconds):
                while not self._kept and not self._closed:
                    self._news.clear()
                    if not self._kept and not self._closed:
                        await self._news.wait()
        except TimeoutError:
            return ()
        with self._lock:
            taken = tuple(self._kept)
            self._kept.clear()
        return taken

    def __aiter__(self) -> EventSubscription:
        return self

    async def __anext__(self) -> ChangeHint:
        while not self._closed:
            if self._kept:
                with self._lock:
                    return self._kept.popleft()
            self._news.clear()
            if not self._kept and not self._closed:
                await self._news.wait()
        raise StopAsyncIteration

    def _wake(self) -> None:
        if self._loop.is_closed():
            return
        if get_ident() == self._thread:
            self._news.set()
        else:
            self._loop.call_soon_threadsafe(self._news.set)


class EventBus:
    def __init__(self) -> None:
        self._listeners: tuple[EventSubscription, ...] = ()
        self._lock = Lock()
        self._closed = False

    @property
    def has_subscribers(self) -> bool:
        return bool(self._listeners)

    async def after_commit(self, commits: Sequence[Commit]) -> None:
        for commit in commits:
            if self.has_subscribers:
                of = commit.after.facts
                self.publish(*(ChangeHint(of.pipeline_id, of.run_id, str(e.type)) for e in commit.decision.events))

    def publish(self, *changes: ChangeHint) -> None:
        for listener in self._listeners:
            listener.push(changes)

    def publish_transient(self, *changes: ChangeHint) -> None:
        """To those alone who listen to one run: lists do not change by it."""
        for listener in self._listeners:
            if listener.run_id is not None:
                listener.push(changes)

    @contextmanager
    def subscribe(self, run_id: str | None = None) -> Generator[EventSubscription, None, None]:
        """Hints about one run, or about everything."""
        listener = EventSubscription(run_id)
        if self._closed:
            listener.close()
        with self._lock:
            self._listeners = (*self._listeners, listener)
        try:
            yield listener
        finally:
            with self._lock:
                self._listeners = tuple(other for other in self._listeners if other is not listener)

    def close(self) -> None:
        """Ends every stream, and those that are asked for from now on: the server stops."""
        self._closed = True
        for listener in self._listeners:
            listener.close()
