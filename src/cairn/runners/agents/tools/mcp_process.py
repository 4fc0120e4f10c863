"""Start an MCP server that uses standard input and output, and end it with the execution."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from cairn.runners.agents.policy import McpServer

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
MAX_STDERR_BYTES = 4_000  # the end of it
EXIT_SECONDS = 0.2  # before it is killed
LAST_WORDS_SECONDS = 0.5  # for its exit and the rest of its stderr, after its output has ended
INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "USER", "LOGNAME", "SHELL", "TERM")


def environment(server: McpServer) -> dict[str, str]:
    """The variables from the settings, and harmless variables of this process. API keys are never passed on."""
    return {name: os.environ[name] for name in INHERITED if name in os.environ} | dict(server.env)


class ProcessReport:
    """How a server process ended, and the end of what it wrote to stderr."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._reading: asyncio.Future[None] | None = None
        self._stderr = bytearray()

    def watch(self, process: Process) -> asyncio.Future[None]:
        self._process = process
        self._reading = asyncio.ensure_future(self._read(process))
        return self._reading

    async def _read(self, process: Process) -> None:
        assert process.stderr is not None  # noqa: S101 - the process was started with a pipe
        while data := await process.stderr.read(65_536):
            self._stderr += data
            del self._stderr[:-MAX_STDERR_BYTES]

    async def describe(self) -> str:
        """Its exit code, if it has ended, and the end of its stderr. Empty if there is neither."""
        if self._process is None or self._reading is None:
            return ""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._reading), LAST_WORDS_SECONDS)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), EXIT_SECONDS)
        code = self._process.returncode
        parts = [] if code is None else [f"it ended with signal {-code}" if code < 0 else f"it ended with code {code}"]
        if text := self._stderr.decode(errors="replace").strip():
            parts.append(f"stderr:\n{text}")
        return ", ".join(parts)


@contextlib.asynccontextmanager
async def connect_process(server: McpServer, report: ProcessReport) -> AsyncGenerator[tuple[Any, Any]]:
    """Start the program. Yields the read and write streams for a client session."""
    process = await _start(server)
    received, read = anyio.create_memory_object_stream[SessionMessage | Exception](16)
    write, sent = anyio.create_memory_object_stream[SessionMessage](16)
    tasks = [
        asyncio.ensure_future(_receive(process, received)),
        asyncio.ensure_future(_send(process, sent)),
        report.watch(process),
    ]
    try:
        yield read, write
    finally:
        for task in tasks:
            task.cancel()
        await end(process)
        await asyncio.gather(*tasks, return_exceptions=True)
        for stream in (received, read, write, sent):
            stream.close()


async def _start(server: McpServer) -> Process:
    command = server.command or ""
    try:
        return await asyncio.create_subprocess_exec(
            command,
            *server.args,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=environment(server),
            start_new_session=True,
            limit=MAX_MESSAGE_BYTES,
        )
    except OSError as error:
        raise OSError(f"{command} can't be started: {error.strerror or error}") from None


async def _receive(process: Process, received: Any) -> None:
    assert process.stdout is not None  # noqa: S101 - the process was started with a pipe
    with contextlib.suppress(ValueError, anyio.ClosedResourceError, anyio.BrokenResourceError):
        while line := await process.stdout.readline():
            try:
                await received.send(SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False)))
            except ValueError as error:
                await received.send(error)
    received.close()


async def _send(process: Process, sent: Any) -> None:
    assert process.stdin is not None  # noqa: S101 - the process was started with a pipe
    with contextlib.suppress(OSError, anyio.EndOfStream, anyio.ClosedResourceError):
        async for message in sent:
            process.stdin.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            await process.stdin.drain()


async def end(process: Process) -> None:
    """End the program and every process in its group."""
    if process.stdin is not None:
        process.stdin.close()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), EXIT_SECONDS)
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
