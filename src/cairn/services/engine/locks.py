"""One at a time: who changes a run, or a pipeline's folder, holds it meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from weakref import WeakValueDictionary


class Locks:
    """By id. Who holds a pipeline and its runs takes the pipeline first: so nobody waits for one another."""

    def __init__(self) -> None:
        self._locks = WeakValueDictionary[str, asyncio.Lock]()

    def lock(self, *ids: str) -> AbstractAsyncContextManager[None]:
        """Nobody else in this process changes these meanwhile."""
        return self._lock(ids[0]) if len(ids) == 1 else self._all(ids)

    @asynccontextmanager
    async def _all(self, ids: tuple[str, ...]) -> AsyncGenerator[None]:
        async with AsyncExitStack() as stack:
            for each in sorted(set(ids)):
                await stack.enter_async_context(self._lock(each))
            yield

    def _lock(self, id: str) -> asyncio.Lock:
        lock = self._locks.get(id)
        if lock is None:
            lock = self._locks[id] = asyncio.Lock()
        return lock
