"""Timers: sent by a durable job, and on time by this process; whichever comes second changes nothing."""

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

BY = "timer"  # who reports


class TimerScheduler:
    """An after-commit step. It does nothing before `start`."""

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
        """What is not sent now is sent by its job after the next start."""
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

    def _schedule(self, run_id: str, later: ScheduleTimer) -> None:
        """The durable timer is only as exact as its queue is polled."""

        def due() -> None:
            self._handles.discard(handle)
            task = asyncio.get_running_loop().create_task(self.send(run_id, later.command))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        if self._started and not self._stopping:
            handle = asyncio.get_running_loop().call_later(later.after, due)
            self._handles.add(handle)

    async def send(self, run_id: str, command: Timer) -> None:
        """The job of a timer that is due."""

        async def send() -> None:
            await self._engine.send(run_id, command, self._engine.context(BY))

        await self._lanes.own_work_resumed.wait()  # what has died is dispatched again before its time is judged
        if isinstance(command, ExecutionTimedOut):
            await self._lanes.wait_for_active_time(command.execution, command.dispatch)
        if self._stopping:
            raise asyncio.CancelledError  # its job stays for the next start
        try:
            await retry_transient(send)
        except (CommandRefused, NotFound):
            log.debug("timer %s is over", command)
