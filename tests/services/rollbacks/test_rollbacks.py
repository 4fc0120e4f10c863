"""Rollbacks at both levels, in any state."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
import sqlalchemy as sa

from cairn.core.errors import CommandRefused
from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from cairn.services.errors import InvalidInput
from cairn.services.rollbacks import records
from cairn.services.rollbacks.service import RollbackSpec
from cairn.services.rollbacks.views import Rollback, RollbackPreview
from cairn.store import RunFacts
from cairn.store.errors import NotFound
from tests.mentions import mentions
from tests.services.app import App, form, plain, retries, step

pytestmark = pytest.mark.asyncio(loop_scope="package")


def matches_preview(preview: RollbackPreview, done: Rollback) -> bool:
    """Check that the rollback equals its preview, except for the time in folder names."""

    def comparable(facts: RollbackPreview | Rollback) -> Any:
        shared = facts.model_dump(include=set(RollbackPreview.model_fields) & set(Rollback.model_fields))
        shared.pop("rollback_id")
        for artifact in shared["rolled_back_items"]["archived_artifacts"]:
            artifact["archived_path"] = plain(artifact["archived_path"])
        return shared

    assert comparable(preview) == comparable(done)
    return True


async def test_a_checkpoint_level_rollback_keeps_the_target_and_archives_the_rest(app: App) -> None:
    pipeline = await app.pipeline(*(step(f"step{n}", parameters={"value": n}) for n in range(4)))
    run = await app.run_to_completion(pipeline)
    await app.wait_until_idle()
    (app.root(pipeline) / "runs/v1/checkpoint_2_step2/notes.txt").write_text("mine")
    before = {a.artifact_name: a for a in app.artifacts(run)}
    spec = RollbackSpec("checkpoint_level", run, target_checkpoint_position=1, user_reason="wrong turn")
    preview = app.preview_rollback(spec)
    assert (preview.unaffected.checkpoints, preview.unaffected.artifacts, preview.size_bytes) == (2, 2, 22)
    assert (preview.resumes_with.checkpoint_name, preview.resumes_with.start_mode) == ("Step2", "immediately")
    assert app.run(run).status == "completed"  # a preview changes nothing
    rollback_id, warnings = await app.cairn.rollbacks.roll_back(spec, actor=ADMIN)
    assert warnings == []
    await app.wait_for_run(run, "completed")
    await app.wait_until_idle()
    done = app.rollback(rollback_id)
    assert matches_preview(preview, done)
    assert (done.triggered_by, done.created_by, done.user_reason) == ("user_request", "admin", "wrong turn")
    names = app.names(pipeline)
    assert [name for name in names if name.startswith((".archived", "runs/v1/c"))] == [
        ".archived/rollback_UUID_TIME/archived_data/v1_checkpoint_2/notes.txt",
        ".archived/rollback_UUID_TIME/archived_data/v1_checkpoint_2/outputs/step2_ID_v1.json",
        ".archived/rollback_UUID_TIME/archived_data/v1_checkpoint_3/outputs/step3_ID_v1.json",
        ".archived/rollback_UUID_TIME/rollback_metadata.json",
        "runs/v1/checkpoint_0_step0/outputs/step0_ID_v1.json",
        "runs/v1/checkpoint_1_step1/outputs/step1_ID_v1.json",
        "runs/v1/checkpoint_2_step2/outputs/step2_ID_v1.json",
        "runs/v1/checkpoint_3_step3/outputs/step3_ID_v1.json",
    ]
    metadata = json.loads((app.root(pipeline) / done.archive_location / "rollback_metadata.json").read_text())
    assert (metadata["rollback_id"], metadata["user_reason"], metadata["target_checkpoint_position"]) == (
        rollback_id,
        "wrong turn",
        1,
    )
    assert metadata["rolled_back_items"] == done.model_dump(mode="json")["rolled_back_items"]
    for name in ("step2", "step3"):
        archived = app.cairn.artifact_queries.get_artifact(before[name].artifact_record_id)
        assert (app.root(pipeline) / archived.file_path).read_bytes() == app.content(before[name])
    kept = {a.artifact_name: a.artifact_record_id for a in app.artifacts(run)}
    assert {name: kept[name] == before[name].artifact_record_id for name in kept} == {
        "step0": True,
        "step1": True,
        "step2": False,
        "step3": False,
    }
    # archived executions are only listed on spec
    assert (len(app.executions(run)), len(app.executions(run, archived=True))) == (4, 6)


async def test_a_run_can_be_rolled_back_to_its_start(app: App) -> None:
    pipeline = await app.pipeline(step("goals"), step("design"))
    run = await app.run_to_completion(pipeline)
    await app.roll_back(run, -1)
    await app.wait_for_run(run, "completed")
    assert len(app.executions(run, archived=True)) == 4
    await app.wait_until_idle()
    assert len(app.names(pipeline, ".archived")) == 3


async def test_the_target_must_be_a_completed_checkpoint_of_the_run(app: App) -> None:
    pipeline = await app.pipeline(step("goals"), form("design"), step("end"))
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "design", "in_progress")
    with pytest.raises(CommandRefused, match=r"\b1\b") as raised:
        await app.roll_back(run, 1)
    assert raised.value.suggestions == (mentions("-1"), mentions("0"))
    not_started = await app.start(pipeline, start=False)
    with pytest.raises(CommandRefused):
        await app.roll_back(not_started, -1)
    goals = app.cairn.pipeline_queries.get_pipeline(pipeline).checkpoints[0].checkpoint_id
    preview = app.preview_rollback(RollbackSpec("checkpoint_level", run, target_checkpoint_id=goals))
    assert preview.target_checkpoint_position == 0
    for wrong, error in (
        (RollbackSpec("checkpoint_level", run), InvalidInput),
        (RollbackSpec("checkpoint_level", run, target_checkpoint_id="nothing"), NotFound),
        (RollbackSpec("checkpoint_level", run, target_run_id=not_started, target_checkpoint_position=0), InvalidInput),
        (RollbackSpec("checkpoint_level", "nobody", target_checkpoint_position=0), NotFound),
        (RollbackSpec("run_level", run, target_checkpoint_position=0), InvalidInput),
    ):
        with pytest.raises(error):
            await app.cairn.rollbacks.roll_back(wrong, actor=ADMIN)
    for each in (run, not_started):
        await app.cairn.runs.cancel(each, actor=ADMIN)


async def test_a_rollback_stops_running_executions_and_withdraws_approvals(app: App) -> None:
    """Earlier executions continue."""
    started: list[str] = []
    stopped = asyncio.Event()

    @app.function("hang")
    async def hang(ctx: Ctx) -> dict[str, int]:
        started.append(ctx.workspace.parent.name)
        if len(started) > 1:
            return {}
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return {}

    pipeline = await app.pipeline(
        step("root"),
        step("slow", "hang", stage="both", approve="complete"),
        form("asks", stage="both"),
        step("last"),
    )
    run = await app.start(pipeline)
    await app.wait_until(lambda: bool(started))
    open_ones = {e.checkpoint_key: e.execution_id for e in app.executions(run)}
    spec = RollbackSpec("checkpoint_level", run, target_checkpoint_position=0)
    preview = app.preview_rollback(spec)
    assert {execution.execution_id for execution in preview.stopped_executions} == {
        open_ones["slow"],
        open_ones["asks"],
    }
    assert [approval.checkpoint_name for approval in preview.withdrawn_approvals] == ["Asks"]
    rollback_id, _ = await app.cairn.rollbacks.roll_back(spec, actor=ADMIN)
    assert stopped.is_set()
    assert matches_preview(preview, app.rollback(rollback_id))
    now = {e.checkpoint_key: e.execution_id for e in app.executions(run)}
    assert (now["root"], now["slow"] != open_ones["slow"]) == (open_ones["root"], True)
    await app.submit_form(run, "asks", asks="yes")
    await app.decide(run, "slow", "approve")
    await app.wait_for_run(run, "completed")
    await app.wait_until_idle()
    assert app.workspaces(pipeline) == set()
    assert len(list((app.root(pipeline) / ".errored").iterdir())) == 2  # of the stopped executions


async def test_failed_and_cancelled_executions_up_to_the_target_are_archived_too(app: App) -> None:
    """A rollback with nothing to archive is refused, except to reopen a cancelled run."""
    failures = iter([True])

    @app.function("once")
    async def once(ctx: Ctx) -> dict[str, int]:
        if next(failures, False):
            raise ValueError("no")
        return {}

    pipeline = await app.pipeline(step("bad", "once", stage="both"), step("good", stage="both"), form("end"))
    run = await app.start(pipeline)
    await app.wait_for_run(run, "paused")
    await app.roll_back(run, 1)  # `good` is kept, `bad` failed at an earlier position
    assert [(e.checkpoint_key, str(e.status)) for e in app.executions(run, archived=True)][:2] == [
        ("bad", "failed"),
        ("good", "completed"),
    ]
    await app.wait_for_execution(run, "end", "in_progress")
    assert app.statuses(run) == {"bad": "completed", "good": "completed", "end": "in_progress"}
    await app.submit_form(run, "end", end="yes")
    await app.wait_for_run(run, "completed")
    with pytest.raises(CommandRefused):
        await app.roll_back(run, 2)
    await app.wait_until_idle()
    # The failed execution had no promoted files.
    assert app.names(pipeline, ".archived") == [".archived/rollback_UUID_TIME/rollback_metadata.json"]


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled", "paused", "in_progress"])
async def test_a_rollback_reopens_a_run_from_any_status(app: App, status: str) -> None:
    """The run is `in_progress` from any status, then `auto_advance` applies."""
    outcome = {"fails": status == "failed"}

    @app.function("end")
    async def end(ctx: Ctx) -> dict[str, int]:
        if outcome["fails"]:
            raise ValueError("no")
        return {}

    pipeline = await app.pipeline(
        step("goals"),
        form("more"),
        step("end", "end", execution=retries(0, on_failure="fail_run")),
        advance=status != "paused",
    )
    run = await app.start(pipeline)
    if status == "paused":
        more = await app.wait_for_execution(run, "more", "pending")
        await app.cairn.executions.start(more.execution_id, actor=ADMIN)
        await app.cairn.runs.pause(run, actor=ADMIN)
    await app.wait_for_execution(run, "more", "in_progress")
    if status in ("completed", "failed"):
        await app.submit_form(run, "more", more="yes")
    elif status == "cancelled":
        await app.cairn.runs.cancel(run, actor=ADMIN)
    await app.wait_for_run(run, status)
    outcome["fails"] = False
    await app.roll_back(run, 0)
    now = app.run(run)
    assert (str(now.status), now.completed_at, now.paused_at) == ("in_progress", None, None)
    assert app.statuses(run)["more"] == ("pending" if status == "paused" else "in_progress")
    assert app.event_types(run).count("rollback_initiated") == 1
    await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_the_first_archived_checkpoint_needs_a_new_approval(app: App) -> None:
    """Even for equal content. Approvals of later executions are reused."""
    pipeline = await app.pipeline(*(step(f"s{n}", approve="complete") for n in range(3)))
    run = await app.start(pipeline)
    for n in range(3):
        await app.decide(run, f"s{n}", "approve")
    await app.wait_for_run(run, "completed")
    await app.roll_back(run, 0)
    await app.wait_for_execution(run, "s1", "waiting_approval_to_complete")
    await app.decide(run, "s1", "approve")
    await app.wait_for_run(run, "completed")
    kept = [e.execution_id for e in app.events(run) if e.event_type == "approval_reused"]
    assert kept == [app.execution(run, "s2").execution_id]


# ---- runs --------------------------------------------------------------------------------------------
async def test_a_run_level_rollback_archives_later_runs_completely(app: App) -> None:
    pipeline = await app.pipeline(step("goals"), step("design"))
    runs = [await app.run_to_completion(pipeline) for _ in range(3)]
    test = await app.run_to_completion(pipeline, test=True)
    await app.wait_until_idle()
    spec = RollbackSpec("run_level", runs[2], target_run_id=runs[0], target_checkpoint_position=0)
    preview = app.preview_rollback(spec)
    assert [(run.run_id, run.run_version) for run in preview.rolled_back_items.deleted_runs] == [
        (runs[1], 2),
        (runs[2], 3),
    ]
    assert [execution.checkpoint_name for execution in preview.rolled_back_items.deleted_checkpoint_executions] == [
        "Design"
    ]
    assert len(preview.rolled_back_items.archived_artifacts) == 5
    rollback_id, _ = await app.cairn.rollbacks.roll_back(spec, actor=ADMIN)
    assert matches_preview(preview, app.rollback(rollback_id))
    await app.wait_for_run(runs[0], "completed")
    await app.wait_until_idle()
    assert [name for name in app.names(pipeline) if name.startswith((".archived", "runs"))] == [
        ".archived/rollback_UUID_TIME/archived_data/v1_checkpoint_1/outputs/design_ID_v1.json",
        ".archived/rollback_UUID_TIME/archived_data/v2/checkpoint_0_goals/outputs/goals_ID_v2.json",
        ".archived/rollback_UUID_TIME/archived_data/v2/checkpoint_1_design/outputs/design_ID_v2.json",
        ".archived/rollback_UUID_TIME/archived_data/v2/run_info.json",
        ".archived/rollback_UUID_TIME/archived_data/v3/checkpoint_0_goals/outputs/goals_ID_v3.json",
        ".archived/rollback_UUID_TIME/archived_data/v3/checkpoint_1_design/outputs/design_ID_v3.json",
        ".archived/rollback_UUID_TIME/archived_data/v3/run_info.json",
        ".archived/rollback_UUID_TIME/rollback_metadata.json",
        "runs/latest",
        "runs/test_ID/checkpoint_0_goals/outputs/goals_ID_test_ID.json",
        "runs/test_ID/checkpoint_1_design/outputs/design_ID_test_ID.json",
        "runs/test_ID/run_info.json",
        "runs/v1/checkpoint_0_goals/outputs/goals_ID_v1.json",
        "runs/v1/checkpoint_1_design/outputs/design_ID_v1.json",
        "runs/v1/run_info.json",
    ]
    assert app.folder_contents(pipeline)["runs/latest"] == "-> v1"
    assert app.run(test).status == "completed"
    for run in runs[1:]:
        assert app.run(run).archived_by == rollback_id
        with pytest.raises(CommandRefused):
            await app.cairn.runs.restart(run, actor=ADMIN)


async def test_a_run_level_rollback_stops_later_open_runs(app: App) -> None:
    stopped: list[str] = []

    @app.function("hang")
    async def hang(ctx: Ctx) -> dict[str, int]:
        if not ctx.inputs["input"]:
            return {}
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append(ctx.workspace.parent.name)
        return {}

    pipeline = await app.pipeline(step("goals"), step("slow", "hang"))
    first = await app.run_to_completion(pipeline, input={})
    later = [await app.start(pipeline, input={"hang": True}) for _ in range(2)]
    for run in later:
        await app.wait_for_execution(run, "slow", "in_progress")
    await app.wait_until(lambda: len(app.cairn.lanes._running) == 2)  # pyright: ignore[reportPrivateUsage]
    spec = RollbackSpec("run_level", first, target_run_id=first, target_checkpoint_position=1)
    previewed = {
        (execution.execution_id, execution.checkpoint_name)
        for execution in app.preview_rollback(spec).stopped_executions
    }
    assert previewed == {(app.execution(run, "slow").execution_id, "Slow") for run in later}
    await app.cairn.rollbacks.roll_back(spec, actor=ADMIN)
    assert sorted(stopped) == sorted(f"exec_{app.execution(run, 'slow').execution_id}" for run in later)
    assert [str(app.run(run).status) for run in later] == ["cancelled", "cancelled"]
    await app.wait_for_run(first, "completed")
    assert app.workspaces(pipeline) == set()


async def test_a_run_level_rollback_needs_an_earlier_run_of_the_same_definition_version(app: App) -> None:
    """Runs of earlier definitions or other pipelines, test runs and later runs can't be targets."""
    pipeline = await app.pipeline(step("goals"))
    old = await app.run_to_completion(pipeline)
    await app.cairn.pipelines.add_checkpoint(pipeline, step("design"), actor=ADMIN)
    first, second = await app.run_to_completion(pipeline), await app.run_to_completion(pipeline)
    test = await app.run_to_completion(pipeline, test=True)
    other = await app.run_to_completion(await app.pipeline(step("goals")))

    def roll_back_to(source: str, target: str) -> Any:
        spec = RollbackSpec("run_level", source, target_run_id=target, target_checkpoint_position=0)
        return app.cairn.rollbacks.roll_back(spec, actor=ADMIN)

    with pytest.raises(CommandRefused):
        await roll_back_to(second, old)
    with pytest.raises(InvalidInput):
        await roll_back_to(second, other)
    with pytest.raises(CommandRefused):
        await roll_back_to(test, first)
    with pytest.raises(InvalidInput) as wrong:
        await roll_back_to(first, second)
    assert wrong.value.errors == (("/target_run_id", mentions("v2", "v1")),)
    with pytest.raises(NotFound):
        await roll_back_to(first, "nobody")
    await app.roll_back(test, 0)  # a test run can be rolled back within itself
    await app.wait_for_run(test, "completed")


