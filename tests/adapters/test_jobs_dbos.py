"""Durable jobs are enqueued in the transaction of their change and survive restarts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
import sqlalchemy as sa

from cairn.adapters.jobs.dbos_engine import DbosJobs
from cairn.adapters.jobs.dbos_statements import EnqueueStatements
from cairn.adapters.jobs.timer_codec import read_timer, write_timer
from cairn.core.commands import ApprovalExpired, ExecutionTimedOut, RetryDue, RunTimedOut, Timer
from cairn.store import Database
from tests.isolation import limit


class JobRecorder:
    """A job engine that records the jobs that ran."""

    def __init__(self, database: Database, worker: str = "local") -> None:
        self.database = database
        self.lanes: list[tuple[str, str, bool]] = []
        self.timers: list[tuple[str, Timer]] = []
        self.notifications: list[str] = []
        self.released = asyncio.Event()
        self.released.set()
        url = database.url.render_as_string(hide_password=False)
        self.jobs = DbosJobs(url, database.system_engine, worker=worker, poll_seconds=0.05)

    async def lane(self, job: str, run_id: str, *, enqueued_here: bool) -> None:
        self.lanes.append((job, run_id, enqueued_here))
        await self.released.wait()

    async def timer(self, run_id: str, command: Timer) -> None:
        self.timers.append((run_id, command))

    async def notification(self, notification_id: str) -> None:
        self.notifications.append(notification_id)

    async def start(self) -> None:
        await self.jobs.start(self.lane, self.timer, self.notification)

    async def wait_until(self, condition: Any, seconds: float = 10) -> None:
        async with asyncio.timeout(seconds):
            while not condition():  # noqa: ASYNC110 - the engine has no event to wait for
                await asyncio.sleep(0.02)

    def finished(self, *jobs: str) -> set[str]:
        return set(self.database.read(lambda c: self.jobs.finished_jobs(c, jobs)))

    def own_lanes(self, *jobs: str) -> set[str]:
        return set(self.database.read(lambda c: self.jobs.own_lanes(c, jobs)))


@pytest_asyncio.fixture
async def recorder(database: Database) -> AsyncIterator[JobRecorder]:
    recorder = JobRecorder(database)
    await recorder.start()
    yield recorder
    recorder.released.set()
    await recorder.jobs.stop()


@pytest.mark.parametrize(
    "timer", [RetryDue("e", 2), ExecutionTimedOut("e", 3), ApprovalExpired("a", 1), RunTimedOut(4)]
)
def test_timers_survive_encoding(timer: Timer) -> None:
    assert read_timer(write_timer(timer)) == timer


async def test_a_job_is_enqueued_or_rolled_back_with_its_transaction(recorder: JobRecorder) -> None:
    def roll_back(connection: sa.Connection) -> None:
        recorder.jobs.enqueue_lane(connection, "exec:rolled_back:1", "run")
        recorder.jobs.enqueue_timer(connection, "retry:rolled_back:1", "run", RetryDue("rolled_back", 1), 0)
        raise ValueError("rolled back")

    with pytest.raises(ValueError, match="rolled back"):
        await recorder.database.transact(roll_back)

    def commit(connection: sa.Connection) -> None:
        for _ in range(2):  # repeating an id does nothing
            recorder.jobs.enqueue_lane(connection, "exec:committed:1", "run")
        recorder.jobs.enqueue_timer(connection, "retry:committed:1", "run", RetryDue("committed", 1), 0)

    await recorder.database.transact(commit)
    await recorder.database.transact(lambda c: recorder.jobs.enqueue_lane(c, "exec:committed:1", "run"))
    await recorder.wait_until(lambda: recorder.lanes and recorder.timers)
    await recorder.wait_until(
        lambda: (
            recorder.finished("exec:committed:1", "exec:rolled_back:1") == {"exec:committed:1", "exec:rolled_back:1"}
        )
    )
    assert recorder.lanes == [("exec:committed:1", "run", True)]
    assert recorder.timers == [("run", RetryDue("committed", 1))]


async def test_an_ended_lane_does_not_start(recorder: JobRecorder) -> None:
    def end_before_start(connection: sa.Connection) -> None:
        recorder.jobs.enqueue_lane(connection, "exec:done:1", "run")
        recorder.jobs.enqueue_lane(connection, "exec:next:1", "run")
        recorder.jobs.end_lane(connection, "exec:done:1")
        recorder.jobs.end_lane(connection, "exec:unknown:1")

    recorder.released.clear()
    await recorder.database.transact(end_before_start)
    assert recorder.finished("exec:done:1", "exec:next:1") == {"exec:done:1"}
    await recorder.wait_until(lambda: recorder.lanes)
    await recorder.database.transact(lambda c: recorder.jobs.end_lane(c, "exec:next:1"))  # too late: it is running
    assert recorder.finished("exec:next:1") == set()
    recorder.released.set()
    await recorder.wait_until(lambda: recorder.finished("exec:next:1") == {"exec:next:1"})
    assert recorder.lanes == [("exec:next:1", "run", True)]


async def test_prepared_statements_write_the_same_rows_as_dbos(recorder: JobRecorder) -> None:
    """Only the ids of the job and its creator differ."""
    recorder.released.clear()
    jobs = recorder.jobs
    options: Any = {"workflow_name": "lane", "queue_name": "lanes:local", "workflow_id": "exec:theirs:1"}
    timestamps = {"created_at", "updated_at", "retention_timestamp"}
    ids = {"workflow_uuid", "creator_xid"}

    def rows(connection: sa.Connection, table: str) -> list[dict[str, Any]]:
        schema = "" if connection.dialect.name == "sqlite" else "dbos."
        query = sa.text(f"SELECT * FROM {schema}{table} WHERE workflow_uuid LIKE 'exec:%' ORDER BY workflow_uuid")
        return [dict(row) for row in connection.execute(query).mappings()]

    def enqueue(connection: sa.Connection) -> None:
        jobs.enqueue_lane(connection, "exec:ours:1", "run")
        jobs.client.enqueue_in_transaction(connection, options, "run", jobs.process)
        for table in ("workflow_status", "workflow_input"):
            ours, theirs = rows(connection, table)
            for name in timestamps & ours.keys():
                assert abs(ours.pop(name) - theirs.pop(name)) < 2000
            assert {name for name in ours if ours[name] != theirs[name]} == ids & ours.keys()
            assert ours.keys() == theirs.keys()

    await recorder.database.transact(enqueue)
    await recorder.wait_until(lambda: len(recorder.lanes) == 2)
    recorder.released.set()
    await recorder.wait_until(lambda: len(recorder.finished("exec:ours:1", "exec:theirs:1")) == 2)
    assert sorted(recorder.lanes) == [("exec:ours:1", "run", True), ("exec:theirs:1", "run", True)]


async def test_unfinished_jobs_run_again_after_a_restart(recorder: JobRecorder) -> None:
    """The new process didn't enqueue them. A timer that was due during the restart runs soon."""
    recorder.released.clear()

    def enqueue(connection: sa.Connection) -> None:
        recorder.jobs.enqueue_lane(connection, "exec:a:1", "run")
        recorder.jobs.enqueue_timer(connection, "timeout:a:1", "run", ExecutionTimedOut("a", 1), 1.0)

    await recorder.database.transact(enqueue)
    await recorder.wait_until(lambda: len(recorder.lanes) == 1)
    assert (recorder.finished("exec:a:1"), recorder.own_lanes("exec:a:1", "exec:b:1")) == (set(), {"exec:a:1"})
    waiting = [task for task in asyncio.all_tasks() if "_execute_workflow" in repr(task)]
    await recorder.jobs.stop()
    for task in waiting:  # as the worker does
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert recorder.finished("exec:a:1") == set()
    await asyncio.sleep(1.0)
    await recorder.start()
    await recorder.wait_until(lambda: len(recorder.lanes) == 2 and recorder.timers)
    assert recorder.lanes == [("exec:a:1", "run", True), ("exec:a:1", "run", False)]
    assert recorder.timers == [("run", ExecutionTimedOut("a", 1))]
    recorder.released.set()
    await recorder.wait_until(lambda: recorder.finished("exec:a:1") == {"exec:a:1"})


