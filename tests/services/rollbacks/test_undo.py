"""Undo restores everything, including folders, unless newer work has completed."""

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
from tests.services.app import App, form, retries, step

pytestmark = pytest.mark.asyncio(loop_scope="package")


def run_files(app: App, pipeline: str) -> dict[str, Any]:
    """Return the files of all runs, and only the artifacts of each `run_info.json`."""
    found: dict[str, Any] = {}
    for path, content in app.folder_contents(pipeline).items():
        if path.startswith("runs/"):
            is_info = path.endswith("run_info.json") and isinstance(content, bytes)
            found[path] = json.loads(content)["artifacts"] if is_info else content
    return found


async def test_an_undo_restores_archived_executions_with_all_their_files(app: App) -> None:
    pipeline = await app.pipeline(step("goals"), form("more"), form("end"))
    run = await app.start(pipeline)
    await app.submit_form(run, "more", more="yes")
    await app.wait_for_execution(run, "end", "in_progress")
    await app.wait_until_idle()
    note = app.root(pipeline) / "runs/v1/checkpoint_1_more/notes.txt"
    note.write_text("mine")
    before, artifacts = run_files(app, pipeline), app.artifacts(run)
    rollback = await app.roll_back(run, 0)
    assert app.rollback(rollback).can_undo
    assert not note.exists()
    await app.cairn.rollbacks.undo(rollback, actor=ADMIN)
    await app.wait_until_idle()
    assert (run_files(app, pipeline), app.artifacts(run)) == (before, artifacts)
    assert note.read_text() == "mine"
    # The stopped execution is restored as cancelled, and its checkpoint has a new one.
    assert app.statuses(run) == {"goals": "completed", "more": "completed", "end": "in_progress"}
    assert app.rollback(rollback).undone_at is not None
    assert app.names(pipeline, ".archived") == [".archived/rollback_UUID_TIME/rollback_metadata.json"]
    note.unlink()  # otherwise the drift check after the test would find it
    with pytest.raises(AlreadyApplied):
        await app.cairn.rollbacks.undo(rollback, actor=ADMIN)
    await app.submit_form(run, "end", end="yes")
    await app.wait_for_run(run, "completed")


async def test_an_undo_cancels_newer_open_executions_and_is_refused_after_newer_completed_ones(app: App) -> None:
    pipeline = await app.pipeline(step("goals"), form("more"), form("end"))
    run = await app.start(pipeline)
    await app.submit_form(run, "more", more="yes")
    await app.wait_for_execution(run, "end", "in_progress")
    rollback = await app.roll_back(run, 0)
    redo = app.execution(run, "more").execution_id
    await app.cairn.rollbacks.undo(rollback, actor=ADMIN)
    assert {e.execution_id: str(e.status) for e in app.executions(run)}[redo] == "cancelled"
    second = await app.roll_back(run, 0)
    await app.submit_form(run, "more", more="else")
    await app.wait_for_execution(run, "end", "in_progress")
    assert not app.rollback(second).can_undo
    with pytest.raises(CommandRefused):
        await app.cairn.rollbacks.undo(second, actor=ADMIN)
    await app.cairn.runs.cancel(run, actor=ADMIN)


@pytest.mark.parametrize("status", ["completed", "cancelled", "failed", "paused"])
async def test_an_undo_restores_the_earlier_status(app: App, status: str) -> None:
    """A pause is restored as `pause_requested`, which takes effect at once if nothing is running."""

    @app.function("fails")
    async def fails(ctx: Ctx) -> None:
        raise ValueError("no")

    pipeline = await app.pipeline(
        step("goals"),
        form("more"),
        step("end", "fails" if status == "failed" else "number", execution=retries(0, on_failure="fail_run")),
    )
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "more", "in_progress")
    if status == "cancelled":
        await app.cairn.runs.cancel(run, actor=ADMIN)
    elif status == "paused":
        await app.cairn.runs.pause(run, actor=ADMIN)
    else:
        await app.submit_form(run, "more", more="yes")
    ended = (await app.wait_for_run(run, status)).completed_at
    await app.wait_until_idle()
    before = run_files(app, pipeline)
    rollback = await app.roll_back(run, 0)
    await app.cairn.rollbacks.undo(rollback, actor=ADMIN)
    await app.wait_until_idle()
    assert (str(app.run(run).status), app.run(run).completed_at) == (status, ended)
    assert run_files(app, pipeline) == before


