"""The output of a process is read without blocking."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from contextlib import closing
from io import FileIO
from typing import Any

import pytest
import uvloop

from cairn.runners.processes.lifecycle import read_output

LOOPS = [asyncio.new_event_loop, uvloop.new_event_loop]


class CheckedFile(FileIO):
    """A file that fails if its descriptor was closed elsewhere, because another file could use the number by then."""

    def close(self) -> None:
        if not self.closed:
            os.fstat(self.fileno())
        super().close()


def open_pipe() -> tuple[CheckedFile, int]:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    return CheckedFile(reading), writing


def run(scenario: Callable[[], Coroutine[Any, Any, None]], new_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(scenario())


@pytest.mark.parametrize("new_loop", LOOPS)
def test_all_output_is_read_and_the_file_is_closed_once(
    new_loop: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    async def scenario() -> None:
        file, writing = open_pipe()
        with closing(file):
            os.write(writing, b"first ")
            reader = asyncio.ensure_future(read_all(file))
            await asyncio.sleep(0.01)
            os.write(writing, b"x" * 30_000)
            os.close(writing)
            assert await reader == b"first " + b"x" * 30_000
            os.fstat(file.fileno())  # still open, because the reader does not own it

    run(scenario, new_loop)


@pytest.mark.parametrize("new_loop", LOOPS)
def test_a_cancelled_reader_leaves_the_file_open(new_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def scenario() -> None:
        file, writing = open_pipe()
        with closing(file):
            reader = asyncio.ensure_future(read_all(file))
            await asyncio.sleep(0.01)
            reader.cancel()
            await asyncio.wait({reader})
            assert reader.cancelled()
            os.write(writing, b"later")
            os.close(writing)
            assert file.read() == b"later"

    run(scenario, new_loop)


async def read_all(file: FileIO) -> bytes:
    return b"".join([piece async for piece in read_output(file, 4096)])
