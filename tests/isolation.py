"""A pytest plugin: a test that fails or hangs does not take others with it.

A test that runs out of time is cancelled on its loop, so that what it has opened is closed. What is left all the same
of the job engine, of which a process has one, ends when the next one starts. Ctrl-C works in tests that are started in
the background.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import signal
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from cairn.adapters.jobs.dbos_engine import DbosJobs
from cairn.ports import LaneJob, NotificationJob, TimerJob

PATIENCE = 60.0  # seconds until a test gives up waiting for a condition: the machine may be busy
CLEANING_UP = 0.75  # of the time of a test; the rest is left for setting up and cleaning up

LOAD = Path("/proc/loadavg")

Test = Callable[..., Coroutine[Any, Any, None]]


def within(seconds: float, test: Test) -> Test:
    """The test, cancelled when its time is up."""

    @functools.wraps(test)
    async def run(*args: Any, **fixtures: Any) -> None:
        async with asyncio.timeout(seconds):
            await test(*args, **fixtures)

    return run


def limit(seconds: float) -> float:
    """What takes so long on a quiet machine takes longer where more processes want to run than there are cores."""
    wanting = os.getloadavg()[0]
    if LOAD.exists():
        wanting = max(wanting, float(LOAD.read_text().split()[3].partition("/")[0]))
    return seconds * max(1.0, 2.0 * wanting / (os.cpu_count() or 1))


async def end_leftover_engine() -> None:
    """What a test that broke off has left running would make every later start fail."""
    from dbos import DBOS

    from cairn.adapters.jobs.dbos_workflows import JobHandlers

    JobHandlers.lane = JobHandlers.timer = JobHandlers.notice = None
    await asyncio.to_thread(DBOS.destroy, workflow_completion_timeout_sec=0)


_start = DbosJobs.start


async def _start_alone(self: DbosJobs, lane: LaneJob, timer: TimerJob, notice: NotificationJob) -> None:
    await end_leftover_engine()
    await _start(self, lane, timer, notice)


# ---- hooks -----------------------------------------------------------------------------------------------
def pytest_configure(config: pytest.Config) -> None:
    DbosJobs.start = _start_alone
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell without job control has started it with `&`
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    usual = float(config.getini("timeout"))
    for item in items:
        if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj):
            marker = item.get_closest_marker("timeout")
            item.obj = within((marker.args[0] if marker else usual) * CLEANING_UP, item.obj)
