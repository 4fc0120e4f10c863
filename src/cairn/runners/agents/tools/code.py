"""`code_execution`: runs Python in the sandbox, without network and with limits on time, memory and output."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from io import FileIO
from itertools import islice
from pathlib import Path
from typing import Any

from cairn.ports import Process, ProcessSpec, Sandbox, SandboxStatus, WorkOrder
from cairn.runners.agents.policy import AgentPolicy
from cairn.runners.agents.toolbox import Tool, ToolError, as_data
from cairn.runners.agents.tools.jail import MAX_DEPTH, walk
from cairn.runners.errors import CannotStart
from cairn.runners.processes.child import snippet  # importing it compiles it once for all child processes
from cairn.runners.processes.connection import ScriptConnection
from cairn.runners.processes.lifecycle import await_shielded, read_output, running_process

CHILD = Path(snippet.__file__).with_name("snippet_start.py")
EMPTY_FOLDER = "scripts"  # stays empty, because the program can read only its workspace
MAX_OUTPUT_BYTES = 20_000  # of each stream
DRAIN_SECONDS = 1.0  # for output that arrives after the process ended
MAX_CHOWN_FILES = 10_000
CHUNK_BYTES = 65_536


class ToolNotAvailable(CannotStart):
    """This server can't provide a tool that the checkpoint lists."""

    failure_type = "tool_not_available"


def code_tool(
    work: WorkOrder,
    policy: AgentPolicy,
    sandbox: Sandbox | None,
    status: SandboxStatus | None,
    slots: asyncio.Semaphore,
) -> Tool:
    """The `run_python` tool. Raises ToolNotAvailable if the sandbox is weaker than the policy requires."""
    if sandbox is None or status is None:
        raise ToolNotAvailable("code_execution is not available: this server has no sandbox.")
    if status.level.is_weaker(policy.code_level):
        raise ToolNotAvailable(
            f"code_execution requires the sandbox level {policy.code_level.value}, but this machine only provides"
            f" {status.level.value}: {status.reason} Fix the sandbox, or ask an admin to set code_sandbox to"
            f" {status.level.value}."
        )
    tool = CodeTool(work, policy, sandbox, slots)
    description = (
        "Run a Python program and return its output. The program has no network access. Its working directory is your"
        " folder workspace/, the only folder it can access. It is stopped after"
        f" {policy.code_timeout_seconds:g} seconds. To turn a file that it writes into an artifact, copy the file to"
        " artifacts_staging/ afterwards."
    )
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"code": {"type": "string", "minLength": 1, "maxLength": 200_000}},
        "required": ["code"],
        "additionalProperties": False,
    }
    return Tool("run_python", description, schema, tool.use)


class CodeTool:
    def __init__(self, work: WorkOrder, policy: AgentPolicy, sandbox: Sandbox, slots: asyncio.Semaphore) -> None:
        self._work = work
        self._policy = policy
        self._sandbox = sandbox
        self._slots = slots

    async def use(self, arguments: dict[str, Any]) -> str:
        empty = self._work.workspace.parent / EMPTY_FOLDER
        await asyncio.to_thread(lambda: empty.mkdir(mode=0o755, exist_ok=True))
        spec = ProcessSpec(
            name=self._work.execution_id,
            python=sys.executable,
            child=CHILD,
            workspace=self._work.workspace,
            scripts=empty,
            limits=replace(self._policy.code_limits, network=False),
        )
        try:
            async with self._slots, running_process(self._sandbox, spec) as process:
                await asyncio.to_thread(chown_files, self._work.workspace)
                return await self._run(process, arguments["code"])
        except OSError as error:
            raise ToolError(f"The program could not be started: {error}.") from None

    async def _run(self, process: Process, code: str) -> str:
        connection = await ScriptConnection.open(process)
        streams = [_CapturedStream(), _CapturedStream()]
        readers = [
            asyncio.ensure_future(stream.read(file)) for stream, file in zip(streams, process.output, strict=True)
        ]
        exit_code: int | None = None
        try:
            with contextlib.suppress(ConnectionError):
                await connection.send({}, code.encode(errors="replace"))
            with contextlib.suppress(TimeoutError):
                exit_code = await asyncio.wait_for(process.wait(), self._policy.code_timeout_seconds)
        finally:
            connection.close()
            await await_shielded(_drain(process, readers))
        output, errors = streams
        ending = _ending(exit_code, self._policy.code_timeout_seconds)
        return "\n\n".join([ending, *output.text("Output"), *errors.text("Errors")])


class _CapturedStream:
    """The beginning of an output stream. The rest is read and dropped."""

    def __init__(self) -> None:
        self._captured = bytearray()
        self._size = 0

    async def read(self, file: FileIO) -> None:
        async for chunk in read_output(file, CHUNK_BYTES):
            self._size += len(chunk)
            self._captured += chunk[: max(0, MAX_OUTPUT_BYTES - len(self._captured))]

    def text(self, title: str) -> list[str]:
        if not self._size:
            return []
        captured = len(self._captured)
        cut = f" (the first {captured:,} of {self._size:,} bytes)" if self._size > captured else ""
        return [as_data(f"{title}{cut}", self._captured.decode(errors="replace"))]


async def _drain(process: Process, readers: Sequence[asyncio.Future[None]]) -> None:
    await process.kill()
    await asyncio.wait(readers, timeout=DRAIN_SECONDS)
    for reader in readers:
        reader.cancel()
    await asyncio.gather(*readers, return_exceptions=True)


def _ending(exit_code: int | None, seconds: float) -> str:
    if exit_code is None:
        return f"The program was stopped after {seconds:g} seconds."
    number = -exit_code if exit_code < 0 else exit_code - 128
    if number in {known.value for known in signal.Signals}:
        return f"The program was killed by {signal.Signals(number).name}. It may have exceeded a limit."
    return "The program succeeded." if exit_code == 0 else f"The program failed with exit code {exit_code}."


def chown_files(workspace: Path) -> None:
    """Change the owner of files that this process has written to the user that the program runs as."""
    owner = workspace.lstat()
    if os.geteuid() != 0 or owner.st_uid == 0:
        return
    top = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        for _, fd, name, status in islice(walk(top, "", MAX_DEPTH), MAX_CHOWN_FILES):
            if status.st_uid == 0:
                with contextlib.suppress(OSError):
                    os.chown(name, owner.st_uid, owner.st_gid, dir_fd=fd, follow_symlinks=False)
    finally:
        os.close(top)
