"""The job engine: DBOS Transact, with its tables in Cairn's own database.

DBOS is imported when the engine starts, because commands that run no jobs don't need it.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from uuid import uuid4

import sqlalchemy as sa

from cairn.adapters.jobs.timer_codec import write_timer
from cairn.core.commands import Timer
from cairn.ports import LaneJob, NotificationJob, TimerJob
from cairn.store.prepared_statements import execute_raw

if TYPE_CHECKING:
    from dbos import DBOSClient

    from cairn.adapters.jobs.dbos_statements import EnqueueStatements

APPLICATION = "cairn"
JOB_VERSION = "jobs-1"  # pinned, so that a new release resumes the jobs of the previous one
LANES, TIMERS, NOTIFICATIONS = "lanes", "timers", "notices"
UNFINISHED = ("ENQUEUED", "PENDING", "DELAYED")
LISTENER_SECONDS = 0.05  # polling interval of DBOS's listener; Cairn doesn't use it, but waits until it stops
T = TypeVar("T")
DELETE_BATCH = 500  # finished jobs deleted per transaction


def _require_started(value: T | None) -> T:
    if value is None:
        raise RuntimeError("The job engine is not running.")
    return value


class DbosJobs:
    def __init__(
        self,
        url: str,
        engine: sa.Engine,
        *,
        worker: str = "local",
        poll_seconds: float = 1.0,
        log_level: Literal["ERROR", "WARNING", "INFO", "DEBUG"] = "ERROR",
    ) -> None:
        """`worker` identifies this process among those that share the database, also after a restart."""
        self._url = url
        self._engine = engine
        self._worker = worker
        # One queue per process: the process that commits a dispatch wakes its lane, and no other process may start it.
        self._lanes, self._notifications = f"{LANES}:{worker}", f"{NOTIFICATIONS}:{worker}"
        self._poll_seconds = poll_seconds
        self._log_level = log_level
        self.process = ""  # changes with each start; identifies the jobs enqueued since
        self._client: DBOSClient | None = None
        self._lane_enqueue: EnqueueStatements | None = None
        self._notification_enqueue: EnqueueStatements | None = None
        schema = "" if engine.dialect.name == "sqlite" else "dbos."
        unfinished: sa.BindParameter[Any] = sa.bindparam("open", list(UNFINISHED), expanding=True)
        self._select_open = sa.text(
            f"SELECT workflow_uuid FROM {schema}workflow_status "  # noqa: S608 - the schema is one of two constants
            "WHERE workflow_uuid IN :jobs AND status IN :open"
        ).bindparams(sa.bindparam("jobs", expanding=True), unfinished)
        self._select_own_lanes = sa.text(
            f"SELECT workflow_uuid FROM {schema}workflow_status "  # noqa: S608
            "WHERE workflow_uuid IN :jobs AND queue_name = :lanes AND status IN :open"
        ).bindparams(sa.bindparam("jobs", expanding=True), unfinished)
        placeholder = "?" if engine.dialect.name == "sqlite" else "%s"
        self._delete_queued = (
            f"DELETE FROM {schema}workflow_status "  # noqa: S608
            f"WHERE workflow_uuid = {placeholder} AND status = 'ENQUEUED'"
        )
        self._delete_input = f"DELETE FROM {schema}workflow_input WHERE workflow_uuid = {placeholder}"  # noqa: S608
        self._select_finished = sa.text(
            f"SELECT workflow_uuid FROM {schema}workflow_status "  # noqa: S608
            "WHERE updated_at < :before AND status NOT IN :open LIMIT :limit"
        ).bindparams(unfinished)

    @property
    def client(self) -> DBOSClient:
        return _require_started(self._client)

    # In the caller's transaction
    def enqueue_lane(self, connection: sa.Connection, job: str, run_id: str) -> None:
        _require_started(self._lane_enqueue).enqueue(connection, job, run_id, self.process)

    def end_lane(self, connection: sa.Connection, job: str) -> None:
        """Delete the job: most lanes finish before DBOS polls for them, so DBOS doesn't need to start them."""
        if execute_raw(connection, self._delete_queued, (job,)):
            execute_raw(connection, self._delete_input, (job,))

    def enqueue_timer(self, connection: sa.Connection, timer: str, run_id: str, command: Timer, after: float) -> None:
        options: Any = {"workflow_name": "timer", "queue_name": TIMERS, "workflow_id": timer, "delay_seconds": after}
        self.client.enqueue_in_transaction(connection, options, run_id, write_timer(command))

    def enqueue_notification(self, connection: sa.Connection, notification_id: str, after: float = 0.0) -> None:
        if after <= 0:
            _require_started(self._notification_enqueue).enqueue(
                connection, f"notice:{notification_id}", notification_id
            )
            return
        options: Any = {
            "workflow_name": "notice",
            "queue_name": self._notifications,
            "workflow_id": f"notice:{notification_id}:{uuid4()}",
            "delay_seconds": after,
        }
        self.client.enqueue_in_transaction(connection, options, notification_id)

    def finished_jobs(self, connection: sa.Connection, jobs: tuple[str, ...]) -> frozenset[str]:
        if not jobs:
            return frozenset()
        rows = connection.execute(self._select_open, {"jobs": list(jobs)})
        return frozenset(jobs) - {row[0] for row in rows}

    def own_lanes(self, connection: sa.Connection, jobs: tuple[str, ...]) -> frozenset[str]:
        if not jobs:
            return frozenset()
        return frozenset(
            connection.execute(self._select_own_lanes, {"jobs": list(jobs), "lanes": self._lanes}).scalars()
        )

    # Start and stop
    async def start(self, lane: LaneJob, timer: TimerJob, notification: NotificationJob) -> None:
        """Start on the running loop, which then also runs the jobs."""
        from dbos import DBOS, DBOSClient

        from cairn.adapters.jobs.dbos_workflows import JobHandlers

        self.process = uuid4().hex
        JobHandlers.lane, JobHandlers.timer, JobHandlers.notification = lane, timer, notification
        JobHandlers.process = self.process
        JobHandlers.loop = asyncio.get_running_loop()
        logging.getLogger("dbos").propagate = False
        DBOS(
            config={
                "name": APPLICATION,
                "system_database_url": self._url,
                "system_database_engine": self._engine,
                "executor_id": self._worker,
                "application_version": JOB_VERSION,
                "log_level": self._log_level,
                "use_listen_notify": False,
                "notification_listener_polling_interval_sec": LISTENER_SECONDS,
            }
        )
        queues = [self._lanes, TIMERS, self._notifications]
        DBOS.listen_queues(queues)
        DBOS.launch()
        for queue in queues:
            await DBOS.register_queue_async(queue, polling_interval_sec=self._poll_seconds)
        self._client = DBOSClient(system_database_engine=self._engine, application_name=APPLICATION)
        self._lane_enqueue = await self._prepare_enqueue("lane", self._lanes)
        self._notification_enqueue = await self._prepare_enqueue("notice", self._notifications)

    async def _prepare_enqueue(self, job: str, queue: str) -> EnqueueStatements:
        from cairn.adapters.jobs.dbos_statements import EnqueueStatements

        prepared = EnqueueStatements(self.client, {"workflow_name": job, "queue_name": queue})
        await asyncio.to_thread(prepared.prepare, self._engine)
        return prepared

    async def stop(self) -> None:
        from dbos import DBOS

        from cairn.adapters.jobs.dbos_workflows import JobHandlers

        JobHandlers.lane = JobHandlers.timer = JobHandlers.notification = None
        # DBOS replaced the loop's default executor and shuts it down, but other code on the loop still needs one.
        executor = ThreadPoolExecutor(thread_name_prefix="cairn")
        asyncio.get_running_loop().set_default_executor(executor)
        await asyncio.to_thread(DBOS.destroy, workflow_completion_timeout_sec=0)
        asyncio.get_running_loop().set_default_executor(executor)  # a job that started meanwhile may have changed it
        self._client = self._lane_enqueue = self._notification_enqueue = None

    def delete_finished(self, before: datetime) -> int:
        """Delete a batch of jobs that ended before this time, and return how many."""
        before_ms = int(before.timestamp() * 1000)
        with self._engine.connect() as connection:
            rows = connection.execute(self._select_finished, {"before": before_ms, "limit": DELETE_BATCH})
            jobs = [row[0] for row in rows]
        if jobs:
            self.client.delete_workflows(jobs)
        return len(jobs)
