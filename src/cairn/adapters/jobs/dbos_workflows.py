"""The workflows that DBOS runs for jobs. They are module-level, because DBOS registers workflows once per process."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from dbos import DBOS

from cairn.adapters.jobs.timer_codec import read_timer
from cairn.ports import LaneJob, NotificationJob, TimerJob


class JobHandlers:
    """The callbacks of the running job engine."""

    lane: LaneJob | None = None
    timer: TimerJob | None = None
    notification: NotificationJob | None = None
    process: str = ""  # changes with each start
    loop: asyncio.AbstractEventLoop | None = None


# A lane survives any number of restarts: `decide` limits redispatches, not DBOS.
@DBOS.workflow(name="lane", max_recovery_attempts=None)
async def _lane(run_id: str, process: str = "") -> None:
    job = DBOS.workflow_id
    if JobHandlers.lane is None or job is None:
        raise asyncio.CancelledError  # the process is stopping; the next one resumes the job
    await _run_on_loop(JobHandlers.lane(job, run_id, enqueued_here=process == JobHandlers.process))


@DBOS.workflow(name="timer", max_recovery_attempts=None)
async def _timer(run_id: str, command: str) -> None:
    if JobHandlers.timer is None:
        raise asyncio.CancelledError
    await _run_on_loop(JobHandlers.timer(run_id, read_timer(command)))


@DBOS.workflow(name="notice", max_recovery_attempts=None)
async def _notification(notification_id: str) -> None:
    if JobHandlers.notification is None:
        raise asyncio.CancelledError
    await _run_on_loop(JobHandlers.notification(notification_id))


async def _run_on_loop(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run on the loop on which the engine was started. While that loop is blocked, DBOS uses its own."""
    if JobHandlers.loop is None or asyncio.get_running_loop() is JobHandlers.loop:
        await coroutine
    else:
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, JobHandlers.loop))
