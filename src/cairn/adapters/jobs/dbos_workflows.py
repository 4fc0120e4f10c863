"""What DBOS calls when a job's turn has come. DBOS registers workflows for the whole process: these are Cairn's."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from dbos import DBOS

from cairn.adapters.jobs.timer_codec import read_timer
from cairn.ports import LaneJob, NotificationJob, TimerJob


class JobHandlers:
    """Where they go: what the running engine has set."""

    lane: LaneJob | None = None
    timer: TimerJob | None = None
    notice: NotificationJob | None = None
    process: str = ""  # changes with every start
    loop: asyncio.AbstractEventLoop | None = None


# A lane lives through any number of restarts: `decide` bounds redispatches, not the engine.
@DBOS.workflow(name="lane", max_recovery_attempts=None)
async def _lane(run_id: str, process: str = "") -> None:
    job = DBOS.workflow_id
    if JobHandlers.lane is None or job is None:
        raise asyncio.CancelledError  # the process stops: the job stays for the next one
    await _on_loop(JobHandlers.lane(job, run_id, own=process == JobHandlers.process))


@DBOS.workflow(name="timer", max_recovery_attempts=None)
async def _timer(run_id: str, command: str) -> None:
    if JobHandlers.timer is None:
        raise asyncio.CancelledError
    await _on_loop(JobHandlers.timer(run_id, read_timer(command)))


@DBOS.workflow(name="notice", max_recovery_attempts=None)
async def _notice(notice: str) -> None:
    if JobHandlers.notice is None:
        raise asyncio.CancelledError
    await _on_loop(JobHandlers.notice(notice))


async def _on_loop(work: Coroutine[Any, Any, None]) -> None:
    """While the loop that it was started on stands still, DBOS takes one of its own."""
    if JobHandlers.loop is None or asyncio.get_running_loop() is JobHandlers.loop:
        await work
    else:
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, JobHandlers.loop))
