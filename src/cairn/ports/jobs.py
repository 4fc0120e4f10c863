"""Durable jobs."""

from __future__ import annotations

from collections.abc import Coroutine
from datetime import datetime
from typing import Any, Protocol

from cairn.core.commands import Timer

Connection = Any  # the connection of the store's transaction


class JobEngine(Protocol):
    """Runs durable jobs. They are enqueued in the transaction of the store."""

    def enqueue_lane(self, connection: Connection, job: str, run_id: str) -> None:
        """Enqueue a job that drives a run. Does nothing if its id exists."""
        ...

    def end_lane(self, connection: Connection, job: str) -> None:
        """Remove a job that has nothing left to do, unless it has started."""
        ...

    def enqueue_timer(self, connection: Connection, timer: str, run_id: str, command: Timer, after: float) -> None:
        """Enqueue a job that sends the command after this many seconds."""
        ...

    def enqueue_notification(self, connection: Connection, notification_id: str, after: float = 0.0) -> None:
        """Enqueue a job that delivers a notification, by default at once."""
        ...

    def finished_jobs(self, connection: Connection, jobs: tuple[str, ...]) -> frozenset[str]:
        """The jobs that will not run again."""
        ...

    def own_lanes(self, connection: Connection, jobs: tuple[str, ...]) -> frozenset[str]:
        """The unfinished lanes that only this worker resumes."""
        ...

    async def start(self, lane: LaneJob, timer: TimerJob, notification: NotificationJob) -> None: ...

    async def stop(self) -> None: ...

    def delete_finished(self, before: datetime) -> int:
        """Delete a batch of jobs that ended before this time, and return how many."""
        ...


class LaneJob(Protocol):
    def __call__(self, job: str, run_id: str, *, enqueued_here: bool) -> Coroutine[Any, Any, None]:
        """`enqueued_here`: this process enqueued the job and wakes the lane itself."""
        ...


class TimerJob(Protocol):
    def __call__(self, run_id: str, command: Timer) -> Coroutine[Any, Any, None]: ...


class NotificationJob(Protocol):
    def __call__(self, notification_id: str, /) -> Coroutine[Any, Any, None]: ...
