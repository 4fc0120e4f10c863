"""A program that serves tools over its standard input and output; it ends when the execution does, at once."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from cairn.runners.agents.policy import McpServer

LONGEST_LINE = 16 * 1024 * 1024  # bytes of one message
GRACE = 0.2  # seconds to end by itself
PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "USER", "LOGNAME", "SHELL", "TERM")


def environment(server: McpServer) -> dict[str, str]:
    """What is harmless of this process's own, and what the settings say: never its keys."""
    return {name: os.environ[name] for name in PASSED_ON if name in os.environ} | dict(server.env)


@contextlib.asynccontextmanager
async def spoken_to(server: McpServer) -> AsyncGenerator[tuple[Any, Any]]:
    """Streams of messages from and to the program, as a session takes them."""
    process = await asyncio.create_subprocess_exec(
        server.command or "",
        *server.args,
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env=environment(server),
        start_new_session=True,
        limit=LONGEST_LINE,
    )
    heard, hearing = anyio.create_memory_object_stream[SessionMessage | Exception](16)
    saying, said = anyio.create_memory_object_stream[SessionMessage](16)
    tasks = [asyncio.ensure_future(_hear(process, heard)), asyncio.ensure_future(_say(process, said))]
    try:
        yield hearing, saying
    finally:
        for task in tasks:
            task.cancel()
        await end(process)
        await asyncio.gather(*tasks, return_exceptions=True)
        for stream in (heard, hearing, saying, said):
            stream.close()


async def _hear(process: Process, heard: Any) -> None:
    assert process.stdout is not None  # noqa: S101 - it was asked for
    with contextlib.suppress(ValueError, anyio.ClosedResourceError, anyio.BrokenResourceError):
        while line := await process.stdout.readline():
            try:
                await heard.send(SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False)))
            except ValueError as error:
                await heard.send(error)
    heard.close()


async def _say(process: Process, said: Any) -> None:
    assert process.stdin is not None  # noqa: S101 - it was asked for
    with contextlib.suppress(OSError, anyio.EndOfStream, anyio.ClosedResourceError):
        async for one in said:
            process.stdin.write(one.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            await process.stdin.drain()


async def end(process: Process) -> None:
    """The program, and all that it has started in its group."""
    if process.stdin is not None:
        process.stdin.close()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), GRACE)
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
