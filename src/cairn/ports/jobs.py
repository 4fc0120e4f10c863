"""Time and durable jobs."""

from __future__ import annotations

from collections.abc import Coroutine
from datetime import datetime
from typing import Any, Protocol

from cairn.core.commands import Timer

Connection = Any  # the store's own; engines that enqueue in its transaction take it as it is


class JobEngine(Protocol):
    """Durable jobs that are enqueued in the store's own transaction."""

    def enqueue_lane(self, connection: Connection, job: str, run_id: str) -> None:
        """A job that drives a run on. A repeated id is a no-op."""
        ...

    def end_lane(self, connection: Connection, job: str) -> None:
        """The job has nothing left to do: it need not run if it has not begun."""
        ...

    def enqueue_timer(self, connection: Connection, timer: str, run_id: str, command: Timer, after: float) -> None:
        """A job that sends this command after so many seconds."""
        ...

    def enqueue_notice(self, connection: Connection, notice: str, after: float = 0.0) -> None:
        """A job that delivers what people are told, now or after so many seconds."""
        ...

    def over(self, connection: Connection, jobs: tuple[str, ...]) -> frozenset[str]:
        """Those of the jobs that will not run any more."""
        ...

    def own(self, connection: Connection, jobs: tuple[str, ...]) -> frozenset[str]:
        """Those of the jobs that this worker takes up, and nobody else."""
        ...

    async def start(self, lane: LaneJob, timer: TimerJob, notice: NotificationJob) -> None: ...

    async def stop(self) -> None: ...

    def sweep(self, before: datetime) -> int:
        """Remove some of the jobs that have been over since before that time; the answer is how many."""
        ...


class LaneJob(Protocol):
    def __call__(self, job: str, run_id: str, *, own: bool) -> Coroutine[Any, Any, None]:
        """`own`: this very process has enqueued it, and wakes it by itself."""
        ...


class TimerJob(Protocol):
    def __call__(self, run_id: str, command: Timer) -> Coroutine[Any, Any, None]: ...


class NotificationJob(Protocol):
    def __call__(self, notification_id: str, /) -> Coroutine[Any, Any, None]: ...
