"""Timers. This process sends each command on time, and so does a durable job. The second copy changes nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from cairn.core.commands import ExecutionTimedOut, Timer
from cairn.core.effects import ScheduleTimer
from cairn.core.errors import CommandRefused
from cairn.services.dispatch.lanes import Lanes
from cairn.services.engine.commit import Commit
from cairn.services.engine.engine import Engine
from cairn.services.engine.retry import retry_transient
from cairn.store.errors import NotFound

log = logging.getLogger(__name__)

TIMER = "timer"  # the actor of these commands


class TimerScheduler:
    """An after-commit step. Does nothing until it is started."""

    def __init__(self, engine: Engine, lanes: Lanes) -> None:
        self._engine = engine
        self._lanes = lanes
        self._handles: set[asyncio.TimerHandle] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._started = False
        self._stopping = False

    def start(self) -> None:
        self._started = True

    async def stop(self) -> None:
        """Cancel all timers of this process. Their jobs send the commands after the next start."""
        self._stopping = True
        for handle in self._handles:
            handle.cancel()
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def after_commit(self, commits: Sequence[Commit]) -> None:
        for commit in commits:
            for effect in commit.decision.effects:
                if isinstance(effect, ScheduleTimer):
                    self._schedule(commit.run_id, effect)

    def _schedule(self, run_id: str, timer: ScheduleTimer) -> None:
        """Send the command on time. The durable job is late by up to one polling interval of its queue."""

        def due() -> None:
            self._handles.discard(handle)
            task = asyncio.get_running_loop().create_task(self.send(run_id, timer.command))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        if self._started and not self._stopping:
            handle = asyncio.get_running_loop().call_later(timer.after, due)
            self._handles.add(handle)

    async def send(self, run_id: str, command: Timer) -> None:
        """Send the command of a timer that is due. Also called by the timer's job."""

        async def send() -> None:
            await self._engine.send(run_id, command, self._engine.context(TIMER))

        await self._lanes.own_work_resumed.wait()  # otherwise the timeout would apply to a dead dispatch
        if isinstance(command, ExecutionTimedOut):
            await self._lanes.wait_for_active_time(command.execution, command.dispatch)
        if self._stopping:
            raise asyncio.CancelledError  # the job sends it after the next start
        try:
            await retry_transient(send)
        except (CommandRefused, NotFound):
            log.debug("timer %s is no longer needed", command)
