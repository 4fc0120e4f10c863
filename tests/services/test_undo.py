"""Undo restores everything while nothing newer has completed; the folders are as before."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from cairn.core.errors import AlreadyApplied, CommandRefused
from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from cairn.services.rollbacks.service import RollbackSpec
from cairn.store.errors import NotFound
from tests.services.house import House, form, retries, step

pytestmark = pytest.mark.asyncio(loop_scope="package")


def standing(house: House, pipeline: str) -> dict[str, Any]:
    """The runs as they lie on disk; in `run_info.json` what the undoing itself leaves is passed over."""
    found: dict[str, Any] = {}
    for path, content in house.disk(pipeline).items():
        if path.startswith("runs/"):
            is_info = path.endswith("run_info.json") and isinstance(content, bytes)
            found[path] = json.loads(content)["artifacts"] if is_info else content
    return found


async def test_what_was_archived_comes_back_with_everything_that_lay_there(house: House) -> None:
    pipeline = await house.pipeline(step("goals"), form("more"), form("end"))
    run = await house.start(pipeline)
    await house.fill(run, "more", more="yes")
    await house.until_execution(run, "end", "in_progress")
    await house.until_quiet()
    note = house.root(pipeline) / "runs/v1/checkpoint_1_more/notes.txt"
    note.write_text("mine")
    before, artifacts = standing(house, pipeline), house.artifacts(run)
    rollback = await house.roll_back(run, 0)
    assert house.rollback(rollback).can_undo
    assert not note.exists()
    await house.cairn.rollbacks.undo(rollback, by=ADMIN)
    await house.until_quiet()
    assert (standing(house, pipeline), house.artifacts(run)) == (before, artifacts)
    assert note.read_text() == "mine"
    # What the rollback stopped comes back cancelled: its checkpoint has a new execution.
    assert house.statuses(run) == {"goals": "completed", "more": "completed", "end": "in_progress"}
    assert house.rollback(rollback).undone_at is not None
    assert house.names(pipeline, ".archived") == [".archived/rollback_UUID_TIME/rollback_metadata.json"]
    note.unlink()  # the drift scan after the test is about Cairn's own files
    with pytest.raises(AlreadyApplied):
        await house.cairn.rollbacks.undo(rollback, by=ADMIN)
    await house.fill(run, "end", end="yes")
    await house.until_run(run, "completed")


async def test_newer_open_ones_are_cancelled_and_newer_completed_ones_stand_in_the_way(house: House) -> None:
    pipeline = await house.pipeline(step("goals"), form("more"), form("end"))
    run = await house.start(pipeline)
    await house.fill(run, "more", more="yes")
    await house.until_execution(run, "end", "in_progress")
    rollback = await house.roll_back(run, 0)
    redo = house.execution(run, "more").execution_id
    await house.cairn.rollbacks.undo(rollback, by=ADMIN)
    assert {e.execution_id: str(e.status) for e in house.executions(run)}[redo] == "cancelled"
    second = await house.roll_back(run, 0)
    await house.fill(run, "more", more="else")
    await house.until_execution(run, "end", "in_progress")
    assert not house.rollback(second).can_undo
    with pytest.raises(CommandRefused):
        await house.cairn.rollbacks.undo(second, by=ADMIN)
    await house.cairn.runs.cancel(run, by=ADMIN)


@pytest.mark.parametrize("status", ["completed", "cancelled", "failed", "paused"])
async def test_the_earlier_status_returns(house: House, status: str) -> None:
    """A pause as `pause_requested`, which takes effect at once when nothing is working."""

    @house.does("fails")
    async def fails(ctx: Ctx) -> None:
        raise ValueError("no")

    pipeline = await house.pipeline(
        step("goals"),
        form("more"),
        step("end", "fails" if status == "failed" else "number", execution=retries(0, on_failure="fail_run")),
    )
    run = await house.start(pipeline)
    await house.until_execution(run, "more", "in_progress")
    if status == "cancelled":
        await house.cairn.runs.cancel(run, by=ADMIN)
    elif status == "paused":
        await house.cairn.runs.pause(run, by=ADMIN)
    else:
        await house.fill(run, "more", more="yes")
    ended = (await house.until_run(run, status)).completed_at
    await house.until_quiet()
    before = standing(house, pipeline)
    rollback = await house.roll_back(run, 0)
    await house.cairn.rollbacks.undo(rollback, by=ADMIN)
    await house.until_quiet()
    assert (str(house.run(run).status), house.run(run).completed_at) == (status, ended)
    assert standing(house, pipeline) == before


async def test_an_automatic_rollback_can_be_undone_and_goes_with_one_before_it(house: House) -> None:
    """Later automatic rollbacks are undone together with the requested one."""
    outcomes = iter([False, True, True, True])

    @house.does("then_fails")
    async def then_fails(ctx: Ctx) -> dict[str, int]:
        if next(outcomes):
            raise ValueError("no")
        return {}

    pipeline = await house.pipeline(
        step("goals"), step("end", "then_fails", execution=retries(0, on_failure="rollback_checkpoint")), form("last")
    )
    run = await house.start(pipeline)
    await house.until_execution(run, "last", "in_progress")
    await house.until_quiet()
    before = standing(house, pipeline)
    named = await house.roll_back(run, 0)
    await house.until_execution(run, "end", "pending")
    await house.until_quiet()
    automatic = next(one for one in house.run(run).rollback_history if one != named)
    assert house.rollback(automatic).triggered_by == "checkpoint_failure"
    assert house.rollback(named).can_undo
    await house.cairn.rollbacks.undo(named, by=ADMIN)
    await house.until_quiet()
    assert [house.rollback(one).undone_at is not None for one in (named, automatic)] == [True, True]
    assert standing(house, pipeline) == before
    assert house.statuses(run) == {"goals": "completed", "end": "completed", "last": "in_progress"}
    await house.cairn.runs.cancel(run, by=ADMIN)


async def test_rollbacks_are_undone_from_the_last_one(house: House) -> None:
    pipeline = await house.pipeline(step("goals"), step("design"), form("more"))
    run = await house.start(pipeline)
    await house.until_execution(run, "more", "in_progress")
    await house.until_quiet()
    before = standing(house, pipeline)
    await house.cairn.runs.pause(run, by=ADMIN)
    first = await house.roll_back(run, 1)
    second = await house.roll_back(run, 1)
    with pytest.raises(CommandRefused):
        await house.cairn.rollbacks.undo(first, by=ADMIN)
    assert (house.rollback(first).can_undo, house.rollback(second).can_undo) == (False, True)
    for rollback in (second, first):
        await house.cairn.rollbacks.undo(rollback, by=ADMIN)
    await house.until_quiet()
    assert standing(house, pipeline) == before
    await house.cairn.runs.cancel(run, by=ADMIN)


async def test_a_later_run_that_has_completed_anything_stands_in_the_way(house: House) -> None:
    pipeline = await house.pipeline(step("goals"), form("more"))
    runs = [await house.start(pipeline) for _ in range(3)]
    for run in runs:
        await house.fill(run, "more", more="yes")
        await house.until_run(run, "completed")
    request = RollbackSpec("run_level", runs[2], target_run_id=runs[0], target_checkpoint_position=0)
    rollback, _ = await house.cairn.rollbacks.roll_back(request, by=ADMIN)
    newer = await house.start(pipeline)
    await house.until(lambda: house.statuses(newer)["goals"] == "completed")
    with pytest.raises(CommandRefused, match="v4"):
        await house.cairn.rollbacks.undo(rollback, by=ADMIN)
    assert not house.rollback(rollback).can_undo
    for run in (runs[0], newer):
        await house.cairn.runs.cancel(run, by=ADMIN)


async def test_whole_runs_come_back_and_newer_open_ones_are_cancelled(house: House) -> None:
    pipeline = await house.pipeline(form("goals"), form("more"))
    runs = [await house.start(pipeline) for _ in range(3)]
    for run in runs:
        await house.fill(run, "goals", goals="grow")
        await house.fill(run, "more", more="yes")
        await house.until_run(run, "completed")
    await house.until_quiet()
    before = standing(house, pipeline)
    request = RollbackSpec("run_level", runs[2], target_run_id=runs[0], target_checkpoint_position=0)
    rollback, _ = await house.cairn.rollbacks.roll_back(request, by=ADMIN)
    newer = await house.start(pipeline)
    await house.cairn.rollbacks.undo(rollback, by=ADMIN)
    await house.until_quiet()
    assert [str(house.run(run).status) for run in runs] == ["completed"] * 3
    assert house.run(newer).status == "cancelled"
    now = standing(house, pipeline)
    assert now.pop("runs/v4/run_info.json") == []
    assert now.pop("runs/latest") == "-> v4"
    assert before.pop("runs/latest") == "-> v3"
    assert now == before
    assert all(house.run(run).archived_by is None for run in runs)


async def test_what_was_stopped_in_a_later_run_comes_back_cancelled(house: House) -> None:
    stopped = asyncio.Event()

    @house.does("hang")
    async def hang(ctx: Ctx) -> dict[str, int]:
        if not ctx.inputs["input"]:
            return {}
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return {}

    pipeline = await house.pipeline(step("goals", "hang"))
    first = await house.done(pipeline, input={})
    second = await house.start(pipeline, input={"hang": 1})
    await house.until(lambda: bool(house.cairn.lanes._running))  # pyright: ignore[reportPrivateUsage]
    request = RollbackSpec("run_level", second, target_run_id=first, target_checkpoint_position=0)
    rollback, _ = await house.cairn.rollbacks.roll_back(request, by=ADMIN)
    assert stopped.is_set()
    await house.cairn.rollbacks.undo(rollback, by=ADMIN)
    again = house.run(second)
    assert (again.archived_by, house.run(first).status, again.status) == (None, "completed", "in_progress")
    assert [str(e.status) for e in house.executions(second)] == ["cancelled", "in_progress"]
    await house.cairn.runs.cancel(second, by=ADMIN)


async def test_an_undo_of_what_nobody_made(house: House) -> None:
    with pytest.raises(NotFound, match="nothing"):
        await house.cairn.rollbacks.undo("nothing", by=ADMIN)


async def test_what_has_come_to_stand_in_its_place_on_disk_is_kept_aside(house: House) -> None:
    """Nothing of a user's is lost."""
    pipeline = await house.pipeline(step("goals"), form("more"), form("end"))
    run = await house.start(pipeline)
    await house.fill(run, "more", more="yes")
    await house.until_execution(run, "end", "in_progress")
    await house.until_quiet()
    rollback = await house.roll_back(run, 0)
    folder = house.root(pipeline) / "runs/v1/checkpoint_1_more/outputs"
    folder.mkdir(parents=True)
    name = house.rollback(rollback).rolled_back_items.archived_artifacts[0].original_path.rpartition("/")[2]
    (folder / name).write_text("mine")
    await house.cairn.rollbacks.undo(rollback, by=ADMIN)
    await house.until_quiet()
    assert json.loads((folder / name).read_text()) == {"more": "yes"}
    kept = list(house.root(pipeline).glob(f".archived/drift_*/**/{name}"))
    assert [path.read_text() for path in kept] == ["mine"]
    await house.cairn.runs.cancel(run, by=ADMIN)
