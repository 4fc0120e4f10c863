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
from tests.services.house import House, form, step

pytestmark = pytest.mark.asyncio(loop_scope="package")


class Gate:
    """A function that waits until it is let go."""

    def __init__(self, house: House, name: str = "gate") -> None:
        self.open = asyncio.Event()
        self.begun = asyncio.Event()
        self.stopped = asyncio.Event()
        house.does(name)(self.wait)

    async def wait(self, ctx: Ctx) -> dict[str, int]:
        self.begun.set()
        try:
            await asyncio.wait_for(self.open.wait(), PATIENCE)
        except asyncio.CancelledError:
            self.stopped.set()
            raise
        return {"passed": 1}


async def test_a_pause_holds_when_the_current_one_is_done(house: House) -> None:
    """Nothing new starts while pausing."""
    gate = Gate(house)
    pipeline = await house.pipeline(step("slow", "gate"), step("after"))
    run = await house.start(pipeline)
    await gate.begun.wait()
    await house.cairn.runs.pause(run, by=ADMIN)
    assert (house.run(run).status, house.run(run).pause_requested) == ("in_progress", True)
    with pytest.raises(CommandRefused):
        await house.cairn.runs.pause(run, by=ADMIN)
    gate.open.set()
    paused = await house.until_run(run, "paused")
    assert (house.statuses(run), paused.paused_at is not None) == ({"slow": "completed", "after": "upcoming"}, True)
    await house.cairn.runs.resume(run, by=ADMIN)
    over = await house.until_run(run, "completed")
    assert over.last_resumed_at is not None


async def test_what_waits_for_people_does_not_hold_a_pause_up(house: House) -> None:
    """Decisions and forms are stored, nothing starts."""
    pipeline = await house.pipeline(
        form("goals", stage="both"), step("draft", approve="complete", stage="both"), step("z")
    )
    run = await house.start(pipeline)
    await house.until_execution(run, "draft", "waiting_approval_to_complete")
    await house.cairn.runs.pause(run, by=ADMIN)
    assert house.run(run).status == "paused"
    await house.decide(run, "draft", "approve")
    await house.fill(run, "goals", goals="grow")
    await house.until_quiet()
    assert house.run(run).status == "paused"
    assert house.statuses(run) == {"goals": "in_progress", "draft": "completed", "z": "upcoming"}
    assert house.names(pipeline, "runs/v1/c") == ["runs/v1/checkpoint_1_draft/outputs/draft_ID_v1.json"]
    await house.cairn.runs.resume(run, by=ADMIN)
    await house.until_run(run, "completed")
    assert house.output(run, "goals") == {"goals": "grow"}


async def test_completing_comes_before_a_pause_and_resume_withdraws_it(house: House) -> None:
    gate = Gate(house)
    pipeline = await house.pipeline(step("last", "gate"))
    run = await house.start(pipeline)
    await gate.begun.wait()
    await house.cairn.runs.pause(run, by=ADMIN)
    await house.cairn.runs.resume(run, by=ADMIN)
    assert house.run(run).pause_requested is False
    await house.cairn.runs.pause(run, by=ADMIN)
    gate.open.set()
    await house.until_run(run, "completed")


async def test_cancelling_a_run_stops_everything_that_is_open(house: House) -> None:
    gate = Gate(house)
    pipeline = await house.pipeline(step("slow", "gate", stage="both"), form("goals", stage="both"), step("after"))
    run = await house.start(pipeline)
    await gate.begun.wait()
    await house.cairn.runs.cancel(run, by=ADMIN)
    assert gate.stopped.is_set()  # when the request is answered
    assert (house.run(run).status, house.statuses(run)) == (
        "cancelled",
        {"slow": "cancelled", "goals": "cancelled", "after": "upcoming"},
    )
    assert (house.run(run).waiting_approvals, house.workspaces(pipeline)) == ([], set())
    assert len(list((house.root(pipeline) / ".errored").iterdir())) == 2
    assert json.loads(house.disk(pipeline)["runs/v1/run_info.json"])["status"] == "cancelled"
    with pytest.raises(CommandRefused, match="cancelled") as refused:
        await house.cairn.runs.resume(run, by=ADMIN)
    assert refused.value.possible == ("roll back",)