async def test_a_lane_belongs_to_its_worker(recorder: JobRecorder) -> None:
    """Other processes that share the database don't start it."""
    other = JobRecorder(recorder.database, worker="other")
    other.jobs._lane_enqueue = EnqueueStatements(  # pyright: ignore[reportPrivateUsage]
        recorder.jobs.client, {"workflow_name": "lane", "queue_name": "lanes:other"}
    )
    await asyncio.to_thread(other.jobs._lane_enqueue.prepare, recorder.database.system_engine)  # pyright: ignore[reportPrivateUsage]
    await recorder.database.transact(lambda c: other.jobs.enqueue_lane(c, "exec:theirs:1", "run"))
    await recorder.database.transact(lambda c: recorder.jobs.enqueue_lane(c, "exec:ours:1", "run"))
    await recorder.wait_until(lambda: recorder.finished("exec:ours:1"))
    assert [job for job, _, _ in recorder.lanes] == ["exec:ours:1"]
    assert (recorder.finished("exec:theirs:1"), recorder.own_lanes("exec:theirs:1")) == (set(), set())
    assert other.own_lanes("exec:theirs:1") == {"exec:theirs:1"}


async def test_only_finished_jobs_are_deleted(recorder: JobRecorder) -> None:
    def enqueue(connection: sa.Connection) -> None:
        recorder.jobs.enqueue_lane(connection, "exec:done:1", "run")
        recorder.jobs.enqueue_timer(connection, "timeout:later:1", "run", ExecutionTimedOut("later", 1), 3600)

    await recorder.database.transact(enqueue)
    await recorder.wait_until(lambda: recorder.finished("exec:done:1"))
    assert await asyncio.to_thread(recorder.jobs.delete_finished, datetime.now(UTC) - timedelta(minutes=1)) == 0
    assert await asyncio.to_thread(recorder.jobs.delete_finished, datetime.now(UTC) + timedelta(minutes=1)) == 1
    assert recorder.finished("timeout:later:1") == set()


async def test_enqueueing_before_the_start_fails(database: Database) -> None:
    jobs = JobRecorder(database).jobs
    with pytest.raises(RuntimeError):
        await database.transact(lambda c: jobs.enqueue_lane(c, "exec:a:1", "run"))


async def test_stopping_is_quick_and_keeps_the_executor_usable(database: Database) -> None:
    recorder = JobRecorder(database)
    await recorder.start()
    started = asyncio.get_running_loop().time()
    await recorder.jobs.stop()
    assert asyncio.get_running_loop().time() - started < limit(2.0)
    assert await asyncio.to_thread(lambda: 7) == 7
