"""Processes that end with whoever started them, whatever happens meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable
from io import FileIO
from typing import Any

from cairn.ports import Process, ProcessSpec, Sandbox


@contextlib.asynccontextmanager
async def running_process(sandbox: Sandbox, job: ProcessSpec) -> AsyncGenerator[Process]:
    """Whatever happens, afterwards nothing of it is left."""
    starting = asyncio.ensure_future(sandbox.start(job))
    try:
        process = await asyncio.shield(starting)
        yield process
    finally:
        await await_shielded(_end(starting))


async def _end(starting: asyncio.Future[Process]) -> None:
    with contextlib.suppress(OSError):
        process = await starting
        try:
            await process.kill()
        finally:
            process.close()


async def read_output(file: FileIO, most: int) -> AsyncGenerator[bytes]:
    """What a process writes into a pipe, piece by piece, until it is closed there.

    The file stays its owner's. No transport is made of it: uvloop closes a pipe's number a second time after it has
    closed the pipe, and by then the number may be that of another thread's file.
    """
    piece: bytes | None = None
    while piece != b"":
        await _readable(file.fileno())
        piece = file.read(most)
        if piece:
            yield piece


async def _readable(fd: int) -> None:
    loop = asyncio.get_running_loop()
    comes: asyncio.Future[None] = loop.create_future()
    loop.add_reader(fd, lambda: comes.done() or comes.set_result(None))
    try:
        await comes
    finally:
        loop.remove_reader(fd)


async def await_shielded(work: Awaitable[Any]) -> None:
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