async def test_a_cancelled_run_goes_on_by_a_rollback(house: House) -> None:
    """Its checkpoint gets a new execution."""
    pipeline = await house.pipeline(step("first"), form("goals"))
    run = await house.start(pipeline)
    await house.until_execution(run, "goals", "in_progress")
    await house.cairn.runs.cancel(run, by=ADMIN)
    await house.roll_back(run, 0)
    assert (house.run(run).status, house.statuses(run)) == (
        "in_progress",
        {"first": "completed", "goals": "in_progress"},
    )
    await house.fill(run, "goals", goals="grow")
    await house.until_run(run, "completed")


async def test_one_execution_is_cancelled_and_waits_to_be_started_by_hand(house: House) -> None:
    gate = Gate(house)
    pipeline = await house.pipeline(step("slow", "gate"), step("after"))
    run = await house.start(pipeline)
    await gate.begun.wait()
    first = house.execution(run, "slow").execution_id
    await house.cairn.executions.cancel(first, by=ADMIN)
    assert gate.stopped.is_set()
    assert (house.run(run).status, house.statuses(run)) == ("in_progress", {"slow": "pending", "after": "upcoming"})
    redo = house.execution(run, "slow").execution_id
    assert redo != first
    with pytest.raises(CommandRefused):
        await house.cairn.executions.cancel(redo, by=ADMIN)
    gate.open.set()
    await house.cairn.executions.start(redo, by=ADMIN)
    await house.until_run(run, "completed")


async def test_one_that_waits_for_a_free_place_is_not_begun_once_it_is_stopped(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Places are limited; who waits for one can be cancelled as well."""
    monkeypatch.setattr(house.cairn.lanes, "_places", RunnerSlots(1, 1, 1))
    gate = Gate(house)
    begun: list[int] = []

    @house.does("note")
    async def note(ctx: Ctx) -> dict[str, int]:
        begun.append(1)
        return {}

    pipeline = await house.pipeline(step("slow", "gate"))
    holds = await house.start(pipeline)
    await gate.begun.wait()
    waits = await house.start(await house.pipeline(step("quick", "note")))
    assert house.statuses(waits) == {"quick": "in_progress"}
    await house.cairn.runs.cancel(waits, by=ADMIN)
    gate.open.set()
    await house.until_run(holds, "completed")
    await house.until_quiet()
    assert (begun, house.run(waits).status) == ([], "cancelled")


async def test_a_restart_begins_the_next_pass_and_keeps_the_earlier_one(house: House) -> None:
    """`runs/v1/` shows the current pass."""
    pipeline = await house.pipeline(step("goals"), form("more"))
    run = await house.start(pipeline)
    await house.until_execution(run, "more", "in_progress")
    await house.cairn.runs.restart(run, pass_number=1, by=ADMIN)
    with pytest.raises(AlreadyApplied):
        await house.cairn.runs.restart(run, pass_number=1, by=ADMIN)
    await house.until_execution(run, "more", "in_progress")
    assert (house.run(run).pass_number, house.run(run).restart_count) == (2, 1)
    await house.fill(run, "more", more="yes")
    await house.until_run(run, "completed")
    await house.until_quiet()
    assert house.names(pipeline, "runs/v1/") == [
        "runs/v1/checkpoint_0_goals/outputs/goals_ID_v1.json",
        "runs/v1/checkpoint_1_more/outputs/more_ID_v1.json",
        "runs/v1/passes/1/checkpoint_0_goals/outputs/goals_ID_v1.json",
        "runs/v1/run_info.json",
    ]


async def test_a_test_run_takes_no_number_and_is_nobodys_previous_one(house: House) -> None:
    """`runs/test_…/`, never `latest`."""
    pipeline = await house.pipeline(step("goals"))
    test = await house.done(pipeline, test=True)
    await house.until_quiet()
    assert (house.run(test).run_version, house.run(test).test) == (None, True)
    assert house.names(pipeline, "runs/") == [
        "runs/test_ID/checkpoint_0_goals/outputs/goals_ID_test_ID.json",
        "runs/test_ID/run_info.json",
    ]
    assert "runs/latest" not in house.disk(pipeline)
    run = house.run(await house.done(pipeline))
    assert (run.run_version, run.previous_run_id) == (1, None)
    again = await house.cairn.runs.retry(test, by=ADMIN)
    assert house.run(again.run_id).test is True
