"""Durable jobs: enqueued with the change they belong to, carried out after any number of starts (ARCHITECTURE)."""

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
    """Jobs, and what came of them."""

    def __init__(self, database: Database, worker: str = "local") -> None:
        self.database = database
        self.lanes: list[tuple[str, str, bool]] = []
        self.timers: list[tuple[str, Timer]] = []
        self.notices: list[str] = []
        self.hold = asyncio.Event()
        self.hold.set()
        url = database.url.render_as_string(hide_password=False)
        self.jobs = DbosJobs(url, database.system_engine, worker=worker, poll_seconds=0.05)

    async def lane(self, job: str, run_id: str, *, own: bool) -> None:
        self.lanes.append((job, run_id, own))
        await self.hold.wait()

    async def timer(self, run_id: str, command: Timer) -> None:
        self.timers.append((run_id, command))

    async def notice(self, notice: str) -> None:
        self.notices.append(notice)

    async def start(self) -> None:
        await self.jobs.start(self.lane, self.timer, self.notice)

    async def until(self, probe: Any, seconds: float = 10) -> None:
        async with asyncio.timeout(seconds):
            while not probe():  # noqa: ASYNC110 - the engine tells nobody
                await asyncio.sleep(0.02)

    def over(self, *jobs: str) -> set[str]:
        return set(self.database.read(lambda c: self.jobs.over(c, jobs)))

    def own(self, *jobs: str) -> set[str]:
        return set(self.database.read(lambda c: self.jobs.own(c, jobs)))


@pytest_asyncio.fixture
async def recorder(database: Database) -> AsyncIterator[JobRecorder]:
    recorder = JobRecorder(database)
    await recorder.start()
    yield recorder
    recorder.hold.set()
    await recorder.jobs.stop()


@pytest.mark.parametrize(
    "timer", [RetryDue("e", 2), ExecutionTimedOut("e", 3), ApprovalExpired("a", 1), RunTimedOut(4)]
)
def test_timers_are_read_as_they_were_written(timer: Timer) -> None:
    assert read_timer(write_timer(timer)) == timer


async def test_a_job_comes_with_the_change_and_goes_with_it(recorder: JobRecorder) -> None:
    def lost(connection: sa.Connection) -> None:
        recorder.jobs.enqueue_lane(connection, "exec:lost:1", "run")
        recorder.jobs.enqueue_timer(connection, "retry:lost:1", "run", RetryDue("lost", 1), 0)
        raise ValueError("never mind")

    with pytest.raises(ValueError, match="never mind"):
        await recorder.database.transact(lost)

    def kept(connection: sa.Connection) -> None:
        for _ in range(2):  # a repeated id is a no-op
            recorder.jobs.enqueue_lane(connection, "exec:kept:1", "run")
        recorder.jobs.enqueue_timer(connection, "retry:kept:1", "run", RetryDue("kept", 1), 0)

    await recorder.database.transact(kept)
    await recorder.database.transact(lambda c: recorder.jobs.enqueue_lane(c, "exec:kept:1", "run"))
    await recorder.until(lambda: recorder.lanes and recorder.timers)
    await recorder.until(lambda: recorder.over("exec:kept:1", "exec:lost:1") == {"exec:kept:1", "exec:lost:1"})
    assert recorder.lanes == [("exec:kept:1", "run", True)]
    assert recorder.timers == [("run", RetryDue("kept", 1))]


async def test_what_is_over_before_it_has_begun_never_begins(recorder: JobRecorder) -> None:
    def done(connection: sa.Connection) -> None:
        recorder.jobs.enqueue_lane(connection, "exec:done:1", "run")
        recorder.jobs.enqueue_lane(connection, "exec:next:1", "run")
        recorder.jobs.end_lane(connection, "exec:done:1")
        recorder.jobs.end_lane(connection, "exec:nobody:1")

    recorder.hold.clear()
    await recorder.database.transact(done)
    assert recorder.over("exec:done:1", "exec:next:1") == {"exec:done:1"}
    await recorder.until(lambda: recorder.lanes)
    await recorder.database.transact(lambda c: recorder.jobs.end_lane(c, "exec:next:1"))  # too late: it is at work
    assert recorder.over("exec:next:1") == set()
    recorder.hold.set()
    await recorder.until(lambda: recorder.over("exec:next:1") == {"exec:next:1"})
    assert recorder.lanes == [("exec:next:1", "run", True)]


