"""Locks on runs and pipelines: one change at a time in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from weakref import WeakValueDictionary


class Locks:
    """Locks by id. To avoid deadlocks, lock a pipeline before its runs."""

    def __init__(self) -> None:
        self._locks = WeakValueDictionary[str, asyncio.Lock]()

    def lock(self, *ids: str) -> AbstractAsyncContextManager[None]:
        return self._lock(ids[0]) if len(ids) == 1 else self._lock_all(ids)

    @asynccontextmanager
    async def _lock_all(self, ids: tuple[str, ...]) -> AsyncGenerator[None]:
        async with AsyncExitStack() as stack:
            for name in sorted(set(ids)):
                await stack.enter_async_context(self._lock(name))
            yield

    def _lock(self, id: str) -> asyncio.Lock:
        lock = self._locks.get(id)
        if lock is None:
            lock = self._locks[id] = asyncio.Lock()
        return lock
