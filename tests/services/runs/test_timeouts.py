"""Timeouts stop executions."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from cairn.core.states import ExecutionMode
from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from cairn.services.dispatch.runner_slots import RunnerSlots
from tests.isolation import PATIENCE, limit
from tests.mentions import mentions
from tests.services.app import App, form, retries, step, timeout

pytestmark = pytest.mark.asyncio(loop_scope="package")


class HangingFunction:
    """A function that hangs until it is stopped, and counts that."""

    def __init__(self, app: App, name: str = "hang") -> None:
        self.started, self.stopped, self.lasted = 0, 0, 0.0
        app.function(name)(self.hang)

    async def hang(self, ctx: Ctx) -> None:
        self.started += 1
        since = time.monotonic()
        try:
            await asyncio.sleep(60)
        finally:
            self.stopped += 1
            self.lasted = time.monotonic() - since


@pytest.mark.parametrize(
    ("on_timeout", "status", "statuses"),
    [
        ("pause_pipeline", "paused", {"first": "completed", "slow": "failed"}),
        ("fail_run", "failed", {"first": "completed", "slow": "failed"}),
        ("rollback_checkpoint", "in_progress", {"first": "completed", "slow": "pending"}),
    ],
)
async def test_each_on_timeout_policy(app: App, on_timeout: str, status: str, statuses: dict[str, str]) -> None:
    """The function is cancelled and not retried."""
    hanging = HangingFunction(app)
    execution = {**timeout(0.3, on_timeout), **retries(3)}
    pipeline = await app.pipeline(step("first"), step("slow", "hang", execution=execution))
    run = await app.start(pipeline)
    await app.wait_until(lambda: app.statuses(run) == statuses)
    await app.wait_until_idle()
    assert (hanging.started, hanging.stopped, app.run(run).status) == (1, 1, status)
    failed = next(e for e in app.executions(run, archived=True) if e.checkpoint_key == "slow")
    assert failed.error_details.last_error is not None
    assert (failed.error_details.last_error.error_type, failed.attempt_number) == ("timeout", 1)
    assert failed.error_details.last_error.error_message == mentions("0.3")
    assert 0.3 <= failed.active_seconds < 5.0
    assert len(list((app.root(pipeline) / ".errored").iterdir())) == 1
    assert (failed.archived_by is not None) == (on_timeout == "rollback_checkpoint")


async def test_time_spent_waiting_for_a_slot_does_not_count(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    slots = RunnerSlots(1, 1, 1)
    monkeypatch.setattr(app.cairn.lanes, "_slots", slots)
    hanging = HangingFunction(app)
    slot = slots.for_mode(ExecutionMode.FUNCTION)
    await slot.acquire()
    pipeline = await app.pipeline(
        step("quick", stage="all", execution=timeout(0.3, "fail_run")),
        step("slow", "hang", stage="all", execution=timeout(0.3, "pause_pipeline")),
    )
    run = await app.start(pipeline)
    await asyncio.sleep(1.5)  # waiting for a slot for longer than the timeout
    assert app.statuses(run) == {"quick": "in_progress", "slow": "in_progress"}
    slot.release()
    await app.wait_until(lambda: app.statuses(run) == {"quick": "completed", "slow": "failed"})
    await app.wait_until_idle()
    assert (hanging.started, hanging.stopped) == (1, 1)
    assert 0.2 < hanging.lasted < 1.2  # the timeout includes the dispatch


async def test_a_function_in_a_thread_cannot_be_killed_and_its_result_is_ignored(app: App) -> None:
    let_go = threading.Event()
    after: list[str] = []

    @app.function("block")
    def block(ctx: Ctx) -> dict[str, int]:
        let_go.wait(10)
        try:
            ctx.log("still here")
        except RuntimeError as error:
            after.append(str(error))
        return {"late": 1}

    pipeline = await app.pipeline(step("slow", "block", execution=timeout(1.5, "fail_run")))
    with app.cairn.event_bus.subscribe() as news:
        run = await app.start(pipeline)
        async with asyncio.timeout(PATIENCE):
            async for change in news:  # published after the execution was stopped
                if (change.run_id, change.event_type) == (run, "run_failed"):
                    break
    let_go.set()
    await app.wait_until(lambda: bool(after))
    assert after == [mentions()]
    assert app.artifacts(run) == []
    assert app.event_types(run)[-1] == "run_failed"


async def test_a_timeout_counts_active_time_but_not_waiting_for_people(app: App) -> None:
    """The timeout applies to all dispatches of an attempt together."""

    @app.function("nap")
    async def nap(ctx: Ctx) -> dict[str, int]:
        await asyncio.sleep(0.05)
        return {"revision": ctx.revision}

    pipeline = await app.pipeline(step("slow", "nap", approve="complete", execution=timeout(1.5)))
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "slow", "waiting_approval_to_complete")
    await asyncio.sleep(1.6)
    await app.decide(run, "slow", "revise", "again")
    await app.wait_until(lambda: app.execution(run, "slow").revision_iteration == 1)
    await app.wait_for_execution(run, "slow", "waiting_approval_to_complete")
    await asyncio.sleep(1.6)
    await app.decide(run, "slow", "approve")
    await app.wait_for_run(run, "completed")


async def test_a_form_has_no_timeout_while_it_waits(app: App) -> None:
    pipeline = await app.pipeline(form("goals", execution=timeout(1.2)))
    run = await app.start(pipeline)
    await asyncio.sleep(1.3)
    assert app.statuses(run) == {"goals": "in_progress"}
    await app.submit_form(run, "goals", goals="grow")
    await app.wait_for_run(run, "completed")


async def test_a_run_timeout_fails_running_executions_and_cancels_the_others(app: App) -> None:
    hanging = HangingFunction(app)
    pipeline = await app.pipeline(
        step("slow", "hang", stage="both"),
        form("asks", stage="both"),
        config={"timeout_config": {"enabled": True, "timeout_minutes": 0.4 / 60}},
    )
    run = await app.start(pipeline)
    await app.wait_for_run(run, "failed")
    await app.wait_until_idle()
    assert (hanging.stopped, app.statuses(run)) == (1, {"slow": "failed", "asks": "cancelled"})
    failed = app.execution(run, "slow").error_details.last_error
    assert failed is not None
    assert failed.error_message == mentions("0.4")
    assert app.workspaces(pipeline) == set()


async def test_an_outdated_timer_changes_nothing(app: App) -> None:
    """The durable timer fires after the in-process one, when the execution has completed."""
    pipeline = await app.pipeline(step("quick", execution=timeout(0.5)), form("goals"))
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "goals", "in_progress")
    event_types = app.event_types(run)
    await asyncio.sleep(1.0)
    assert app.event_types(run) == event_types
    await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_a_function_that_ignores_cancellation_does_not_block_the_run(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run continues, and the result of the function is ignored."""
    monkeypatch.setattr("cairn.services.dispatch.lanes.STOP_SECONDS", 0.2)
    let_go = asyncio.Event()

    @app.function("stubborn")
    async def stubborn(ctx: Ctx) -> dict[str, int]:
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue
        return {"late": 1}

    pipeline = await app.pipeline(step("slow", "stubborn", execution=timeout(0.2, "fail_run")))
    run = await app.start(pipeline)
    start = time.monotonic()
    await app.wait_for_run(run, "failed")
    assert time.monotonic() - start < limit(10.0)
    let_go.set()
    await app.wait_until_idle()
    assert app.artifacts(run) == []
