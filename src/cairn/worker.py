"""Takes jobs, and looks after what nobody asks for: timers that are due, work without a driver, the daily sweep."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from cairn.bootstrap import AppServices
from cairn.core.commands import ExecutionInterrupted, ExecutionTimedOut, Timer
from cairn.core.effects import ScheduleTimer
from cairn.core.errors import CommandRefused
from cairn.services.dispatch.lanes import WORKER
from cairn.services.dispatch.orphans import working
from cairn.services.engine.retry import patiently
from cairn.services.errors import NotFound

log = logging.getLogger(__name__)

ADOPT_SECONDS = 15.0  # how often work without a driver is looked for
FILED_SECONDS = 1.0  # how often it is written down whose files stand
JOBS_SECONDS = 600.0  # how often jobs that are over are removed
DAILY_SECONDS = 60.0  # how often it is asked whether the day's sweep is due
WATCH_SECONDS = 0.4  # how often it is looked whether the file of rules has changed
MEND_SECONDS = 5.0  # how often files that could not follow are tried again
TIMER = "timer"  # who reports
COLLECT = (20_000, 20, 20)  # things made before garbage is looked for: Python's own 700 take a sixth of all time


def collect_seldom() -> None:
    """For a process that is Cairn's own: what is there stays, and what is made anew is looked at in larger lots."""
    gc.freeze()
    gc.set_threshold(*COLLECT)


class Worker:
    def __init__(self, cairn: AppServices) -> None:
        self._cairn = cairn
        self._engine = cairn.engine
        self._lanes = cairn.lanes
        self._reminders: set[asyncio.TimerHandle] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = False

    # ---- its own life --------------------------------------------------------------------------------
    async def start(self) -> None:
        keeper, retention, system_log = self._cairn.keeper, self._cairn.retention, self._cairn.system_log
        await self._end_leftovers()
        await self._cairn.rules.file.follow()  # what was written while nobody looked holds from the first step on
        self._engine.effects.attach(self)
        await self._cairn.jobs.start(self._lanes.lane, self.timer, self._cairn.telling.courier.deliver)
        await self._take_up()
        await self.adopt()
        for seconds, act in (
            (FILED_SECONDS, keeper.write_down_filed),
            (FILED_SECONDS, system_log.follow),
            (WATCH_SECONDS, self._cairn.rules.file.follow),
            (MEND_SECONDS, keeper.mend_failed),
            (ADOPT_SECONDS, self.adopt),
            (ADOPT_SECONDS, system_log.note),
            (JOBS_SECONDS, retention.sweep_jobs),
            (DAILY_SECONDS, retention.sweep_daily),
        ):
            self._spawn(self._every(seconds, act))

    async def stop(self) -> None:
        """Runners stop; what they were at goes on after the next start. What is being saved is saved to its end."""
        self._stopping = True
        for reminder in self._reminders:
            reminder.cancel()
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await self._lanes.stop()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._engine.come_to_rest()
        await self._cairn.telling.courier.stop()
        self._engine.effects.attach(None)
        await self._cairn.logbook.flush()
        await self._cairn.keeper.write_down_filed()
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
        if left := await asyncio.to_thread(self._cairn.sandbox.end_leftovers):
            log.warning(
                "%s processes of scripts and tools were left behind by an earlier server and have been ended", left
            )

    # ---- after a commit ------------------------------------------------------------------------------
    def wake(self, job: str, run_id: str) -> None:
        self._lanes.wake(job, run_id)

    def tell(self, notices: tuple[str, ...]) -> None:
        self._cairn.telling.courier.wake(notices)

    async def stop_execution(self, execution: str, dispatch: int) -> None:
        await self._lanes.stop_execution(execution, dispatch)

    def remind(self, run_id: str, later: ScheduleTimer) -> None:
        """The durable timer is only exact to its poll: this one is on time, and the other finds it done."""

        def due() -> None:
            self._reminders.discard(handle)
            self._spawn(self.timer(run_id, later.command))

        if not self._stopping:
            handle = asyncio.get_running_loop().call_later(later.after, due)
            self._reminders.add(handle)

    async def timer(self, run_id: str, command: Timer) -> None:
        async def send() -> None:
            await self._engine.send(run_id, command, self._engine.given(TIMER))

        await self._lanes.taken_up.wait()  # what has died is dispatched again before its time is judged (D18)
        if isinstance(command, ExecutionTimedOut):
            await self._lanes.until_worked(command.execution, command.dispatch)
        if self._stopping:
            raise asyncio.CancelledError  # its job stays for the next start
        try:
            await patiently(send)
        except (CommandRefused, NotFound):
            log.debug("timer %s is over", command)

    # ---- work that nobody drives ---------------------------------------------------------------------
    async def _take_up(self) -> None:
        """What this worker was at when it ended is dispatched again at once: the queue need not be waited for."""
        read = self._engine.database.aread
        rows = [row for row in await read(working) if row.driver is not None]
        own = await read(lambda c: self._cairn.jobs.own(c, tuple(row.driver for row in rows)))
        for row in rows:
            if row.driver in own:
                interrupted = ExecutionInterrupted(row.execution_id, row.dispatch_number)
                await self._lanes.take_up(interrupted, row.run_id, row.driver)
        self._lanes.taken_up.set()

    async def adopt(self) -> None:
        """Executions at work whose job is over are dispatched again (R9, D64)."""
        rows = [row for row in await self._engine.database.aread(working) if row.driver not in self._lanes]
        jobs = tuple({row.driver for row in rows if row.driver is not None})
        over = await self._engine.database.aread(lambda c: self._cairn.jobs.over(c, jobs))
        for row in rows:
            if row.driver is not None and (row.driver not in over or row.driver in self._lanes):
                continue
            log.warning("execution %s has nobody who drives it: dispatched again", row.execution_id)
            interrupted = ExecutionInterrupted(row.execution_id, row.dispatch_number)
            try:
                await self._engine.send(row.run_id, interrupted, self._engine.given(WORKER))
            except (CommandRefused, NotFound):
                log.info("execution %s was moved on meanwhile", row.execution_id)
