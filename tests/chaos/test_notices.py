"""H7: a process dies anywhere between asking people and telling them: they are told, and a repeat says so."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import shutil
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.crashes import DIED
from tests.chaos.notice_crashes import act, die, opened, prepare
from tests.outward.servers import answer, web_server

pytestmark = pytest.mark.chaos


@pytest.fixture(scope="module")
def server() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.chaos.notice_crashes"])
    return context


def call(server: ForkServerContext, function: Callable[..., Any], *args: Any) -> Any:
    with ProcessPoolExecutor(1, mp_context=server) as pool:
        return pool.submit(function, *args).result(timeout=60)


def kill(server: ForkServerContext, *args: Any) -> None:
    process: ForkServerProcess = server.Process(target=die, args=args)
    process.start()
    process.join(timeout=60)
    assert process.exitcode == DIED


@pytest.mark.timeout(180)
async def test_people_are_told_wherever_the_process_dies(server: ForkServerContext, tmp_path: Path) -> None:
    async with web_server() as receiver:
        receiver.on("/ops", answer(200, b"ok"))
        ready = tmp_path / "ready"
        ids = await asyncio.to_thread(call, server, prepare, ready, receiver.url("/ops"))
        whole = shutil.copytree(ready, tmp_path / "whole", symlinks=True)
        moments: list[str] = await asyncio.to_thread(call, server, die, whole, ids, None)
        assert moments.count("before_send") == 1
        assert len(receiver.asked) == 1
        repeated: list[str] = []
        for number, name in enumerate(moments, 1):
            receiver.asked.clear()
            folder = shutil.copytree(ready, tmp_path / str(number), symlinks=True)
            await asyncio.to_thread(kill, server, folder, ids, number)
            house = await opened(folder)
            try:
                delivery = await act(house, ids)
            finally:
                await house.close()
            note = f"It died at {number}, {name}, of {moments}."
            assert delivery.status == "sent", note
            assert len({json.loads(asked.body)["id"] for asked in receiver.asked}) == 1, note
            assert len(receiver.asked) in (1, 2), note
            if len(receiver.asked) == 2:
                assert delivery.may_be_repeated, note
                repeated.append(name)
        assert "after_send" in repeated  # sent, and nobody could write it down
        assert set(repeated) <= {"after_send", "before_commit"}
