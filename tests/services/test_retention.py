"""Old data is deleted after its retention period."""

from __future__ import annotations

from collections import Counter
from copy import copy
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from cairn.core.errors import CommandRefused
from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from cairn.services.errors import Gone
from cairn.services.retention import Retention, RetentionDays
from cairn.store import blobs
from cairn.store import tables as t
from cairn.store.errors import NotFound
from tests.services.app import App, form, step
from tests.services.runs.test_run_control import Gate

pytestmark = pytest.mark.asyncio(loop_scope="package")


@dataclass
class ShiftedClock:
    """A clock that is ahead by a fixed time."""

    by: timedelta

    def now(self) -> datetime:
        return datetime.now(UTC) + self.by


def retention(app: App, later: timedelta, **days: int) -> Retention:
    """Return a retention service whose clock is ahead of the app."""
    kept, engine = app.cairn.retention, copy(app.cairn.engine)
    engine.clock = ShiftedClock(later)
    return Retention(engine, kept._folder_sync, kept._jobs, replace(RetentionDays(), **days))  # pyright: ignore[reportPrivateUsage]


def lane_jobs(app: App) -> Counter[str]:
    """Count the lane jobs in the job engine by status."""
    schema = "" if app.is_sqlite else "dbos."
    query = sa.text(f"SELECT status FROM {schema}workflow_status WHERE queue_name LIKE 'lanes%'")
    return Counter(app.cairn.database.read(lambda c: c.execute(query).scalars().all()))


async def test_failed_workspaces_are_deleted_after_their_retention_with_an_event(app: App) -> None:
    @app.function("fails")
    async def fails(ctx: Ctx) -> None:
        raise ValueError("no")

    pipeline = await app.pipeline(step("goals", "fails"))
    run = await app.start(pipeline)
    await app.wait_for_run(run, "paused")
    await app.wait_until_idle()
    notes = app.root(pipeline) / ".errored/notes.txt"
    notes.write_text("mine")
    await retention(app, timedelta(days=89)).sweep()
    assert len(app.names(pipeline, ".errored")) == 5
    await retention(app, timedelta(days=400), errored=0, archives=0).sweep()
    assert len(app.names(pipeline, ".errored")) == 5
    await retention(app, timedelta(days=91)).sweep()
    assert app.names(pipeline, ".errored") == [".errored/notes.txt"]
    last = app.events(pipeline_id=pipeline)[-1]
    assert (last.event_type, last.actor, len(last.metadata["paths"])) == (
        "failed_workspaces_deleted",
        "retention",
        1,
    )


async def test_a_rollback_with_a_deleted_archive_cannot_be_undone(app: App) -> None:
    pipeline = await app.pipeline(step("goals"), form("more"))
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "more", "in_progress")
    rollback = await app.roll_back(run, -1)
    await app.wait_for_execution(run, "more", "in_progress")
    await app.cairn.runs.cancel(run, actor=ADMIN)
    await app.cairn.pipelines.add_checkpoint(pipeline, step("end"), actor=ADMIN)
    kept = app.root(pipeline) / ".archived/drift_20200101T000000Z/mine.txt"
    kept.parent.mkdir()
    kept.write_text("mine")
    await retention(app, timedelta(days=364)).sweep()
    assert len(list((app.root(pipeline) / ".archived").iterdir())) == 3
    await retention(app, timedelta(days=366), errored=0).sweep()
    assert [path.name for path in (app.root(pipeline) / ".archived").iterdir()] == ["drift_20200101T000000Z"]
    assert kept.read_text() == "mine"
    rollback_after = app.rollback(rollback)
    assert (rollback_after.can_undo, rollback_after.archive_location) == (False, "")
    with pytest.raises(Gone):
        await app.cairn.rollbacks.undo(rollback, actor=ADMIN)
    deletions = [e for e in app.events(run) if e.event_type == "archive_deleted"]
    assert [e.rollback_id for e in deletions] == [rollback]
    assert app.cairn.event_queries.verify_chains(None, run).is_valid


async def test_test_runs_are_deleted_after_seven_days_and_their_events_are_kept(app: App) -> None:
    pipeline = await app.pipeline(step("goals"), form("more"))
    done = await app.start(pipeline, test=True)
    await app.submit_form(done, "more", more="yes")
    await app.wait_for_run(done, "completed")
    open_one = await app.start(pipeline, test=True)
    await app.wait_for_execution(open_one, "more", "in_progress")
    rolled = await app.roll_back(done, 0)
    await app.wait_for_execution(done, "more", "in_progress")
    kept = await app.start(pipeline)
    await app.wait_for_execution(kept, "more", "in_progress")
    await app.wait_until_idle()
    await retention(app, timedelta(days=6)).sweep()
    assert app.run(done).test
    await retention(app, timedelta(days=8)).sweep()
    for run in (done, open_one):
        with pytest.raises(NotFound):
            app.run(run)
        assert app.cairn.event_queries.verify_chains(None, None).is_valid
    with pytest.raises(NotFound):
        app.rollback(rolled)
    assert app.names(pipeline, "runs/test_") == []
    assert app.run(kept).status == "in_progress"
    deletions = [e for e in app.events(pipeline_id=pipeline) if e.event_type == "test_run_deleted"]
    assert {e.metadata["run_id"] for e in deletions} == {done, open_one}
    await app.cairn.runs.cancel(kept, actor=ADMIN)


