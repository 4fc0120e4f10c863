"""Write the output of a script to the log of its execution, with limits on size, lines and rate."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from io import FileIO
from typing import Any

from cairn.ports import WorkOrder
from cairn.runners.limits import megabytes
from cairn.runners.processes.lifecycle import read_output
from cairn.runners.scripts.policy import ScriptPolicy

MAX_LINE = 8 * 1024  # bytes; longer lines are split
WINDOW_SECONDS = 0.1
MAX_LINES_PER_WINDOW = 500  # further lines wait for the next window
CHUNK_BYTES = 1024 * 1024
DISCARD_DELAY = 0.001  # seconds between chunks that are discarded
STREAMS = (("stdout", "info"), ("stderr", "warning"))


class OutputLog:
    """The output of one dispatch."""

    def __init__(self, work: WorkOrder, policy: ScriptPolicy) -> None:
        self._work = work
        self._bytes_left = policy.output_bytes
        self._lines_left = policy.output_lines
        self._policy = policy
        self._window_start = 0.0
        self._lines_in_window = 0
        self.is_full = False

    def add(self, level: str, message: str, details: Mapping[str, Any] | None) -> None:
        if self.is_full:
            return
        self._lines_in_window += 1
        self._lines_left -= 1
        self._bytes_left -= len(message)
        if self._lines_left < 0 or self._bytes_left < 0:
            self.is_full = True
            limit = f"{megabytes(self._policy.output_bytes)} or {self._policy.output_lines:,} lines"
            self._work.log(
                "warning",
                f"The output exceeds {limit}. The script continues, but further output is not logged.",
                None,
            )
        else:
            self._work.log(level, message, details)

    async def throttle(self) -> None:
        """Slow down a script that writes more than can be logged."""
        if self.is_full:
            await asyncio.sleep(DISCARD_DELAY)
        elif self._lines_in_window >= MAX_LINES_PER_WINDOW:
            now = asyncio.get_running_loop().time()
            await asyncio.sleep(max(0.0, self._window_start + WINDOW_SECONDS - now))
            self._window_start, self._lines_in_window = asyncio.get_running_loop().time(), 0


async def log_output(file: FileIO, stream: str, level: str, log: OutputLog) -> None:
    """Log the output that a process writes to a pipe, until the pipe is closed."""
    rest = b""
    try:
        async for chunk in read_output(file, CHUNK_BYTES):
            rest = _add_lines(rest + chunk, stream, level, log)
            await log.throttle()
    finally:
        if rest:
            _add(rest, stream, level, log)


def _add_lines(data: bytes, stream: str, level: str, log: OutputLog) -> bytes:
    """Log all complete lines and return the incomplete rest."""
    if log.is_full:
        return b""
    *lines, rest = data.split(b"\n")
    for line in lines:
        for start in range(0, max(len(line), 1), MAX_LINE):
            _add(line[start : start + MAX_LINE], stream, level, log)
        if log.is_full:
            return b""
    while len(rest) >= MAX_LINE and not log.is_full:
        _add(rest[:MAX_LINE], stream, level, log)
        rest = rest[MAX_LINE:]
    return rest


def _add(line: bytes, stream: str, level: str, log: OutputLog) -> None:
    log.add(level, line.decode(errors="replace").rstrip("\r"), {"stream": stream})
