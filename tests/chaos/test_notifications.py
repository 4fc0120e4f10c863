"""The process crashes between a commit and its notification. It is delivered, and possible duplicates are marked."""

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
from tests.chaos.notification_crashes import act, die, open_app, prepare
from tests.chaos.scenario import Ids
from tests.effort import effort, sample
from tests.forked import CONTEXT
from tests.isolation import PATIENCE

pytestmark = [pytest.mark.chaos, pytest.mark.prove, pytest.mark.timeout(1800)]


def run_in_process(function: Callable[..., Any], *args: Any) -> Any:
    with ProcessPoolExecutor(1, mp_context=CONTEXT) as pool:
        return pool.submit(function, *args).result(timeout=PATIENCE)


def kill(*args: Any) -> int | None:
    process = CONTEXT.Process(target=die, args=args)
    process.start()
    process.join(timeout=PATIENCE)
    return process.exitcode


@dataclass
class CrashTest:
    """A receiver, and a prepared folder that will notify it."""

    folder: Path
    receiver: WebServer
    ids: Ids

    async def crash_and_restart(self, at: int | str) -> tuple[int, Delivery, int | None]:
        """Crash there and restart. Returns how often it arrived, the delivery, and the exit code of the crash."""
        self.receiver.requests.clear()
        folder = shutil.copytree(self.folder / "ready", self.folder / str(at), symlinks=True)
        exit_code = await asyncio.to_thread(kill, folder, self.ids, at)
        app = await open_app(folder)
        try:
            delivery = await act(app, self.ids)
        finally:
            await app.close()
        assert len({json.loads(request.body)["id"] for request in self.receiver.requests}) == 1, at
        return len(self.receiver.requests), delivery, exit_code


@pytest.fixture
async def crash_test(tmp_path: Path) -> AsyncGenerator[CrashTest]:
    async with web_server() as receiver:
        receiver.on("/ops", answer(200, b"ok"))
        ids = await asyncio.to_thread(run_in_process, prepare, tmp_path / "ready", receiver.url("/ops"))
        yield CrashTest(tmp_path, receiver, ids)


async def test_the_notification_is_delivered_after_a_crash_at_any_point(crash_test: CrashTest) -> None:
    complete = shutil.copytree(crash_test.folder / "ready", crash_test.folder / "whole", symlinks=True)
    points: list[str] = await asyncio.to_thread(run_in_process, die, complete, crash_test.ids, None)
    assert (points.count("before_send"), len(crash_test.receiver.requests)) == (1, 1)
    for number in sample(range(1, len(points) + 1), effort().delivery_crash_points, "notices"):
        # Concurrent work can change the order, so the last crash points are not always reached.
        arrived, delivery, exit_code = await crash_test.crash_and_restart(number)
        assert exit_code in (DIED, 0)
        assert (delivery.status, arrived) in (("sent", 1), ("sent", 2)), (number, points)
        assert arrived == 1 or delivery.possible_duplicate, (number, points)


async def test_a_delivery_that_was_sent_but_not_recorded_is_marked_as_possible_duplicate(crash_test: CrashTest) -> None:
    arrived, delivery, exit_code = await crash_test.crash_and_restart("after_send")
    assert (arrived, delivery.status, delivery.attempt_count, delivery.possible_duplicate) == (2, "sent", 2, True)
    assert exit_code == DIED


async def test_a_delivery_that_was_started_but_not_sent_is_marked_as_possible_duplicate(crash_test: CrashTest) -> None:
    arrived, delivery, exit_code = await crash_test.crash_and_restart("before_send")
    assert (arrived, delivery.status, delivery.attempt_count, delivery.possible_duplicate) == (1, "sent", 2, True)
    assert exit_code == DIED
