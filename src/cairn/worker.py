"""Starts and stops everything that runs by itself, and what is done every so often."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from cairn.bootstrap import AppServices

log = logging.getLogger(__name__)

ADOPT_SECONDS = 15.0  # how often work without a driver is looked for
FILED_SECONDS = 1.0  # how often it is written down whose files stand
JOBS_SECONDS = 600.0  # how often jobs that are over are removed
DAILY_SECONDS = 60.0  # how often it is asked whether the day's sweep is due
WATCH_SECONDS = 0.4  # how often it is looked whether the file of rules has changed
MEND_SECONDS = 5.0  # how often files that could not follow are tried again
COLLECT = (20_000, 20, 20)  # things made before garbage is looked for: Python's own 700 take a sixth of all time


def collect_seldom() -> None:
    """For a process that is Cairn's own: what is there stays, and what is made anew is looked at in larger lots."""
    gc.freeze()
    gc.set_threshold(*COLLECT)


class Worker:
    def __init__(self, cairn: AppServices) -> None:
        self._cairn = cairn
        self._tasks: set[asyncio.Task[None]] = set()

    # ---- its own life --------------------------------------------------------------------------------
    async def start(self) -> None:
        folder_repair, retention, system_log = self._cairn.folder_repair, self._cairn.retention, self._cairn.system_log
        await self._end_leftovers()
        await self._cairn.rules.file.sync()  # what was written while nobody looked holds from the first step on
        lanes, timers, courier = self._cairn.lanes, self._cairn.timers, self._cairn.notifications.courier
        for part in (lanes, timers, courier):
            part.start()
        await self._cairn.jobs.start(lanes.run_job, timers.send, courier.deliver)
        await self._cairn.orphans.resume_own()
        await self._cairn.orphans.resume_orphans()
        for seconds, act in (
            (FILED_SECONDS, folder_repair.save_synced_revisions),
            (FILED_SECONDS, system_log.follow),
            (WATCH_SECONDS, self._cairn.rules.file.sync),
            (MEND_SECONDS, folder_repair.repair_failed),
            (ADOPT_SECONDS, self._cairn.orphans.resume_orphans),
            (ADOPT_SECONDS, system_log.note),
            (JOBS_SECONDS, retention.sweep_jobs),
            (DAILY_SECONDS, retention.sweep_daily),
        ):
            self._spawn(self._every(seconds, act))

    async def stop(self) -> None:
        """Runners stop; what they were at goes on after the next start. What is being saved is saved to its end."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await self._cairn.timers.stop()
        await self._cairn.lanes.stop()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._cairn.engine.drain()
        await self._cairn.folder_sync.drain()
        await self._cairn.notifications.courier.stop()
        await self._cairn.log_writer.flush()
        await self._cairn.folder_repair.save_synced_revisions()
        await self._cairn.system_log.follow()
        await self._cairn.system_log.note()
        await self._cairn.models.close()
        await self._cairn.jobs.stop()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _every(self, seconds: float, act: Callable[[], Awaitable[Any]]) -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await act()
            except Exception:
                log.exception("%s failed; it is tried again", act.__qualname__)

    async def _end_leftovers(self) -> None:
        """What a server that was killed has left behind is over before its work is dispatched again."""
        if left := await asyncio.to_thread(self._cairn.sandbox.kill_orphans):
            log.warning(
                "%s processes of scripts and tools were left behind by an earlier server and have been ended", left
            )