async def test_everything_that_belongs_to_a_test_run_is_deleted_with_it(app: App) -> None:
    """Including actions, comments, decisions and reworks."""

    @app.function("propose")
    async def propose(ctx: Ctx) -> dict[str, Any]:
        return dict(ctx.propose_action("financial_transaction", {"amount": 1, "currency": "EUR"}, risk_level="high"))

    @app.function("send_back")
    async def send_back(ctx: Ctx) -> dict[str, Any]:
        ctx.stage("check", {})
        ctx.request_rework("goals", "Once more.")
        return {}

    pipeline = await app.pipeline(
        step("goals"), step("act", "propose"), step("check", "send_back", outputs=["check.json"])
    )
    run = await app.start(pipeline, test=True)
    approval = await app.wait_until(lambda: next(iter(app.run(run).pending_approvals), None))
    await app.cairn.comments.add(approval.approval_id, "why?", actor=ADMIN)
    await app.cairn.approvals.decide(approval.approval_id, "approve", modified_params={"amount": 2}, actor=ADMIN)
    await app.wait_for_run(run, "completed")
    await app.wait_until_idle()
    await retention(app, timedelta(days=8)).sweep()
    with pytest.raises(NotFound):
        app.run(run)


async def test_unused_contents_sessions_and_keys_are_deleted(app: App) -> None:
    pipeline = await app.pipeline(step("goals"))
    run = await app.run_to_completion(pipeline, input={"kept": 1})
    lost = await app.cairn.database.transact(lambda c: blobs.put(c, b"nobody refers to this"))
    await retention(app, timedelta(hours=23)).sweep()
    size = app.cairn.database.read(lambda c: blobs.size_of(c, lost))
    assert size is not None
    k, s = t.idempotency_keys, t.sessions
    old = datetime.now(UTC) - timedelta(days=3)
    await app.cairn.database.transact(
        lambda c: (
            c.execute(
                sa.insert(k).values(
                    actor="a",
                    key="k",
                    method="POST",
                    path="/",
                    request_digest="",
                    status=200,
                    response=b"",
                    created_at=old,
                )
            ),
            c.execute(
                sa.insert(s).values(
                    session_digest="d",
                    session_id="i",
                    user_name="admin",
                    signed_in_with="token",
                    address="",
                    user_agent="",
                    created_at=old,
                    expires_at=old,
                )
            ),
        )
    )
    await retention(app, timedelta(hours=25)).sweep()
    assert app.cairn.database.read(lambda c: blobs.size_of(c, lost)) is None
    assert app.cairn.database.read(lambda c: c.execute(sa.select(k).where(k.c.key == "k")).first()) is None
    assert app.cairn.database.read(lambda c: c.execute(sa.select(s).where(s.c.session_digest == "d")).first()) is None
    assert app.cairn.run_queries.get_input(run) == b'{"kept":1}'
    assert app.content(app.artifacts(run)[0]) == b'{"value":1}'


async def test_completed_jobs_are_deleted(app: App) -> None:
    gate, before = Gate(app), lane_jobs(app)["SUCCESS"]
    pipeline = await app.pipeline(step("goals", "gate"))
    runs = [await app.start(pipeline) for _ in range(3)]
    await app.wait_until(lambda: lane_jobs(app)["PENDING"] >= 3)  # the job engine has started them
    gate.open.set()
    for run in runs:
        await app.wait_for_run(run, "completed")
    await app.wait_until(lambda: lane_jobs(app)["SUCCESS"] >= before + 3)
    waiting = await app.start(await app.pipeline(form("more")))
    await retention(app, timedelta(minutes=30)).sweep_jobs()
    assert lane_jobs(app)["SUCCESS"] >= 3
    await retention(app, timedelta(hours=2)).sweep_jobs()
    assert lane_jobs(app)["SUCCESS"] == 0
    await app.submit_form(waiting, "more", more="yes")
    await app.wait_for_run(waiting, "completed")


async def test_the_daily_cleanup_runs_once_a_day(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[datetime] = []

    async def sweep(self: Retention) -> None:
        done.append(self._engine.clock.now())  # pyright: ignore[reportPrivateUsage]

    monkeypatch.setattr(Retention, "sweep", sweep)
    start = timedelta(days=1000)
    for hours in (0, 1, 23, 25, 26, 50):
        await retention(app, start + timedelta(hours=hours)).sweep_daily()
    assert len(done) == 3


async def test_files_of_a_deleted_pipeline_are_kept(app: App) -> None:
    pipeline = await app.pipeline(step("goals"), form("more"))
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "more", "in_progress")
    await app.roll_back(run, -1)
    location = await app.cairn.pipelines.delete(pipeline, force=True, actor=ADMIN)
    before = sorted(path.name for path in (app.folder / "pipelines" / location).rglob("*"))
    await retention(app, timedelta(days=1000)).sweep()
    assert sorted(path.name for path in (app.folder / "pipelines" / location).rglob("*")) == before
    with pytest.raises(CommandRefused):
        await app.roll_back(run, 0)
