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
from tests.services.house import House, form, step

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_the_same_command_makes_one_pipeline_one_run_one_checkpoint(house: House) -> None:
    """A request that was cut off after its commit, sent again."""
    document = {"pipeline_name": "Twice", "checkpoints": [form("goals")]}
    command = uuid4()
    saved = await asyncio.gather(
        *(house.cairn.pipelines.create(document, by=ADMIN, command_id=command) for _ in range(3))
    )
    pipeline = saved[0].pipeline_id
    assert {each.pipeline_id for each in saved} == {pipeline}
    assert [e.event_type for e in house.events(pipeline_id=pipeline)] == ["pipeline_created"]
    command = uuid4()
    begun = await asyncio.gather(*(house.cairn.runs.start(pipeline, by=ADMIN, command_id=command) for _ in range(3)))
    assert {each.run_id for each in begun} == {begun[0].run_id}
    assert house.run(begun[0].run_id).run_version == 1
    await house.cairn.runs.cancel(begun[0].run_id, by=ADMIN)
    command = uuid4()
    added = [
        await house.cairn.pipelines.add_checkpoint(pipeline, step("more"), by=ADMIN, command_id=command)
        for _ in range(2)
    ]
    now = house.cairn.reading.pipeline(pipeline)
    assert [c.key for c in now.checkpoints] == ["goals", "more"]
    assert [(name, each.changed) for name, each in added] == [
        (now.checkpoint_order[1], True),
        (now.checkpoint_order[1], False),
    ]
    command = uuid4()
    again = [await house.cairn.runs.retry(begun[0].run_id, by=ADMIN, command_id=command) for _ in range(2)]
    assert again[0].run_id == again[1].run_id
    await house.cairn.runs.cancel(again[0].run_id, by=ADMIN)


async def test_a_rollback_brings_its_id(house: House) -> None:
    pipeline = await house.pipeline(step("goals"), step("design"))
    run = await house.done(pipeline)
    request = RollbackSpec("checkpoint_level", run, target_checkpoint_position=0)
    answers = await asyncio.gather(
        *(house.cairn.rollbacks.roll_back(request, by=ADMIN) for _ in range(3)), return_exceptions=True
    )
    assert sorted(type(a).__name__ for a in answers) == ["AlreadyApplied", "AlreadyApplied", "tuple"]
    await house.until_run(run, "completed")
    assert house.run(run).rollback_history == [request.rollback_id]
    with pytest.raises(AlreadyApplied):
        house.foresee(request)


async def test_opposite_commands_at_once_come_one_after_the_other(house: House) -> None:
    pipeline = await house.pipeline(form("goals"))
    run = await house.start(pipeline)
    commands: list[Any] = [
        command(run, by=ADMIN) for _ in range(10) for command in (house.cairn.runs.pause, house.cairn.runs.resume)
    ]
    answers = await asyncio.gather(*commands, house.cairn.runs.cancel(run, by=ADMIN), return_exceptions=True)
    assert all(isinstance(answer, CommandRefused) or not isinstance(answer, BaseException) for answer in answers)
    assert house.run(run).status == "cancelled"
    told = [e for e in house.told(run) if e.startswith("run_")]
    assert told[-1] == "run_cancelled"


async def test_a_lost_race_is_run_once_more_then_told(house: House) -> None:
    """Another process has changed the run since it was loaded here."""
    pipeline = await house.pipeline(form("goals"))
    run = await house.start(pipeline)
    r = t.pipeline_runs
    bump = sa.update(r).where(r.c.run_id == run).values(revision=r.c.revision + 1)
    await house.cairn.database.transact(lambda c: c.execute(bump))
    await house.cairn.runs.pause(run, by=ADMIN)
    assert house.run(run).status == "paused"
    original = house.cairn.engine.load
    losing = 0

    def lose(connection: Any, run_id: str, **options: Any) -> Any:
        nonlocal losing
        loaded = original(connection, run_id, **options)
        losing += 1
        connection.execute(bump)
        return loaded

    house.cairn.engine.forget(run)
    house.cairn.engine.load = lose
    try:
        with pytest.raises(LostRace):
            await house.cairn.runs.resume(run, by=ADMIN)
    finally:
        house.cairn.engine.load = original
    assert (losing, house.run(run).status) == (2, "paused")
    await house.cairn.runs.cancel(run, by=ADMIN)


async def test_a_cancelled_request_is_carried_out_to_its_end_all_the_same(house: House) -> None:
    """From commit to the last effect: files stand, lanes are awake, whoever has gone."""

    async def cut_off(command: Any, after: float) -> None:
        task = asyncio.ensure_future(command)
        await asyncio.sleep(after)
        task.cancel()
        with suppress(asyncio.CancelledError, CommandRefused):
            await task

    for after in (0.0, 0.0005, 0.002, 0.005, 0.01):
        pipeline = await house.pipeline(step("goals", approve="complete"), step("design", approve="start"))
        command = uuid4()
        await cut_off(house.cairn.runs.start(pipeline, by=ADMIN, command_id=command), after)
        await house.cairn.engine.drain()
        run = (await house.cairn.runs.start(pipeline, by=ADMIN, command_id=command)).run_id
        asked = await house.until(lambda run=run: house.execution(run, "goals").approval)
        await cut_off(house.cairn.approvals.decide(asked.approval_id, "approve", by=ADMIN), after)
        await house.cairn.engine.drain()
        with suppress(CommandRefused):
            await house.cairn.approvals.decide(asked.approval_id, "approve", by=ADMIN)
        await house.decide(run, "design", "approve")
        await house.until_run(run, "completed")
        await house.check()


async def test_a_fault_among_the_effects_still_wakes_the_lanes(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that goes wrong after a commit leaves work without a driver."""
    begun: list[asyncio.Task[Any] | None] = []

    @house.does("hang")
    async def hang(ctx: Ctx) -> dict[str, int]:
        begun.append(asyncio.current_task())
        if len(begun) == 1:
            await asyncio.Event().wait()
        return {"n": len(begun)}

    async def broken(*_: Any) -> None:
        raise RuntimeError("cannot stop it")

    pipeline = await house.pipeline(step("first"), step("slow", "hang"))
    run = await house.start(pipeline)
    await house.until(lambda: bool(begun))
    with monkeypatch.context() as patched:
        patched.setattr(house.cairn.lanes, "stop_execution", broken)
        await house.roll_back(run, -1)
    await house.until_run(run, "completed")
    assert house.output(run, "slow") == {"n": 2}
    assert begun[0] is not None
    begun[0].cancel()  # what could not be stopped


async def test_a_command_for_a_run_that_is_not_there(house: House) -> None:
    from cairn.store.errors import NotFound

    with pytest.raises(NotFound, match="nobody"):
        await house.cairn.engine.send("nobody", PauseRun(), house.cairn.engine.context("admin"))
