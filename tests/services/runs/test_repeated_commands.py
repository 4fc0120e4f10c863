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


async def test_the_same_command_makes_one_pipeline_one_run_one_checkpoint(app: App) -> None:
    """A request that was cut off after its commit, sent again."""
    document = {"pipeline_name": "Twice", "checkpoints": [form("goals")]}
    command = uuid4()
    saved = await asyncio.gather(
        *(app.cairn.pipelines.create(document, actor=ADMIN, command_id=command) for _ in range(3))
    )
    pipeline = saved[0].pipeline_id
    assert {each.pipeline_id for each in saved} == {pipeline}
    assert [e.event_type for e in app.events(pipeline_id=pipeline)] == ["pipeline_created"]
    command = uuid4()
    begun = await asyncio.gather(*(app.cairn.runs.create(pipeline, actor=ADMIN, command_id=command) for _ in range(3)))
    assert {each.run_id for each in begun} == {begun[0].run_id}
    assert app.run(begun[0].run_id).run_version == 1
    await app.cairn.runs.cancel(begun[0].run_id, actor=ADMIN)
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
    again = [await app.cairn.runs.retry(begun[0].run_id, actor=ADMIN, command_id=command) for _ in range(2)]
    assert again[0].run_id == again[1].run_id
    await app.cairn.runs.cancel(again[0].run_id, actor=ADMIN)


async def test_a_rollback_brings_its_id(app: App) -> None:
    pipeline = await app.pipeline(step("goals"), step("design"))
    run = await app.done(pipeline)
    request = RollbackSpec("checkpoint_level", run, target_checkpoint_position=0)
    answers = await asyncio.gather(
        *(app.cairn.rollbacks.roll_back(request, actor=ADMIN) for _ in range(3)), return_exceptions=True
    )
    assert sorted(type(a).__name__ for a in answers) == ["AlreadyApplied", "AlreadyApplied", "tuple"]
    await app.until_run(run, "completed")
    assert app.run(run).rollback_history == [request.rollback_id]
    with pytest.raises(AlreadyApplied):
        app.preview_rollback(request)


async def test_opposite_commands_at_once_come_one_after_the_other(app: App) -> None:
    pipeline = await app.pipeline(form("goals"))
    run = await app.start(pipeline)
    commands: list[Any] = [
        command(run, actor=ADMIN) for _ in range(10) for command in (app.cairn.runs.pause, app.cairn.runs.resume)
    ]
    answers = await asyncio.gather(*commands, app.cairn.runs.cancel(run, actor=ADMIN), return_exceptions=True)
    assert all(isinstance(answer, CommandRefused) or not isinstance(answer, BaseException) for answer in answers)
    assert app.run(run).status == "cancelled"
    told = [e for e in app.event_types(run) if e.startswith("run_")]
    assert told[-1] == "run_cancelled"


async def test_a_lost_race_is_run_once_more_then_told(app: App) -> None:
    """Another process has changed the run since it was loaded here."""
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


async def test_a_cancelled_request_is_carried_out_to_its_end_all_the_same(app: App) -> None:
    """From commit to the last effect: files stand, lanes are awake, whoever has gone."""

    async def cut_off(command: Any, after: float) -> None:
        task = asyncio.ensure_future(command)
        await asyncio.sleep(after)
        task.cancel()
        with suppress(asyncio.CancelledError, CommandRefused):
            await task

    for after in (0.0, 0.0005, 0.002, 0.005, 0.01):
        pipeline = await app.pipeline(step("goals", approve="complete"), step("design", approve="start"))
        command = uuid4()
        await cut_off(app.cairn.runs.create(pipeline, actor=ADMIN, command_id=command), after)
        await app.cairn.engine.drain()
        run = (await app.cairn.runs.create(pipeline, actor=ADMIN, command_id=command)).run_id
        asked = await app.until(lambda run=run: app.execution(run, "goals").approval)
        await cut_off(app.cairn.approvals.decide(asked.approval_id, "approve", actor=ADMIN), after)
        await app.cairn.engine.drain()
        with suppress(CommandRefused):
            await app.cairn.approvals.decide(asked.approval_id, "approve", actor=ADMIN)
        await app.decide(run, "design", "approve")
        await app.until_run(run, "completed")
        await app.check()


async def test_a_fault_among_the_effects_still_wakes_the_lanes(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that goes wrong after a commit leaves work without a driver."""
    begun: list[asyncio.Task[Any] | None] = []

    @app.function("hang")
    async def hang(ctx: Ctx) -> dict[str, int]:
        begun.append(asyncio.current_task())
        if len(begun) == 1:
            await asyncio.Event().wait()
        return {"n": len(begun)}

    async def broken(*_: Any) -> None:
        raise RuntimeError("cannot stop it")

    pipeline = await app.pipeline(step("first"), step("slow", "hang"))
    run = await app.start(pipeline)
    await app.until(lambda: bool(begun))
    with monkeypatch.context() as patched:
        patched.setattr(app.cairn.lanes, "stop_execution", broken)
        await app.roll_back(run, -1)
    await app.until_run(run, "completed")
    assert app.output(run, "slow") == {"n": 2}
    assert begun[0] is not None
    begun[0].cancel()  # what could not be stopped


async def test_a_command_for_a_run_that_is_not_there(app: App) -> None:
    from cairn.store.errors import NotFound

    with pytest.raises(NotFound, match="nobody"):
        await app.cairn.engine.send("nobody", PauseRun(), app.cairn.engine.context("admin"))
