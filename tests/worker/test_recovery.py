"""After a restart, all work continues exactly once."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from cairn.adapters.jobs.dbos_workflows import JobHandlers
from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from tests.isolation import PATIENCE, limit
from tests.mentions import mentions
from tests.services.app import App, form, retries, step, timeout


class Works:
    """A function that counts its calls and blocks until it is released."""

    def __init__(self, app: App, name: str = "work") -> None:
        self.begun: list[str] = []
        self.stopped = 0
        self.go = asyncio.Event()
        app.function(name)(self.work)

    async def work(self, ctx: Ctx) -> dict[str, int]:
        self.begun.append(ctx.workspace.parent.name)
        try:
            await asyncio.wait_for(self.go.wait(), PATIENCE)
        except asyncio.CancelledError:
            self.stopped += 1
            raise
        return {"calls": len(self.begun)}


async def test_work_in_progress_continues_after_a_restart(app: App) -> None:
    works = Works(app)
    pipeline = await app.pipeline(step("first"), step("slow", "work"), step("last"))
    run = await app.start(pipeline)
    await app.wait_until(lambda: len(works.begun) == 1)
    before = app.execution(run, "slow")
    await app.reopen()
    assert works.stopped == 1
    await app.wait_until(lambda: len(works.begun) == 2)
    works.go.set()
    await app.wait_for_run(run, "completed")
    after = app.execution(run, "slow")
    assert (after.execution_id, after.dispatch_number, after.attempt_number) == (before.execution_id, 2, 1)
    counts = Counter(app.event_types(run))
    assert (counts["execution_interrupted"], counts["execution_completed"], counts["execution_created"]) == (1, 3, 3)
    assert len(set(works.begun)) == 1


async def test_many_lanes_continue_after_a_restart(app: App) -> None:
    works = Works(app)
    pipeline = await app.pipeline(*(step(f"s{n}", "work", stage="all") for n in range(12)), step("last"))
    run = await app.start(pipeline)
    await app.wait_until(lambda: len(works.begun) == 12)
    began = asyncio.get_running_loop().time()
    await app.close()
    assert asyncio.get_running_loop().time() - began < limit(5.0)
    works.go.set()
    await app.open()
    await app.wait_for_run(run, "completed")
    assert Counter(app.event_types(run))["execution_completed"] == 13
    assert len(app.artifacts(run)) == 13


async def test_an_attempt_interrupted_too_often_fails(app: App) -> None:
    """An attempt is dispatched again up to three times."""
    works = Works(app)
    pipeline = await app.pipeline(step("slow", "work", execution=retries(0, on_failure="fail_run")))
    run = await app.start(pipeline)
    for died in range(1, 5):
        await app.wait_until(lambda died=died: len(works.begun) == died)
        await app.reopen()
    await app.wait_for_run(run, "failed")
    failed = app.execution(run, "slow")
    assert failed.error_details.last_error is not None
    assert failed.error_details.last_error.error_type == "interrupted"
    assert failed.error_details.last_error.error_message == mentions("4")
    assert len(works.begun) == 4


async def test_approvals_stay_pending_after_a_restart(app: App) -> None:
    pipeline = await app.pipeline(form("goals"), step("design", approve="complete"), step("end"))
    run = await app.start(pipeline)
    await app.reopen()
    await app.submit_form(run, "goals", goals="grow")
    await app.wait_for_execution(run, "design", "waiting_approval_to_complete")
    await app.reopen()
    await app.decide(run, "design", "approve")
    await app.wait_for_run(run, "completed")
    assert "execution_interrupted" not in app.event_types(run)


async def test_a_paused_run_stays_paused_after_a_restart(app: App) -> None:
    works = Works(app)
    pipeline = await app.pipeline(step("slow", "work"), step("after"))
    run = await app.start(pipeline)
    await app.wait_until(lambda: len(works.begun) == 1)
    await app.cairn.runs.pause(run, actor=ADMIN)
    works.go.set()
    await app.reopen()
    await app.wait_for_run(run, "paused")
    await app.cairn.runs.resume(run, actor=ADMIN)
    await app.wait_for_run(run, "completed")


async def test_a_retry_that_became_due_during_downtime_runs_once(app: App) -> None:
    calls: list[int] = []

    @app.function("flaky")
    async def flaky(ctx: Ctx) -> dict[str, int]:
        calls.append(ctx.attempt)
        if len(calls) == 1:
            raise ValueError("no")
        return {}

    pipeline = await app.pipeline(step("goals", "flaky", execution=retries(1, delay=1)))
    run = await app.start(pipeline)
    await app.wait_until(lambda: bool(app.execution(run, "goals").retry_due_at))
    await app.close()
    await asyncio.sleep(1.1)
    await app.open()
    await app.wait_for_run(run, "completed")
    assert calls == [1, 2]
    assert Counter(app.event_types(run))["execution_dispatched"] == 2


async def test_a_timeout_applies_after_a_restart(app: App) -> None:
    """Downtime does not count towards a timeout; the next dispatch is timed."""
    works = Works(app)
    pipeline = await app.pipeline(
        step("slow", "work", execution=timeout(1.5, "fail_run")),
        config={"timeout_config": {"enabled": True, "timeout_minutes": 3 / 60}},
    )
    run = await app.start(pipeline)
    await app.wait_until(lambda: len(works.begun) == 1)
    await asyncio.sleep(0.4)
    await app.close()
    await asyncio.sleep(2.0)  # longer than both: what fell due meanwhile is not held against it
    await app.open()
    await app.wait_until(lambda: len(works.begun) == 2)
    await app.wait_for_run(run, "failed")
    failed = app.execution(run, "slow")
    assert failed.error_details.last_error is not None
    assert failed.error_details.last_error.error_type == "timeout"
    assert 1.5 <= failed.active_seconds < 2.4
    assert Counter(app.event_types(run))["execution_failed"] == 1
    await app.wait_until(lambda: works.stopped == 2)


async def test_orphaned_work_is_adopted(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lane fails after its job has joined it."""
    broken = [True]
    report_outcome = app.cairn.lanes._report_outcome  # pyright: ignore[reportPrivateUsage]

    async def once(*args: Any) -> Any:
        if broken:
            broken.clear()
            raise RuntimeError("a fault of ours")
        return await report_outcome(*args)

    joined, join = asyncio.Event(), JobHandlers.lane
    assert join is not None

    async def lane(job: str, run_id: str, *, enqueued_here: bool) -> None:
        joined.set()
        await join(job, run_id, enqueued_here=enqueued_here)

    @app.function("work")
    async def work(ctx: Ctx) -> dict[str, int]:
        await asyncio.wait_for(joined.wait(), PATIENCE)
        return {}

    monkeypatch.setattr(JobHandlers, "lane", lane)

    monkeypatch.setattr(app.cairn.lanes, "_report_outcome", once)
    pipeline = await app.pipeline(step("goals", "work"), step("design"))
    run = await app.start(pipeline)
    await app.wait_until(lambda: not broken)
    await app.wait_until_idle()
    assert app.statuses(run) == {"goals": "in_progress", "design": "upcoming"}
    for _ in range(100):
        await app.cairn.orphans.resume_orphans()
        if app.execution(run, "goals").dispatch_number == 2:
            break
        await asyncio.sleep(0.05)
    await app.wait_for_run(run, "completed")
    assert Counter(app.event_types(run))["execution_interrupted"] == 1


