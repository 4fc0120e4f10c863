"""The process dies anywhere between a commit and its notification: it is delivered, and repeats are marked."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cairn.services.notifications.views import Delivery
from tests.adapters.servers import WebServer, answer, web_server
from tests.chaos.crashes import DIED
from tests.chaos.notification_crashes import act, die, opened, prepare
from tests.chaos.scene import Ids
from tests.effort import effort, sample
from tests.forked import CONTEXT
from tests.isolation import PATIENCE

pytestmark = [pytest.mark.chaos, pytest.mark.prove, pytest.mark.timeout(1800)]


def call(function: Callable[..., Any], *args: Any) -> Any:
    with ProcessPoolExecutor(1, mp_context=CONTEXT) as pool:
        return pool.submit(function, *args).result(timeout=PATIENCE)


def kill(*args: Any) -> int | None:
    process = CONTEXT.Process(target=die, args=args)
    process.start()
    process.join(timeout=PATIENCE)
    return process.exitcode


@dataclass
class Stage:
    """A receiver, and a folder that is ready to tell it something."""

    folder: Path
    receiver: WebServer
    ids: Ids

    async def survive(self, at: int | str) -> tuple[int, Delivery, int | None]:
        """Die there and start again: how often it arrived, the delivery, and how the process ended."""
        self.receiver.asked.clear()
        folder = shutil.copytree(self.folder / "ready", self.folder / str(at), symlinks=True)
        ended = await asyncio.to_thread(kill, folder, self.ids, at)
        app = await opened(folder)
        try:
            delivery = await act(app, self.ids)
        finally:
            await app.close()
        assert len({json.loads(asked.body)["id"] for asked in self.receiver.asked}) == 1, at
        return len(self.receiver.asked), delivery, ended


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[Stage]:
    async with web_server() as receiver:
        receiver.on("/ops", answer(200, b"ok"))
        ids = await asyncio.to_thread(call, prepare, tmp_path / "ready", receiver.url("/ops"))
        yield Stage(tmp_path, receiver, ids)


async def test_people_are_told_wherever_the_process_dies(stage: Stage) -> None:
    whole = shutil.copytree(stage.folder / "ready", stage.folder / "whole", symlinks=True)
    moments: list[str] = await asyncio.to_thread(call, die, whole, stage.ids, None)
    assert (moments.count("before_send"), len(stage.receiver.asked)) == (1, 1)
    for number in sample(range(1, len(moments) + 1), effort().delivery_crash_points, "notices"):
        # What else goes on may come before or after: the last moments are not always reached.
        arrived, delivery, ended = await stage.survive(number)
        assert ended in (DIED, 0)
        assert (delivery.status, arrived) in (("sent", 1), ("sent", 2)), (number, moments)
        assert arrived == 1 or delivery.possible_duplicate, (number, moments)


async def test_what_was_sent_and_could_not_be_written_down_says_that_it_possible_duplicate(stage: Stage) -> None:
    arrived, delivery, ended = await stage.survive("after_send")
    assert (arrived, delivery.status, delivery.attempt_count, delivery.possible_duplicate) == (2, "sent", 2, True)
    assert ended == DIED


async def test_what_had_begun_and_not_left_is_sent_once_and_cannot_know_it(stage: Stage) -> None:
    arrived, delivery, ended = await stage.survive("before_send")
    assert (arrived, delivery.status, delivery.attempt_count, delivery.possible_duplicate) == (1, "sent", 2, True)
    assert ended == DIED
