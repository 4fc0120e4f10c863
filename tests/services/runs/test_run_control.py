"""Pause, resume, cancel, restart, test mode."""

from __future__ import annotations

import asyncio
import json

import pytest

from cairn.core.errors import AlreadyApplied, CommandRefused
from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from cairn.services.dispatch.runner_slots import RunnerSlots
from tests.isolation import PATIENCE
from tests.services.app import App, form, step

pytestmark = pytest.mark.asyncio(loop_scope="package")


class Gate:
    """A function that waits until the gate is opened."""

    def __init__(self, app: App, name: str = "gate") -> None:
        self.open = asyncio.Event()
        self.started = asyncio.Event()
        self.stopped = asyncio.Event()
        app.function(name)(self.wait)

    async def wait(self, ctx: Ctx) -> dict[str, int]:
        self.started.set()
        try:
            await asyncio.wait_for(self.open.wait(), PATIENCE)
        except asyncio.CancelledError:
            self.stopped.set()
            raise
        return {"passed": 1}


async def test_a_pause_takes_effect_after_the_current_execution(app: App) -> None:
    """No execution starts while pausing."""
    gate = Gate(app)
    pipeline = await app.pipeline(step("slow", "gate"), step("after"))
    run = await app.start(pipeline)
    await gate.started.wait()
    await app.cairn.runs.pause(run, actor=ADMIN)
    assert (app.run(run).status, app.run(run).pause_requested) == ("in_progress", True)
    with pytest.raises(CommandRefused):
        await app.cairn.runs.pause(run, actor=ADMIN)
    gate.open.set()
    paused = await app.wait_for_run(run, "paused")
    assert (app.statuses(run), paused.paused_at is not None) == ({"slow": "completed", "after": "upcoming"}, True)
    await app.cairn.runs.resume(run, actor=ADMIN)
    over = await app.wait_for_run(run, "completed")
    assert over.last_resumed_at is not None


async def test_executions_waiting_for_people_do_not_delay_a_pause(app: App) -> None:
    """Decisions and forms are stored, but no execution starts."""
    pipeline = await app.pipeline(
        form("goals", stage="both"), step("draft", approve="complete", stage="both"), step("z")
    )
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "draft", "waiting_approval_to_complete")
    await app.cairn.runs.pause(run, actor=ADMIN)
    assert app.run(run).status == "paused"
    await app.decide(run, "draft", "approve")
    await app.submit_form(run, "goals", goals="grow")
    await app.wait_until_idle()
    assert app.run(run).status == "paused"
    assert app.statuses(run) == {"goals": "in_progress", "draft": "completed", "z": "upcoming"}
    assert app.names(pipeline, "runs/v1/c") == ["runs/v1/checkpoint_1_draft/outputs/draft_ID_v1.json"]
    await app.cairn.runs.resume(run, actor=ADMIN)
    await app.wait_for_run(run, "completed")
    assert app.output(run, "goals") == {"goals": "grow"}


async def test_completion_beats_a_pause_request_and_resume_cancels_it(app: App) -> None:
    gate = Gate(app)
    pipeline = await app.pipeline(step("last", "gate"))
    run = await app.start(pipeline)
    await gate.started.wait()
    await app.cairn.runs.pause(run, actor=ADMIN)
    await app.cairn.runs.resume(run, actor=ADMIN)
    assert app.run(run).pause_requested is False
    await app.cairn.runs.pause(run, actor=ADMIN)
    gate.open.set()
    await app.wait_for_run(run, "completed")


async def test_cancelling_a_run_stops_all_open_executions(app: App) -> None:
    gate = Gate(app)
    pipeline = await app.pipeline(step("slow", "gate", stage="both"), form("goals", stage="both"), step("after"))
    run = await app.start(pipeline)
    await gate.started.wait()
    await app.cairn.runs.cancel(run, actor=ADMIN)
    assert gate.stopped.is_set()  # by the time of the response
    assert (app.run(run).status, app.statuses(run)) == (
        "cancelled",
        {"slow": "cancelled", "goals": "cancelled", "after": "upcoming"},
    )
    assert (app.run(run).pending_approvals, app.workspaces(pipeline)) == ([], set())
    assert len(list((app.root(pipeline) / ".errored").iterdir())) == 2
    assert json.loads(app.folder_contents(pipeline)["runs/v1/run_info.json"])["status"] == "cancelled"
    with pytest.raises(CommandRefused, match="cancelled") as raised:
        await app.cairn.runs.resume(run, actor=ADMIN)
    assert raised.value.suggestions == ("roll back",)


