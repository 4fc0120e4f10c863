"""Durable jobs on DBOS Transact, whose tables live in Cairn's own database."""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import asdict
from typing import Any, Literal

import sqlalchemy as sa
from dbos import DBOS, DBOSClient

from cairn.core.messages import ApprovalExpired, RetryDue, RunTimedOut, TimedOut, Timer
from cairn.ports import LaneJob, TimerJob

APPLICATION = "cairn"
JOB_VERSION = "jobs-1"  # pinned: work enqueued by one release is taken up by the next
LANES, TIMERS = "lanes", "timers"
TIMER_TYPES: dict[str, type[Timer]] = {cls.__name__: cls for cls in (RetryDue, TimedOut, ApprovalExpired, RunTimedOut)}
UNFINISHED = ("ENQUEUED", "PENDING", "DELAYED")


class _Jobs:
    """DBOS registers workflows for the whole process: these are the ones that the running engine set."""

    lane: LaneJob | None = None
    timer: TimerJob | None = None


# A lane lives through any number of restarts: `decide` bounds redispatches, not the engine.
@DBOS.workflow(name="lane", max_recovery_attempts=None)
async def _lane(run_id: str) -> None:
    job = DBOS.workflow_id
    if _Jobs.lane is not None and job is not None:
        await _Jobs.lane(job, run_id)


@DBOS.workflow(name="timer", max_recovery_attempts=None)
async def _timer(run_id: str, command: str) -> None:
    if _Jobs.timer is not None:
        await _Jobs.timer(run_id, read_timer(command))


def write_timer(command: Timer) -> str:
    return json.dumps({"type": type(command).__name__, **asdict(command)})


def read_timer(text: str) -> Timer:
    fields: dict[str, Any] = json.loads(text)
    return TIMER_TYPES[fields.pop("type")](**fields)


class DbosJobs:
    def __init__(
        self,
        url: str,
        engine: sa.Engine,
        *,
        executor_id: str = "local",
        poll_seconds: float = 1.0,
        log_level: Literal["ERROR", "WARNING", "INFO", "DEBUG"] = "ERROR",
    ) -> None:
        self._url = url
        self._engine = engine
        self._executor_id = executor_id
        self._poll = poll_seconds
        self._log_level = log_level
        self._client: DBOSClient | None = None
        schema = "" if engine.dialect.name == "sqlite" else "dbos."
        self._statuses = sa.text(
            f"SELECT workflow_uuid FROM {schema}workflow_status "  # noqa: S608 - the schema is one of two constants
            "WHERE workflow_uuid IN :jobs AND status IN :open"
        ).bindparams(sa.bindparam("jobs", expanding=True), sa.bindparam("open", expanding=True))

    @property
    def client(self) -> DBOSClient:
        if self._client is None:
            raise RuntimeError("the job engine is not started")
        return self._client

    def enqueue_lane(self, connection: sa.Connection, job: str, run_id: str) -> None:
        options: Any = {"workflow_name": "lane", "queue_name": LANES, "workflow_id": job}
        self.client.enqueue_in_transaction(connection, options, run_id)

    def enqueue_timer(self, connection: sa.Connection, timer: str, run_id: str, command: Timer, after: float) -> None:
        options: Any = {"workflow_name": "timer", "queue_name": TIMERS, "workflow_id": timer, "delay_seconds": after}
        self.client.enqueue_in_transaction(connection, options, run_id, write_timer(command))

    def over(self, connection: sa.Connection, jobs: tuple[str, ...]) -> frozenset[str]:
        if not jobs:
            return frozenset()
        rows = connection.execute(self._statuses, {"jobs": list(jobs), "open": list(UNFINISHED)})
        return frozenset(jobs) - {row[0] for row in rows}

    async def start(self, lane: LaneJob, timer: TimerJob) -> None:
        """On the running loop: jobs are carried out on it."""
        _Jobs.lane, _Jobs.timer = lane, timer
        logging.getLogger("dbos").propagate = False
        DBOS(
            config={
                "name": APPLICATION,
                "system_database_url": self._url,
                "system_database_engine": self._engine,
                "executor_id": self._executor_id,
                "application_version": JOB_VERSION,
                "log_level": self._log_level,
                "use_listen_notify": False,
            }
        )
        DBOS.launch()
        for queue in (LANES, TIMERS):
            await DBOS.register_queue_async(queue, polling_interval_sec=self._poll)
        self._client = DBOSClient(system_database_engine=self._engine, application_name=APPLICATION)

    async def stop(self) -> None:
        _Jobs.lane = _Jobs.timer = None
        await asyncio.to_thread(DBOS.destroy, workflow_completion_timeout_sec=0)
        self._client = None
