"""A pytest plugin: a test that fails or hangs doesn't make others fail.

A test that times out is cancelled on its event loop, so that its fixtures can clean up. The job engine is a singleton
of the process: if a test leaves it running, it is stopped before the next one starts. Ctrl-C also works in tests that
were started in the background.
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

PATIENCE = 60.0  # seconds that a test waits for a condition: the machine may be busy
TEST_SHARE = 0.75  # of the timeout; fixtures have the rest

LOAD = Path("/proc/loadavg")

Test = Callable[..., Coroutine[Any, Any, None]]


def within(seconds: float, test: Test) -> Test:
    """Wrap a test so that it is cancelled after this many seconds."""

    @functools.wraps(test)
    async def run(*args: Any, **fixtures: Any) -> None:
        async with asyncio.timeout(seconds):
            await test(*args, **fixtures)

    return run


def limit(seconds: float) -> float:
    """Return a time limit that grows with the load. `seconds` applies to an idle machine."""
    runnable = os.getloadavg()[0]
    if LOAD.exists():
        runnable = max(runnable, float(LOAD.read_text().split()[3].partition("/")[0]))
    return seconds * max(1.0, 2.0 * runnable / (os.cpu_count() or 1))


async def end_leftover_engine() -> None:
    """Stop a job engine that an aborted test left running: it would make every later start fail."""
    from dbos import DBOS

    from cairn.adapters.jobs.dbos_workflows import JobHandlers

    JobHandlers.lane = JobHandlers.timer = JobHandlers.notification = None
    await asyncio.to_thread(DBOS.destroy, workflow_completion_timeout_sec=0)


_start = DbosJobs.start


async def _start_after_leftover(self: DbosJobs, lane: LaneJob, timer: TimerJob, notification: NotificationJob) -> None:
    await end_leftover_engine()
    await _start(self, lane, timer, notification)


# ---- hooks -----------------------------------------------------------------------------------------------
def pytest_configure(config: pytest.Config) -> None:
    DbosJobs.start = _start_after_leftover
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started with `&` by a shell without job control
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    default = float(config.getini("timeout"))
    for item in items:
        if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj):
            marker = item.get_closest_marker("timeout")
            item.obj = within((marker.args[0] if marker else default) * TEST_SHARE, item.obj)