async def test_a_job_resumes_a_lane_that_failed_before_it_was_polled(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = [True]
    report_outcome = app.cairn.lanes._report_outcome  # pyright: ignore[reportPrivateUsage]

    async def once(*args: Any) -> Any:
        if broken:
            broken.clear()
            raise RuntimeError("a fault of ours")
        return await report_outcome(*args)

    monkeypatch.setattr(app.cairn.lanes, "_report_outcome", once)
    run = await app.start(await app.pipeline(step("goals"), step("design")))
    await app.wait_for_run(run, "completed")
    assert "execution_interrupted" not in app.event_types(run)


async def test_a_polled_job_joins_its_running_lane(app: App) -> None:
    """No execution is driven twice, and the job of a finished lane ends at once."""
    calls: list[str] = []

    @app.function("nap")
    async def nap(ctx: Ctx) -> dict[str, int]:
        calls.append(ctx.workspace.parent.name)
        await asyncio.sleep(0.3)  # the queue is looked at every 0.05 s
        return {}

    pipeline = await app.pipeline(step("a", "nap", stage="both"), step("b", "nap", stage="both"), step("c", "nap"))
    runs = [await app.start(pipeline) for _ in range(3)]
    for run in runs:
        await app.wait_for_run(run, "completed")
        assert "execution_interrupted" not in app.event_types(run)
    assert len(calls) == len(set(calls)) == 9


async def test_a_database_outage_is_survived(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """The result of a runner is saved when the database is available again."""
    transact = app.cairn.database.transact
    away = [0]
    calls: list[int] = []

    @app.function("work")
    async def work(ctx: Ctx) -> dict[str, int]:
        calls.append(1)
        away[0] = 6
        return {"done": len(calls)}

    async def sometimes(change: Any) -> Any:
        if away[0] > 0:
            away[0] -= 1
            raise OperationalError("COMMIT", {}, Exception("the database does not answer"))
        return await transact(change)

    monkeypatch.setattr(app.cairn.database, "transact", sometimes)
    monkeypatch.setattr("cairn.services.engine.retry.FIRST_WAIT", 0.01)
    pipeline = await app.pipeline(step("goals", "work"), step("design", "work"))
    run = await app.start(pipeline)
    await app.wait_for_run(run, "completed")
    assert (calls, app.output(run, "design")) == ([1, 1], {"done": 2})


async def test_everything_is_released_when_idle(app: App) -> None:
    """Lanes, runner slots, timers, locks and tasks."""
    pipeline = await app.pipeline(step("a", stage="both", execution=timeout(60)), step("b", stage="both"), step("c"))
    for run in [await app.start(pipeline) for _ in range(10)]:
        await app.wait_for_run(run, "completed")
    await app.wait_until_idle()
    lanes, engine = app.cairn.lanes, app.cairn.engine
    assert (len(lanes._lanes), len(lanes._running)) == (0, 0)  # pyright: ignore[reportPrivateUsage]
    assert not app.cairn.notifications.courier._tasks  # pyright: ignore[reportPrivateUsage]
    assert len(app.worker._tasks) == 8  # pyright: ignore[reportPrivateUsage] # the loops
    assert len(engine._tasks) == 0  # pyright: ignore[reportPrivateUsage]
    gc.collect()
    assert len(engine._locks._locks) == 0  # pyright: ignore[reportPrivateUsage]


async def test_a_stop_waits_for_commands_in_progress(app: App) -> None:
    """They finish with their files, so the next start finds nothing to repair."""
    pipeline = await app.pipeline(*(step(f"s{n}") for n in range(5)))
    started = [asyncio.ensure_future(app.start(pipeline)) for _ in range(5)]
    await asyncio.sleep(0.05)
    await app.close()
    await asyncio.gather(*started, return_exceptions=True)
    await app.open()
    report = await app.cairn.folder_repair.repair_all()
    assert report.is_clean, report
    for run in app.cairn.run_queries.list_pipeline_runs(pipeline, _all(), 50, None).items:
        await app.wait_for_run(run.run_id, "completed")


def _all() -> Any:
    from cairn.services.runs.queries.lists import RunFilter

    return RunFilter(None, (), None, False, False)
