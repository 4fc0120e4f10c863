"""Durable jobs on DBOS Transact, whose tables live in Cairn's own database.

DBOS is imported when the engine is started: a command that only reads or saves does without it.
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
from cairn.store.prepared_statements import send

if TYPE_CHECKING:
    from dbos import DBOSClient

    from cairn.adapters.jobs.dbos_statements import EnqueueStatements

APPLICATION = "cairn"
JOB_VERSION = "jobs-1"  # pinned: work enqueued by one release is taken up by the next
LANES, TIMERS, NOTICES = "lanes", "timers", "notices"
UNFINISHED = ("ENQUEUED", "PENDING", "DELAYED")
LISTENER_SECONDS = 0.05  # the engine's own listener, which Cairn does not use, ends within this time when stopped
T = TypeVar("T")
AT_ONCE = 500  # finished jobs that are removed in one transaction


def _started(part: T | None) -> T:
    if part is None:
        raise RuntimeError("the job engine is not started")
    return part


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
        """`worker` names this process among all that share the database, the same after each start."""
        self._url = url
        self._engine = engine
        self._worker = worker
        # Who commits a dispatch wakes its lane at once; another process would only do the same work again.
        self._lanes, self._notices = f"{LANES}:{worker}", f"{NOTICES}:{worker}"
        self._poll = poll_seconds
        self._log_level = log_level
        self.process = ""  # changes with every start: tells its jobs from those of others
        self._client: DBOSClient | None = None
        self._lane_statements: EnqueueStatements | None = None
        self._notice_statements: EnqueueStatements | None = None
        schema = "" if engine.dialect.name == "sqlite" else "dbos."
        status: sa.BindParameter[Any] = sa.bindparam("open", list(UNFINISHED), expanding=True)
        self._open = sa.text(
            f"SELECT workflow_uuid FROM {schema}workflow_status "  # noqa: S608 - the schema is one of two constants
            "WHERE workflow_uuid IN :jobs AND status IN :open"
        ).bindparams(sa.bindparam("jobs", expanding=True), status)
        self._own = sa.text(
            f"SELECT workflow_uuid FROM {schema}workflow_status "  # noqa: S608
            "WHERE workflow_uuid IN :jobs AND queue_name = :lanes AND status IN :open"
        ).bindparams(sa.bindparam("jobs", expanding=True), status)
        place = "?" if engine.dialect.name == "sqlite" else "%s"
        self._end = f"DELETE FROM {schema}workflow_status WHERE workflow_uuid = {place} AND status = 'ENQUEUED'"  # noqa: S608
        self._forget = f"DELETE FROM {schema}workflow_input WHERE workflow_uuid = {place}"  # noqa: S608
        self._finished = sa.text(
            f"SELECT workflow_uuid FROM {schema}workflow_status "  # noqa: S608
            "WHERE updated_at < :before AND status NOT IN :open LIMIT :limit"
        ).bindparams(status)

    @property
    def client(self) -> DBOSClient:
        return _started(self._client)

    # ---- in the caller's transaction -----------------------------------------------------------------
    def enqueue_lane(self, connection: sa.Connection, job: str, run_id: str) -> None:
        _started(self._lane_statements).enqueue(connection, job, run_id, self.process)

    def end_lane(self, connection: sa.Connection, job: str) -> None:
        """Most lanes are over before the engine has come to take them up: it need not."""
        if send(connection, self._end, (job,)):
            send(connection, self._forget, (job,))

    def enqueue_timer(self, connection: sa.Connection, timer: str, run_id: str, command: Timer, after: float) -> None:
        options: Any = {"workflow_name": "timer", "queue_name": TIMERS, "workflow_id": timer, "delay_seconds": after}
        self.client.enqueue_in_transaction(connection, options, run_id, write_timer(command))

    def enqueue_notice(self, connection: sa.Connection, notice: str, after: float = 0.0) -> None:
        if after <= 0:
            _started(self._notice_statements).enqueue(connection, f"notice:{notice}", notice)
            return
        options: Any = {
            "workflow_name": "notice",
            "queue_name": self._notices,
            "workflow_id": f"notice:{notice}:{uuid4()}",
            "delay_seconds": after,
        }
        self.client.enqueue_in_transaction(connection, options, notice)

    def over(self, connection: sa.Connection, jobs: tuple[str, ...]) -> frozenset[str]:
        if not jobs:
            return frozenset()
        rows = connection.execute(self._open, {"jobs": list(jobs)})
        return frozenset(jobs) - {row[0] for row in rows}

    def own(self, connection: sa.Connection, jobs: tuple[str, ...]) -> frozenset[str]:
        if not jobs:
            return frozenset()
        return frozenset(connection.execute(self._own, {"jobs": list(jobs), "lanes": self._lanes}).scalars())

    # ---- its own life ----------------------------------------------------------------------------------
    async def start(self, lane: LaneJob, timer: TimerJob, notice: NotificationJob) -> None:
        """On the running loop: jobs are carried out on it."""
        from dbos import DBOS, DBOSClient

        from cairn.adapters.jobs.dbos_workflows import JobHandlers

        self.process = uuid4().hex
        JobHandlers.lane, JobHandlers.timer, JobHandlers.notice, JobHandlers.process = lane, timer, notice, self.process
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
        queues = [self._lanes, TIMERS, self._notices]
        DBOS.listen_queues(queues)
        DBOS.launch()
        for queue in queues:
            await DBOS.register_queue_async(queue, polling_interval_sec=self._poll)
        self._client = DBOSClient(system_database_engine=self._engine, application_name=APPLICATION)
        self._lane_statements = await self._statements("lane", self._lanes)
        self._notice_statements = await self._statements("notice", self._notices)

    async def _statements(self, job: str, queue: str) -> EnqueueStatements:
        from cairn.adapters.jobs.dbos_statements import EnqueueStatements

        statements = EnqueueStatements(self.client, {"workflow_name": job, "queue_name": queue})
        await asyncio.to_thread(statements.learn, self._engine)
        return statements

    async def stop(self) -> None:
        from dbos import DBOS

        from cairn.adapters.jobs.dbos_workflows import JobHandlers

        JobHandlers.lane = JobHandlers.timer = JobHandlers.notice = None
        # The engine has made its own threads the loop's, and ends them: what else runs on the loop needs others.
        threads = ThreadPoolExecutor(thread_name_prefix="cairn")
        asyncio.get_running_loop().set_default_executor(threads)
        await asyncio.to_thread(DBOS.destroy, workflow_completion_timeout_sec=0)
        asyncio.get_running_loop().set_default_executor(threads)  # a job that came meanwhile may have changed it back
        self._client = self._lane_statements = self._notice_statements = None

    def sweep(self, before: datetime) -> int:
        """Remove jobs that have been over since before that time; the answer is how many."""
        moment = int(before.timestamp() * 1000)
        with self._engine.connect() as connection:
            rows = connection.execute(self._finished, {"before": moment, "limit": AT_ONCE})
            jobs = [row[0] for row in rows]
        if jobs:
            self.client.delete_workflows(jobs)
        return len(jobs)
