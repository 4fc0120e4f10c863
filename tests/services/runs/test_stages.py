"""Parallel stages and `needs`."""

from __future__ import annotations

import asyncio

import pytest

from cairn.runners import Ctx
from tests.isolation import PATIENCE
from tests.services.app import App, retries, step

pytestmark = pytest.mark.asyncio(loop_scope="package")


class BarrierFunction:
    """A function that waits until this many of its calls run at once."""

    def __init__(self, app: App, name: str, count: int) -> None:
        self._barrier = asyncio.Barrier(count)
        app.function(name)(self.wait)

    async def wait(self, ctx: Ctx) -> dict[str, str]:
        async with asyncio.timeout(PATIENCE):
            await self._barrier.wait()
        return {"met": "yes"}


async def test_checkpoints_of_a_stage_run_in_parallel(app: App) -> None:
    BarrierFunction(app, "meet", 3)
    pipeline = await app.pipeline(
        step("first"),
        *(step(f"side_{n}", "meet", stage="side") for n in range(3)),
        step("last", "give_back"),
    )
    run = await app.run_to_completion(pipeline)
    assert sorted(app.output(run, "last")) == ["first", "input", "side_0", "side_1", "side_2"]
    created = [event.metadata["checkpoint"] for event in app.events(run) if event.event_type == "execution_created"]
    assert created == ["first", "side_0", "side_1", "side_2", "last"]


async def test_a_checkpoint_with_needs_starts_before_earlier_stages_complete(app: App) -> None:
    """`fast` starts when `root` is complete, while `slow` is still running."""
    go = asyncio.Event()

    @app.function("wait_for_go")
    async def wait_for_go(ctx: Ctx) -> dict[str, str]:
        async with asyncio.timeout(PATIENCE):
            await go.wait()
        return {}

    @app.function("say_go")
    async def say_go(ctx: Ctx) -> dict[str, str]:
        go.set()
        return {}

    pipeline = await app.pipeline(
        step("root"),
        step("slow", "wait_for_go"),
        step("fast", "say_go", needs=["root"]),
        step("end"),
    )
    run = await app.run_to_completion(pipeline)
    done = [event.metadata["checkpoint"] for event in app.events(run) if event.event_type == "execution_completed"]
    assert done == ["root", "fast", "slow", "end"]


async def test_workspaces_of_a_stage_are_kept_until_a_later_checkpoint_starts(app: App) -> None:
    pipeline = await app.pipeline(
        step("left", stage="both"), step("right", stage="both", approve="complete"), step("last", approve="start")
    )
    run = await app.start(pipeline)
    left = (await app.wait_for_execution(run, "left", "completed")).execution_id
    right = (await app.wait_for_execution(run, "right", "waiting_approval_to_complete")).execution_id
    await app.wait_until_idle()
    assert app.workspaces(pipeline) == {left, right}
    await app.decide(run, "right", "approve")
    last = (await app.wait_for_execution(run, "last", "waiting_approval_to_start")).execution_id
    assert app.workspaces(pipeline) == {left, right, last}
    await app.decide(run, "last", "approve")
    await app.wait_for_run(run, "completed")
    await app.wait_until_idle()
    assert app.workspaces(pipeline) == set()


async def test_other_executions_finish_before_a_failure_pauses_the_run(app: App) -> None:
    """With `pause_pipeline`."""
    go = asyncio.Event()

    @app.function("wait_for_go")
    async def wait_for_go(ctx: Ctx) -> dict[str, str]:
        async with asyncio.timeout(PATIENCE):
            await go.wait()
        return {}

    @app.function("broken")
    async def broken(ctx: Ctx) -> None:
        raise ValueError("no")

    pipeline = await app.pipeline(
        step("good", "wait_for_go", stage="both"), step("bad", "broken", stage="both"), step("after")
    )
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "bad", "failed")
    assert (app.run(run).status, app.run(run).pause_requested) == ("in_progress", True)
    go.set()
    await app.wait_for_run(run, "paused")
    assert app.statuses(run) == {"good": "completed", "bad": "failed", "after": "upcoming"}


async def test_failing_the_run_stops_the_other_executions(app: App) -> None:
    """With `fail_run`, open executions are stopped and cancelled."""
    at_work, stopped = asyncio.Event(), asyncio.Event()

    @app.function("hang")
    async def hang(ctx: Ctx) -> None:
        at_work.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    @app.function("broken")
    async def broken(ctx: Ctx) -> None:
        await at_work.wait()
        raise ValueError("no")

    pipeline = await app.pipeline(
        step("good", "hang", stage="both"),
        step("bad", "broken", stage="both", execution=retries(0, on_failure="fail_run")),
    )
    run = await app.start(pipeline)
    await app.wait_for_run(run, "failed")
    await app.wait_until_idle()
    assert stopped.is_set()
    assert app.statuses(run) == {"good": "cancelled", "bad": "failed"}
    assert app.workspaces(pipeline) == set()
    assert len(list((app.root(pipeline) / ".errored").iterdir())) == 2
