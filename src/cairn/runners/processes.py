"""Processes that end with whoever started them, whatever happens meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable
from typing import Any

from cairn.ports import Job, Process, Sandbox


@contextlib.asynccontextmanager
async def started(sandbox: Sandbox, job: Job) -> AsyncGenerator[Process]:
    """Whatever happens, afterwards nothing of it is left."""
    starting = asyncio.ensure_future(sandbox.start(job))
    try:
        process = await asyncio.shield(starting)
        yield process
    finally:
        await to_its_end(_end(starting))


async def _end(starting: asyncio.Future[Process]) -> None:
    with contextlib.suppress(OSError):
        process = await starting
        try:
            await process.kill()
        finally:
            process.close()


async def to_its_end(work: Awaitable[Any]) -> None:
    """Not even a second cancellation leaves a process behind."""
    task = asyncio.ensure_future(work)
    is_cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            is_cancelled = True
    task.result()
    if is_cancelled:
        raise asyncio.CancelledError
