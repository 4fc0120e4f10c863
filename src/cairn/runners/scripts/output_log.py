"""What a script prints and logs, line by line into its execution's log: bounded in size, number and rate."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from io import FileIO
from typing import Any

from cairn.ports import WorkOrder
from cairn.runners.limits import megabytes
from cairn.runners.processes.lifecycle import read_output
from cairn.runners.scripts.policy import ScriptPolicy

LONGEST = 8 * 1024  # bytes of one line; a longer one comes in pieces
WINDOW = 0.1  # seconds
IN_WINDOW = 500  # lines: more than that wait for the next window
PIECE = 1024 * 1024
THROTTLE = 0.001  # seconds between pieces that nobody keeps
STREAMS = (("stdout", "info"), ("stderr", "warning"))


class OutputLog:
    """One dispatch's part of the log."""

    def __init__(self, work: WorkOrder, rules: ScriptPolicy) -> None:
        self._work = work
        self._bytes_left = rules.output_bytes
        self._lines_left = rules.output_lines
        self._rules = rules
        self._since = 0.0
        self._in_window = 0
        self.is_full = False

    def say(self, level: str, message: str, details: Mapping[str, Any] | None) -> None:
        if self.is_full:
            return
        self._in_window += 1
        self._lines_left -= 1
        self._bytes_left -= len(message)
        if self._lines_left < 0 or self._bytes_left < 0:
            self.is_full = True
            most = f"{megabytes(self._rules.output_bytes)} or {self._rules.output_lines:,} lines"
            self._work.log(
                "warning", f"Output cut here: more than {most}. The script goes on; the rest is dropped.", None
            )
        else:
            self._work.log(level, message, details)

    async def breathe(self) -> None:
        """Whoever says more than can be written down waits."""
        if self.is_full:
            await asyncio.sleep(THROTTLE)
        elif self._in_window >= IN_WINDOW:
            now = asyncio.get_running_loop().time()
            await asyncio.sleep(max(0.0, self._since + WINDOW - now))
            self._since, self._in_window = asyncio.get_running_loop().time(), 0


async def follow(file: FileIO, stream: str, level: str, book: OutputLog) -> None:
    """Until it is closed."""
    rest = b""
    try:
        async for piece in read_output(file, PIECE):
            rest = _say_lines(rest + piece, stream, level, book)
            await book.breathe()
    finally:
        if rest:
            _say(rest, stream, level, book)


def _say_lines(data: bytes, stream: str, level: str, book: OutputLog) -> bytes:
    """Say all that is whole; the answer is what is not."""
    if book.is_full:
        return b""
    *lines, rest = data.split(b"\n")
    for line in lines:
        for start in range(0, max(len(line), 1), LONGEST):
            _say(line[start : start + LONGEST], stream, level, book)
        if book.is_full:
            return b""
    while len(rest) >= LONGEST and not book.is_full:
        _say(rest[:LONGEST], stream, level, book)
        rest = rest[LONGEST:]
    return rest


def _say(line: bytes, stream: str, level: str, book: OutputLog) -> None:
    book.say(level, line.decode(errors="replace").rstrip("\r"), {"stream": stream})
