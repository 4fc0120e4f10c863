"""Start and stop everything that runs in the background, and run the periodic jobs."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from cairn.bootstrap import AppServices

log = logging.getLogger(__name__)

# Seconds between two runs of a periodic job.
ORPHAN_SECONDS = 15.0
SYNC_SECONDS = 1.0
JOB_SWEEP_SECONDS = 600.0
RETENTION_SECONDS = 60.0  # retention itself runs once a day
RULES_FILE_SECONDS = 0.4
REPAIR_SECONDS = 5.0
# New objects before a collection. With Python's default of 700, collections take a sixth of all CPU time.
COLLECTION_THRESHOLDS = (20_000, 20, 20)


def tune_garbage_collection() -> None:
    """Collect garbage less often and skip existing objects. Only for a process that belongs to Cairn."""
    gc.freeze()
    gc.set_threshold(*COLLECTION_THRESHOLDS)


class Worker:
    def __init__(self, cairn: AppServices) -> None:
        self._cairn = cairn
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        folder_repair, retention, system_log = self._cairn.folder_repair, self._cairn.retention, self._cairn.system_log
        await self._end_leftover_processes()
        await self._cairn.actions.gate.start()  # before anything else can start an action
        await self._cairn.rules.file.sync()  # before the first decision: the file may have changed since the last stop
        lanes, timers, courier = self._cairn.lanes, self._cairn.timers, self._cairn.notifications.courier
        for part in (lanes, timers, courier):
            part.start()
        await self._cairn.jobs.start(lanes.run_job, timers.send, courier.deliver)
        await self._cairn.orphans.resume_own()
        await self._cairn.orphans.resume_orphans()
        await self._cairn.actions.gate.resume()
        for seconds, job in (
            (SYNC_SECONDS, folder_repair.save_synced_revisions),
            (SYNC_SECONDS, system_log.write_new_events),
            (RULES_FILE_SECONDS, self._cairn.rules.file.sync),
            (REPAIR_SECONDS, folder_repair.repair_failed),
            (ORPHAN_SECONDS, self._cairn.orphans.resume_orphans),
            (ORPHAN_SECONDS, system_log.save_position),
            (JOB_SWEEP_SECONDS, retention.sweep_jobs),
            (RETENTION_SECONDS, retention.sweep_daily),
        ):
            self._spawn(self._repeat(seconds, job))

    async def stop(self) -> None:
        """Stop the runners, whose work resumes after the next start. Finish what is being saved."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await self._cairn.timers.stop()
        await self._cairn.lanes.stop()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._cairn.engine.drain()
        await self._cairn.folder_sync.drain()
        await self._cairn.notifications.courier.stop()
        await self._cairn.log_writer.stop()
        await self._cairn.folder_repair.save_synced_revisions()
        await self._cairn.system_log.write_new_events()
        await self._cairn.system_log.save_position()
        await self._cairn.models.close()
        await self._cairn.jobs.stop()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _repeat(self, seconds: float, job: Callable[[], Awaitable[Any]]) -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await job()
            except Exception:
                log.exception("%s failed and will run again in %g s", job.__qualname__, seconds)

    async def _end_leftover_processes(self) -> None:
        """End processes of a server that was killed before their work is dispatched again."""
        if count := await asyncio.to_thread(self._cairn.sandbox.kill_orphans):
            log.warning("ended %s processes of scripts and tools that an earlier server left behind", count)