async def test_a_run_created_during_a_rollback_by_another_process_is_archived_too(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan is checked in the transaction and made again if it is outdated."""
    pipeline = await app.pipeline(step("goals"))
    first, second = await app.run_to_completion(pipeline), await app.run_to_completion(pipeline)
    seen: list[list[str]] = []

    def later(connection: sa.Connection, target: RunFacts) -> list[str]:
        seen.append(later_runs(connection, target) if seen else [])
        return seen[-1]

    later_runs = records.later_runs
    monkeypatch.setattr(records, "later_runs", later)
    spec = RollbackSpec("run_level", second, target_run_id=first, target_checkpoint_position=0)
    rollback, warnings = await app.cairn.rollbacks.roll_back(spec, actor=ADMIN)
    assert (seen, warnings) == ([[], [second], [second], [second]], [])
    assert [run.run_id for run in app.rollback(rollback).rolled_back_items.deleted_runs] == [second]


async def test_a_run_created_during_an_undo_by_another_process_is_cancelled(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline = await app.pipeline(form("goals"))
    first, second = await app.start(pipeline), await app.start(pipeline)
    spec = RollbackSpec("run_level", second, target_run_id=first, target_checkpoint_position=-1)
    rollback, _ = await app.cairn.rollbacks.roll_back(spec, actor=ADMIN)
    third = await app.start(pipeline)
    seen: list[list[str]] = []

    def newer(connection: sa.Connection, row: Any, own: Sequence[str]) -> list[str]:
        seen.append(newer_open_runs(connection, row, own) if seen else [])
        return seen[-1]

    newer_open_runs = records.newer_open_runs
    monkeypatch.setattr(records, "newer_open_runs", newer)
    assert await app.cairn.rollbacks.undo(rollback, actor=ADMIN) == []
    assert seen == [[], [third], [third], [third]]
    assert app.run(third).status == "cancelled"
