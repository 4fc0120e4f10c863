"""Start child processes that never outlive the code that started them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable
from io import FileIO
from typing import Any

from cairn.ports import Process, ProcessSpec, Sandbox


@contextlib.asynccontextmanager
async def running_process(sandbox: Sandbox, spec: ProcessSpec) -> AsyncGenerator[Process]:
    """Start a process. On exit, it is killed with all its descendants, even after a cancellation."""
    starting = asyncio.ensure_future(sandbox.start(spec))
    try:
        process = await asyncio.shield(starting)
        yield process
    finally:
        await await_shielded(_kill(starting))


async def _kill(starting: asyncio.Future[Process]) -> None:
    with contextlib.suppress(OSError):
        process = await starting
        try:
            await process.kill()
        finally:
            process.close()


async def read_output(file: FileIO, max_chunk: int) -> AsyncGenerator[bytes]:
    """Yield the output that a process writes to a pipe, until it closes the pipe. The caller must close `file`.

    This doesn't use an asyncio transport, because uvloop closes the file descriptor a second time after the pipe is
    closed. By then the descriptor may belong to a file of another thread.
    """
    chunk: bytes | None = None
    while chunk != b"":
        await _wait_readable(file.fileno())
        chunk = file.read(max_chunk)
        if chunk:
            yield chunk


async def _wait_readable(fd: int) -> None:
    loop = asyncio.get_running_loop()
    readable: asyncio.Future[None] = loop.create_future()
    loop.add_reader(fd, lambda: readable.done() or readable.set_result(None))
    try:
        await readable
    finally:
        loop.remove_reader(fd)


async def await_shielded(work: Awaitable[Any]) -> None:
    """Wait until the work is done, even if the caller is cancelled. Then raise the cancellation."""
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