async def test_a_cancelled_run_is_continued_by_a_rollback(app: App) -> None:
    """Its checkpoint gets a new execution."""
    pipeline = await app.pipeline(step("first"), form("goals"))
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "goals", "in_progress")
    await app.cairn.runs.cancel(run, actor=ADMIN)
    await app.roll_back(run, 0)
    assert (app.run(run).status, app.statuses(run)) == (
        "in_progress",
        {"first": "completed", "goals": "in_progress"},
    )
    await app.submit_form(run, "goals", goals="grow")
    await app.wait_for_run(run, "completed")


async def test_a_cancelled_execution_waits_for_a_manual_start(app: App) -> None:
    gate = Gate(app)
    pipeline = await app.pipeline(step("slow", "gate"), step("after"))
    run = await app.start(pipeline)
    await gate.started.wait()
    first = app.execution(run, "slow").execution_id
    await app.cairn.executions.cancel(first, actor=ADMIN)
    assert gate.stopped.is_set()
    assert (app.run(run).status, app.statuses(run)) == ("in_progress", {"slow": "pending", "after": "upcoming"})
    redo = app.execution(run, "slow").execution_id
    assert redo != first
    with pytest.raises(CommandRefused):
        await app.cairn.executions.cancel(redo, actor=ADMIN)
    gate.open.set()
    await app.cairn.executions.start(redo, actor=ADMIN)
    await app.wait_for_run(run, "completed")


async def test_an_execution_cancelled_while_waiting_for_a_slot_never_starts(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of slots is limited."""
    monkeypatch.setattr(app.cairn.lanes, "_slots", RunnerSlots(1, 1, 1))
    gate = Gate(app)
    calls: list[int] = []

    @app.function("note")
    async def note(ctx: Ctx) -> dict[str, int]:
        calls.append(1)
        return {}

    pipeline = await app.pipeline(step("slow", "gate"))
    holds = await app.start(pipeline)
    await gate.started.wait()
    waits = await app.start(await app.pipeline(step("quick", "note")))
    assert app.statuses(waits) == {"quick": "in_progress"}
    await app.cairn.runs.cancel(waits, actor=ADMIN)
    gate.open.set()
    await app.wait_for_run(holds, "completed")
    await app.wait_until_idle()
    assert (calls, app.run(waits).status) == ([], "cancelled")


async def test_a_restart_starts_the_next_pass_and_keeps_the_earlier_one(app: App) -> None:
    """`runs/v1/` shows the current pass."""
    pipeline = await app.pipeline(step("goals"), form("more"))
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "more", "in_progress")
    await app.cairn.runs.restart(run, pass_number=1, actor=ADMIN)
    with pytest.raises(AlreadyApplied):
        await app.cairn.runs.restart(run, pass_number=1, actor=ADMIN)
    await app.wait_for_execution(run, "more", "in_progress")
    assert (app.run(run).pass_number, app.run(run).restart_count) == (2, 1)
    await app.submit_form(run, "more", more="yes")
    await app.wait_for_run(run, "completed")
    await app.wait_until_idle()
    assert app.names(pipeline, "runs/v1/") == [
        "runs/v1/checkpoint_0_goals/outputs/goals_ID_v1.json",
        "runs/v1/checkpoint_1_more/outputs/more_ID_v1.json",
        "runs/v1/passes/1/checkpoint_0_goals/outputs/goals_ID_v1.json",
        "runs/v1/run_info.json",
    ]


async def test_a_test_run_has_no_version_and_is_never_a_previous_run(app: App) -> None:
    """It is stored in `runs/test_…/` and never linked as `latest`."""
    pipeline = await app.pipeline(step("goals"))
    test = await app.run_to_completion(pipeline, test=True)
    await app.wait_until_idle()
    assert (app.run(test).run_version, app.run(test).test) == (None, True)
    assert app.names(pipeline, "runs/") == [
        "runs/test_ID/checkpoint_0_goals/outputs/goals_ID_test_ID.json",
        "runs/test_ID/run_info.json",
    ]
    assert "runs/latest" not in app.folder_contents(pipeline)
    run = app.run(await app.run_to_completion(pipeline))
    assert (run.run_version, run.previous_run_id) == (1, None)
    again = await app.cairn.runs.retry(test, actor=ADMIN)
    assert app.run(again.run_id).test is True