async def test_a_lane_is_enqueued_as_dbos_itself_enqueues_it(recorder: JobRecorder) -> None:
    """Its statements are learned at the start; what they write is the same, but for the job's own values."""
    recorder.hold.clear()
    jobs = recorder.jobs
    theirs_too: Any = {"workflow_name": "lane", "queue_name": "lanes:local", "workflow_id": "exec:theirs:1"}
    moments = {"created_at", "updated_at", "retention_timestamp"}
    own = {"workflow_uuid", "creator_xid"}

    def rows(connection: sa.Connection, table: str) -> list[dict[str, Any]]:
        schema = "" if connection.dialect.name == "sqlite" else "dbos."
        query = sa.text(f"SELECT * FROM {schema}{table} WHERE workflow_uuid LIKE 'exec:%' ORDER BY workflow_uuid")
        return [dict(row) for row in connection.execute(query).mappings()]

    def enqueue(connection: sa.Connection) -> None:
        jobs.enqueue_lane(connection, "exec:ours:1", "run")
        jobs.client.enqueue_in_transaction(connection, theirs_too, "run", jobs.process)
        for table, differs in (("workflow_status", own), ("workflow_input", own)):
            ours, theirs = rows(connection, table)
            for name in moments & ours.keys():
                assert abs(ours.pop(name) - theirs.pop(name)) < 2000
            assert {name for name in ours if ours[name] != theirs[name]} == differs & ours.keys()
            assert ours.keys() == theirs.keys()

    await recorder.database.transact(enqueue)
    await recorder.until(lambda: len(recorder.lanes) == 2)
    recorder.hold.set()
    await recorder.until(lambda: len(recorder.over("exec:ours:1", "exec:theirs:1")) == 2)
    assert sorted(recorder.lanes) == [("exec:ours:1", "run", True), ("exec:theirs:1", "run", True)]


async def test_what_was_not_finished_comes_again_after_the_next_start(recorder: JobRecorder) -> None:
    """And is known as not of this process; a delayed one that fell due meanwhile comes soon."""
    recorder.hold.clear()

    def enqueue(connection: sa.Connection) -> None:
        recorder.jobs.enqueue_lane(connection, "exec:a:1", "run")
        recorder.jobs.enqueue_timer(connection, "timeout:a:1", "run", ExecutionTimedOut("a", 1), 1.0)

    await recorder.database.transact(enqueue)
    await recorder.until(lambda: len(recorder.lanes) == 1)
    assert (recorder.over("exec:a:1"), recorder.own("exec:a:1", "exec:b:1")) == (set(), {"exec:a:1"})
    waiting = [task for task in asyncio.all_tasks() if "_execute_workflow" in repr(task)]
    await recorder.jobs.stop()
    for task in waiting:  # as the worker does
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert recorder.over("exec:a:1") == set()
    await asyncio.sleep(1.0)
    await recorder.start()
    await recorder.until(lambda: len(recorder.lanes) == 2 and recorder.timers)
    assert recorder.lanes == [("exec:a:1", "run", True), ("exec:a:1", "run", False)]
    assert recorder.timers == [("run", ExecutionTimedOut("a", 1))]
    recorder.hold.set()
    await recorder.until(lambda: recorder.over("exec:a:1") == {"exec:a:1"})


async def test_a_lane_belongs_to_the_worker_that_wakes_it(recorder: JobRecorder) -> None:
    """Another process on the same database does not take it up beside it."""
    other = JobRecorder(recorder.database, worker="other")
    other.jobs._lane_enqueue = EnqueueStatements(  # pyright: ignore[reportPrivateUsage]
        recorder.jobs.client, {"workflow_name": "lane", "queue_name": "lanes:other"}
    )
    await asyncio.to_thread(other.jobs._lane_enqueue.prepare, recorder.database.system_engine)  # pyright: ignore[reportPrivateUsage]
    await recorder.database.transact(lambda c: other.jobs.enqueue_lane(c, "exec:theirs:1", "run"))
    await recorder.database.transact(lambda c: recorder.jobs.enqueue_lane(c, "exec:ours:1", "run"))
    await recorder.until(lambda: recorder.over("exec:ours:1"))
    assert [job for job, _, _ in recorder.lanes] == ["exec:ours:1"]
    assert (recorder.over("exec:theirs:1"), recorder.own("exec:theirs:1")) == (set(), set())
    assert other.own("exec:theirs:1") == {"exec:theirs:1"}


async def test_jobs_that_are_over_are_swept_and_others_are_not(recorder: JobRecorder) -> None:
    def enqueue(connection: sa.Connection) -> None:
        recorder.jobs.enqueue_lane(connection, "exec:done:1", "run")
        recorder.jobs.enqueue_timer(connection, "timeout:later:1", "run", ExecutionTimedOut("later", 1), 3600)

    await recorder.database.transact(enqueue)
    await recorder.until(lambda: recorder.over("exec:done:1"))
    assert await asyncio.to_thread(recorder.jobs.sweep, datetime.now(UTC) - timedelta(minutes=1)) == 0
    assert await asyncio.to_thread(recorder.jobs.sweep, datetime.now(UTC) + timedelta(minutes=1)) == 1
    assert recorder.over("timeout:later:1") == set()


async def test_before_the_start_nothing_can_be_enqueued(database: Database) -> None:
    jobs = JobRecorder(database).jobs
    with pytest.raises(RuntimeError):
        await database.transact(lambda c: jobs.enqueue_lane(c, "exec:a:1", "run"))


async def test_stopping_is_quick_and_leaves_the_loops_threads_usable(database: Database) -> None:
    recorder = JobRecorder(database)
    await recorder.start()
    began = asyncio.get_running_loop().time()
    await recorder.jobs.stop()
    assert asyncio.get_running_loop().time() - began < limit(2.0)
    assert await asyncio.to_thread(lambda: 7) == 7