async def test_undoing_a_rollback_also_undoes_later_automatic_ones(app: App) -> None:
    """Automatic rollbacks after failures can be undone."""
    outcomes = iter([False, True, True, True])

    @app.function("then_fails")
    async def then_fails(ctx: Ctx) -> dict[str, int]:
        if next(outcomes):
            raise ValueError("no")
        return {}

    pipeline = await app.pipeline(
        step("goals"), step("end", "then_fails", execution=retries(0, on_failure="rollback_checkpoint")), form("last")
    )
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "last", "in_progress")
    await app.wait_until_idle()
    before = run_files(app, pipeline)
    requested = await app.roll_back(run, 0)
    await app.wait_for_execution(run, "end", "pending")
    await app.wait_until_idle()
    automatic = next(rollback for rollback in app.run(run).rollback_history if rollback != requested)
    assert app.rollback(automatic).triggered_by == "checkpoint_failure"
    assert app.rollback(requested).can_undo
    await app.cairn.rollbacks.undo(requested, actor=ADMIN)
    await app.wait_until_idle()
    assert [app.rollback(rollback).undone_at is not None for rollback in (requested, automatic)] == [True, True]
    assert run_files(app, pipeline) == before
    assert app.statuses(run) == {"goals": "completed", "end": "completed", "last": "in_progress"}
    await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_rollbacks_are_undone_newest_first(app: App) -> None:
    pipeline = await app.pipeline(step("goals"), step("design"), form("more"))
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "more", "in_progress")
    await app.wait_until_idle()
    before = run_files(app, pipeline)
    await app.cairn.runs.pause(run, actor=ADMIN)
    first = await app.roll_back(run, 1)
    second = await app.roll_back(run, 1)
    with pytest.raises(CommandRefused):
        await app.cairn.rollbacks.undo(first, actor=ADMIN)
    assert (app.rollback(first).can_undo, app.rollback(second).can_undo) == (False, True)
    for rollback in (second, first):
        await app.cairn.rollbacks.undo(rollback, actor=ADMIN)
    await app.wait_until_idle()
    assert run_files(app, pipeline) == before
    await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_an_undo_is_refused_if_a_newer_run_has_completed_a_checkpoint(app: App) -> None:
    pipeline = await app.pipeline(step("goals"), form("more"))
    runs = [await app.start(pipeline) for _ in range(3)]
    for run in runs:
        await app.submit_form(run, "more", more="yes")
        await app.wait_for_run(run, "completed")
    request = RollbackSpec("run_level", runs[2], target_run_id=runs[0], target_checkpoint_position=0)
    rollback, _ = await app.cairn.rollbacks.roll_back(request, actor=ADMIN)
    newer = await app.start(pipeline)
    await app.wait_until(lambda: app.statuses(newer)["goals"] == "completed")
    with pytest.raises(CommandRefused, match="v4"):
        await app.cairn.rollbacks.undo(rollback, actor=ADMIN)
    assert not app.rollback(rollback).can_undo
    for run in (runs[0], newer):
        await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_an_undo_restores_archived_runs_and_cancels_newer_open_runs(app: App) -> None:
    pipeline = await app.pipeline(form("goals"), form("more"))
    runs = [await app.start(pipeline) for _ in range(3)]
    for run in runs:
        await app.submit_form(run, "goals", goals="grow")
        await app.submit_form(run, "more", more="yes")
        await app.wait_for_run(run, "completed")
    await app.wait_until_idle()
    before = run_files(app, pipeline)
    request = RollbackSpec("run_level", runs[2], target_run_id=runs[0], target_checkpoint_position=0)
    rollback, _ = await app.cairn.rollbacks.roll_back(request, actor=ADMIN)
    newer = await app.start(pipeline)
    await app.cairn.rollbacks.undo(rollback, actor=ADMIN)
    await app.wait_until_idle()
    assert [str(app.run(run).status) for run in runs] == ["completed"] * 3
    assert app.run(newer).status == "cancelled"
    now = run_files(app, pipeline)
    assert now.pop("runs/v4/run_info.json") == []
    assert now.pop("runs/latest") == "-> v4"
    assert before.pop("runs/latest") == "-> v3"
    assert now == before
    assert all(app.run(run).archived_by is None for run in runs)


async def test_executions_stopped_in_a_later_run_are_restored_as_cancelled(app: App) -> None:
    stopped = asyncio.Event()

    @app.function("hang")
    async def hang(ctx: Ctx) -> dict[str, int]:
        if not ctx.inputs["input"]:
            return {}
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return {}

    pipeline = await app.pipeline(step("goals", "hang"))
    first = await app.run_to_completion(pipeline, input={})
    second = await app.start(pipeline, input={"hang": 1})
    await app.wait_until(lambda: bool(app.cairn.lanes._running))  # pyright: ignore[reportPrivateUsage]
    request = RollbackSpec("run_level", second, target_run_id=first, target_checkpoint_position=0)
    rollback, _ = await app.cairn.rollbacks.roll_back(request, actor=ADMIN)
    assert stopped.is_set()
    await app.cairn.rollbacks.undo(rollback, actor=ADMIN)
    again = app.run(second)
    assert (again.archived_by, app.run(first).status, again.status) == (None, "completed", "in_progress")
    assert [str(e.status) for e in app.executions(second)] == ["cancelled", "in_progress"]
    await app.cairn.runs.cancel(second, actor=ADMIN)


async def test_an_unknown_rollback_cannot_be_undone(app: App) -> None:
    with pytest.raises(NotFound, match="nothing"):
        await app.cairn.rollbacks.undo("nothing", actor=ADMIN)


async def test_files_that_are_in_the_way_of_an_undo_are_archived(app: App) -> None:
    """Files of users are never lost."""
    pipeline = await app.pipeline(step("goals"), form("more"), form("end"))
    run = await app.start(pipeline)
    await app.submit_form(run, "more", more="yes")
    await app.wait_for_execution(run, "end", "in_progress")
    await app.wait_until_idle()
    rollback = await app.roll_back(run, 0)
    folder = app.root(pipeline) / "runs/v1/checkpoint_1_more/outputs"
    folder.mkdir(parents=True)
    name = app.rollback(rollback).rolled_back_items.archived_artifacts[0].original_path.rpartition("/")[2]
    (folder / name).write_text("mine")
    await app.cairn.rollbacks.undo(rollback, actor=ADMIN)
    await app.wait_until_idle()
    assert json.loads((folder / name).read_text()) == {"more": "yes"}
    kept = list(app.root(pipeline).glob(f".archived/drift_*/**/{name}"))
    assert [path.read_text() for path in kept] == ["mine"]
    await app.cairn.runs.cancel(run, actor=ADMIN)
