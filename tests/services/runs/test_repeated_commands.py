"""Commands that are repeated, concurrent or interrupted."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa

from cairn.core.commands import PauseRun
from cairn.core.errors import AlreadyApplied, CommandRefused
from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from cairn.services.rollbacks.service import RollbackSpec
from cairn.store import LostRace
from cairn.store import tables as t
from tests.services.app import App, form, step

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_a_repeated_command_creates_one_pipeline_run_or_checkpoint(app: App) -> None:
    """A request is sent again after its connection broke."""
    document = {"pipeline_name": "Twice", "checkpoints": [form("goals")]}
    command = uuid4()
    saved = await asyncio.gather(
        *(app.cairn.pipelines.create(document, actor=ADMIN, command_id=command) for _ in range(3))
    )
    pipeline = saved[0].pipeline_id
    assert {each.pipeline_id for each in saved} == {pipeline}
    assert [e.event_type for e in app.events(pipeline_id=pipeline)] == ["pipeline_created"]
    command = uuid4()
    runs = await asyncio.gather(*(app.cairn.runs.create(pipeline, actor=ADMIN, command_id=command) for _ in range(3)))
    assert {each.run_id for each in runs} == {runs[0].run_id}
    assert app.run(runs[0].run_id).run_version == 1
    await app.cairn.runs.cancel(runs[0].run_id, actor=ADMIN)
    command = uuid4()
    added = [
        await app.cairn.pipelines.add_checkpoint(pipeline, step("more"), actor=ADMIN, command_id=command)
        for _ in range(2)
    ]
    now = app.cairn.pipeline_queries.get_pipeline(pipeline)
    assert [c.key for c in now.checkpoints] == ["goals", "more"]
    assert [(name, each.changed) for name, each in added] == [
        (now.checkpoint_order[1], True),
        (now.checkpoint_order[1], False),
    ]
    command = uuid4()
    again = [await app.cairn.runs.retry(runs[0].run_id, actor=ADMIN, command_id=command) for _ in range(2)]
    assert again[0].run_id == again[1].run_id
    await app.cairn.runs.cancel(again[0].run_id, actor=ADMIN)


async def test_a_rollback_is_identified_by_the_id_in_its_request(app: App) -> None:
    pipeline = await app.pipeline(step("goals"), step("design"))
    run = await app.run_to_completion(pipeline)
    request = RollbackSpec("checkpoint_level", run, target_checkpoint_position=0)
    answers = await asyncio.gather(
        *(app.cairn.rollbacks.roll_back(request, actor=ADMIN) for _ in range(3)), return_exceptions=True
    )
    assert sorted(type(a).__name__ for a in answers) == ["AlreadyApplied", "AlreadyApplied", "tuple"]
    await app.wait_for_run(run, "completed")
    assert app.run(run).rollback_history == [request.rollback_id]
    with pytest.raises(AlreadyApplied):
        app.preview_rollback(request)


async def test_concurrent_opposite_commands_are_applied_in_sequence(app: App) -> None:
    pipeline = await app.pipeline(form("goals"))
    run = await app.start(pipeline)
    commands: list[Any] = [
        command(run, actor=ADMIN) for _ in range(10) for command in (app.cairn.runs.pause, app.cairn.runs.resume)
    ]
    answers = await asyncio.gather(*commands, app.cairn.runs.cancel(run, actor=ADMIN), return_exceptions=True)
    assert all(isinstance(answer, CommandRefused) or not isinstance(answer, BaseException) for answer in answers)
    assert app.run(run).status == "cancelled"
    run_events = [e for e in app.event_types(run) if e.startswith("run_")]
    assert run_events[-1] == "run_cancelled"


async def test_a_lost_race_is_retried_once_then_reported(app: App) -> None:
    """Another process has changed the run since this process loaded it."""
    pipeline = await app.pipeline(form("goals"))
    run = await app.start(pipeline)
    r = t.pipeline_runs
    bump = sa.update(r).where(r.c.run_id == run).values(revision=r.c.revision + 1)
    await app.cairn.database.transact(lambda c: c.execute(bump))
    await app.cairn.runs.pause(run, actor=ADMIN)
    assert app.run(run).status == "paused"
    original = app.cairn.engine.load
    losing = 0

    def lose(connection: Any, run_id: str, **options: Any) -> Any:
        nonlocal losing
        loaded = original(connection, run_id, **options)
        if run_id == run:  # a timer may load another run
            losing += 1
            connection.execute(bump)
        return loaded

    app.cairn.engine.forget(run)
    app.cairn.engine.load = lose
    try:
        with pytest.raises(LostRace):
            await app.cairn.runs.resume(run, actor=ADMIN)
    finally:
        app.cairn.engine.load = original
    assert (losing, app.run(run).status) == (2, "paused")
    await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_a_cancelled_request_is_completed_anyway(app: App) -> None:
    """Every effect after the commit is executed, even if the client has disconnected."""

    async def run_and_cancel(command: Any, after: float) -> None:
        task = asyncio.ensure_future(command)
        await asyncio.sleep(after)
        task.cancel()
        with suppress(asyncio.CancelledError, CommandRefused):
            await task

    for after in (0.0, 0.0005, 0.002, 0.005, 0.01):
        pipeline = await app.pipeline(step("goals", approve="complete"), step("design", approve="start"))
        command = uuid4()
        await run_and_cancel(app.cairn.runs.create(pipeline, actor=ADMIN, command_id=command), after)
        await app.cairn.engine.drain()
        run = (await app.cairn.runs.create(pipeline, actor=ADMIN, command_id=command)).run_id
        approval = await app.wait_until(lambda run=run: app.execution(run, "goals").approval)
        await run_and_cancel(app.cairn.approvals.decide(approval.approval_id, "approve", actor=ADMIN), after)
        await app.cairn.engine.drain()
        with suppress(CommandRefused):
            await app.cairn.approvals.decide(approval.approval_id, "approve", actor=ADMIN)
        await app.decide(run, "design", "approve")
        await app.wait_for_run(run, "completed")
        await app.check()


async def test_a_failing_effect_still_wakes_the_lanes(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error after a commit never leaves a run without a driver."""
    started: list[asyncio.Task[Any] | None] = []

    @app.function("hang")
    async def hang(ctx: Ctx) -> dict[str, int]:
        started.append(asyncio.current_task())
        if len(started) == 1:
            await asyncio.Event().wait()
        return {"n": len(started)}

    async def broken(*_: Any) -> None:
        raise RuntimeError("cannot stop it")

    pipeline = await app.pipeline(step("first"), step("slow", "hang"))
    run = await app.start(pipeline)
    await app.wait_until(lambda: bool(started))
    with monkeypatch.context() as patched:
        patched.setattr(app.cairn.lanes, "stop_execution", broken)
        await app.roll_back(run, -1)
    await app.wait_for_run(run, "completed")
    assert app.output(run, "slow") == {"n": 2}
    assert started[0] is not None
    started[0].cancel()  # it was not stopped above


async def test_a_command_for_an_unknown_run_is_not_found(app: App) -> None:
    from cairn.store.errors import NotFound

    with pytest.raises(NotFound, match="nobody"):
        await app.cairn.engine.send("nobody", PauseRun(), app.cairn.engine.context("admin"))
