"""`code_execution`: Python in the house's sandbox, without network, with bounded time, memory and output."""

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
from cairn.runners.agents.tools.jail import DEEPEST, walk
from cairn.runners.errors import CannotStart
from cairn.runners.processes.child import snippet  # imported here, it is compiled for every process that starts
from cairn.runners.processes.connection import ScriptConnection
from cairn.runners.processes.lifecycle import printed, started, to_its_end

CHILD = Path(snippet.__file__).with_name("snippet_start.py")
NOTHING = "scripts"  # an empty folder: code has nothing to read besides its workspace
OUTPUT = 20_000  # characters of each stream that a model is given
DRAINING = 1.0  # seconds for what was printed last
MOST_FILES = 10_000  # that are handed over to the user that code runs as
PIECE = 65_536


class ToolNotAvailable(CannotStart):
    """A checkpoint names a tool that cannot be had here."""

    reason = "tool_not_available"


def code_tool(
    work: WorkOrder,
    rules: AgentPolicy,
    sandbox: Sandbox | None,
    reached: SandboxStatus | None,
    places: asyncio.Semaphore,
) -> Tool:
    """`places`: so many programs run at the same time. ToolNotAvailable where nothing shuts the code in well enough."""
    if sandbox is None or reached is None:
        raise ToolNotAvailable("code_execution cannot be used: this server has no sandbox.")
    if reached.level.is_weaker(rules.code_level):
        raise ToolNotAvailable(
            f"code_execution is to run at the level {rules.code_level.value}, and this machine reaches"
            f" {reached.level.value} only: {reached.reason} Make it work, or let an admin set code_sandbox to"
            f" {reached.level.value}."
        )
    runs = CodeTool(work, rules, sandbox, places)
    description = (
        "Run a Python program. It has no network, and sees only your folder workspace/, which is its current folder;"
        f" what it prints comes back. It has {rules.code_timeout_seconds:g} seconds. To make an artifact of a file that"
        " it writes, copy the file to artifacts_staging/ afterwards."
    )
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"code": {"type": "string", "minLength": 1, "maxLength": 200_000}},
        "required": ["code"],
        "additionalProperties": False,
    }
    return Tool("run_python", description, schema, runs.use)


class CodeTool:
    def __init__(self, work: WorkOrder, rules: AgentPolicy, sandbox: Sandbox, places: asyncio.Semaphore) -> None:
        self._work = work
        self._rules = rules
        self._sandbox = sandbox
        self._places = places

    async def use(self, given: dict[str, Any]) -> str:
        nothing = self._work.workspace.parent / NOTHING
        await asyncio.to_thread(lambda: nothing.mkdir(mode=0o755, exist_ok=True))
        job = ProcessSpec(
            name=self._work.execution_id,
            python=sys.executable,
            child=CHILD,
            workspace=self._work.workspace,
            scripts=nothing,
            limits=replace(self._rules.code_bounds, network=False),
        )
        try:
            async with self._places, started(self._sandbox, job) as process:
                await asyncio.to_thread(hand_over, self._work.workspace)
                return await self._run(process, given["code"])
        except OSError as error:
            raise ToolError(f"The program could not be started: {error}.") from None

    async def _run(self, process: Process, code: str) -> str:
        line = await ScriptConnection.open(process)
        both = [_Printed(), _Printed()]
        following = [asyncio.ensure_future(one.follow(file)) for one, file in zip(both, process.output, strict=True)]
        ended: int | None = None
        try:
            with contextlib.suppress(ConnectionError):
                await line.tell({}, code.encode(errors="replace"))
            with contextlib.suppress(TimeoutError):
                ended = await asyncio.wait_for(process.wait(), self._rules.code_timeout_seconds)
        finally:
            line.close()
            await to_its_end(_drain(process, following))
        return "\n\n".join(
            [_how(ended, self._rules.code_timeout_seconds), *both[0].told("It printed"), *both[1].told("Errors")]
        )


class _Printed:
    """The beginning of what was printed; the rest is read and dropped."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._size = 0

    async def follow(self, file: FileIO) -> None:
        async for piece in printed(file, PIECE):
            self._size += len(piece)
            self._kept += piece[: max(0, OUTPUT - len(self._kept))]

    def told(self, title: str) -> list[str]:
        if not self._size:
            return []
        cut = f" (the first {len(self._kept):,} of {self._size:,} bytes)" if self._size > len(self._kept) else ""
        return [as_data(f"{title}{cut}", self._kept.decode(errors="replace"))]


async def _drain(process: Process, following: Sequence[asyncio.Future[None]]) -> None:
    await process.kill()
    await asyncio.wait(following, timeout=DRAINING)
    for one in following:
        one.cancel()
    await asyncio.gather(*following, return_exceptions=True)


def _how(ended: int | None, seconds: float) -> str:
    if ended is None:
        return f"It was stopped: it took longer than {seconds:g} seconds."
    number = -ended if ended < 0 else ended - 128
    if number in {one.value for one in signal.Signals}:
        return f"It was ended by {signal.Signals(number).name}: perhaps it needed more than it may use."
    return "It ended well." if ended == 0 else f"It ended with status {ended}."


def hand_over(workspace: Path) -> None:
    """What the house has written there belongs to the user that code runs as, so that it can be changed."""
    owner = workspace.lstat()
    if os.geteuid() != 0 or owner.st_uid == 0:
        return
    top = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        for _, fd, name, found in islice(walk(top, "", DEEPEST), MOST_FILES):
            if found.st_uid == 0:
                with contextlib.suppress(OSError):
                    os.chown(name, owner.st_uid, owner.st_gid, dir_fd=fd, follow_symlinks=False)
    finally:
        os.close(top)
