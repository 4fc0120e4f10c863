"""Reading what a process prints."""

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


class Watched(FileIO):
    """A file that was never closed behind its back: its number may be somebody else's by then."""

    def close(self) -> None:
        if not self.closed:
            os.fstat(self.fileno())
        super().close()


def piped() -> tuple[Watched, int]:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    return Watched(reading), writing


def run(scene: Callable[[], Coroutine[Any, Any, None]], new_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(scene())


@pytest.mark.parametrize("new_loop", LOOPS)
def test_all_output_is_read_and_the_file_is_closed_once(
    new_loop: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    async def scene() -> None:
        file, writing = piped()
        with closing(file):
            os.write(writing, b"first ")
            heard = asyncio.ensure_future(collected(file))
            await asyncio.sleep(0.01)
            os.write(writing, b"x" * 30_000)
            os.close(writing)
            assert await heard == b"first " + b"x" * 30_000
            os.fstat(file.fileno())  # it is still its owner's

    run(scene, new_loop)


@pytest.mark.parametrize("new_loop", LOOPS)
def test_a_cancelled_reader_leaves_the_file_open(new_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def scene() -> None:
        file, writing = piped()
        with closing(file):
            heard = asyncio.ensure_future(collected(file))
            await asyncio.sleep(0.01)
            heard.cancel()
            await asyncio.wait({heard})
            assert heard.cancelled()
            os.write(writing, b"later")
            os.close(writing)
            assert file.read() == b"later"

    run(scene, new_loop)


async def collected(file: FileIO) -> bytes:
    return b"".join([piece async for piece in read_output(file, 4096)])
