"""Changing, deleting and restoring pipelines that have runs."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import pytest

from cairn.core.errors import CommandRefused
from cairn.definitions import DefinitionError
from cairn.files import Tree
from cairn.services.actors import ADMIN
from cairn.services.errors import InvalidInput, PreconditionFailed
from cairn.services.runs.queries.lists import RunFilter
from cairn.store.errors import NotFound
from tests.mentions import mentions
from tests.services.app import App, form, plain, step

pytestmark = pytest.mark.asyncio(loop_scope="package")


def versions(app: App, pipeline: str, definition: int | None = None) -> list[int | None]:
    run_filter = RunFilter(None, (), definition, False, False)
    return [run.run_version for run in app.cairn.run_queries.list_pipeline_runs(pipeline, run_filter, 50, None).items]


async def test_a_new_checkpoint_starts_a_definition_version_whose_runs_count_from_v1(app: App) -> None:
    """The files of earlier runs are archived. The runs stay readable."""
    pipeline = await app.pipeline(step("goals"))
    first, second = await app.run_to_completion(pipeline), await app.run_to_completion(pipeline)
    await app.wait_until_idle()
    before = {artifact.artifact_record_id: app.content(artifact) for artifact in app.artifacts(first)}
    added, saved = await app.cairn.pipelines.add_checkpoint(pipeline, step("design"), actor=ADMIN)
    assert (saved.changed, saved.warnings) == (True, ())
    now = app.cairn.pipeline_queries.get_pipeline(pipeline)
    assert (now.pipeline_definition_version, now.revision, [c.key for c in now.checkpoints]) == (
        2,
        2,
        ["goals", "design"],
    )
    assert now.checkpoint_order[1] == added
    assert [path for path in app.names(pipeline) if path.startswith((".archived", "runs"))] == [
        ".archived/definition_v1_TIME/runs/latest",
        ".archived/definition_v1_TIME/runs/v1/checkpoint_0_goals/outputs/goals_ID_v1.json",
        ".archived/definition_v1_TIME/runs/v1/run_info.json",
        ".archived/definition_v1_TIME/runs/v2/checkpoint_0_goals/outputs/goals_ID_v2.json",
        ".archived/definition_v1_TIME/runs/v2/run_info.json",
        "runs/",
    ]
    for artifact in app.artifacts(first):
        assert plain(artifact.file_path).startswith(".archived/definition_v1_TIME/runs/v1/")
        assert app.content(artifact) == before[artifact.artifact_record_id]
        assert (app.root(pipeline) / artifact.file_path).read_bytes() == app.content(artifact)
    third = await app.run_to_completion(pipeline)
    assert app.run(third).run_version == 1
    assert app.run(third).previous_run_id is None
    assert (versions(app, pipeline), versions(app, pipeline, 1)) == ([1], [2, 1])
    assert app.run(second).status == "completed"


async def test_runs_of_an_earlier_definition_version_are_read_only(app: App) -> None:
    """Their folders are archived, so they can't continue."""

    @app.function("broken")
    async def broken(ctx: object) -> None:
        raise ValueError("no")

    pipeline = await app.pipeline(step("goals"), step("broken", "broken", execution={"retry_config": FAIL}))
    run = await app.start(pipeline)
    await app.wait_for_run(run, "failed")
    rollback = await app.roll_back(run, 0)
    await app.wait_for_run(run, "failed")
    failed = app.execution(run, "broken").execution_id
    await app.cairn.pipelines.reorder(pipeline, ["broken", "goals"], actor=ADMIN)
    commands = app.cairn
    for command in (
        commands.executions.retry(failed, actor=ADMIN),
        commands.executions.cancel(failed, actor=ADMIN),
        commands.runs.restart(run, actor=ADMIN),
        app.roll_back(run, 0),
        commands.rollbacks.undo(rollback, actor=ADMIN),
    ):
        with pytest.raises(CommandRefused):
            await command
    assert app.run(run).status == "failed"
    again = await commands.runs.retry(run, actor=ADMIN)  # a new run of the current definition
    assert app.run(again.run_id).run_version == 1


FAIL = {"on_failure": "fail_run"}


async def test_structural_changes_require_force_while_a_run_is_open(app: App) -> None:
    """The error gives the number of open runs. `force` cancels them first."""
    pipeline = await app.pipeline(form("goals"), form("design"))
    run = await app.start(pipeline)
    not_started = await app.start(pipeline, start=False)
    for command in (
        app.cairn.pipelines.reorder(pipeline, ["design", "goals"], actor=ADMIN),
        app.cairn.pipelines.add_checkpoint(pipeline, step("more"), actor=ADMIN),
        app.cairn.pipelines.update(pipeline, {"checkpoints": [form("goals")]}, actor=ADMIN),
    ):
        with pytest.raises(CommandRefused, match=r"\b2\b") as error:
            await command
        assert error.value.suggestions == (mentions(), mentions("force"))
    assert app.cairn.pipeline_queries.get_pipeline(pipeline).revision == 1
    await app.cairn.pipelines.reorder(pipeline, ["design", "goals"], force=True, actor=ADMIN)
    assert (app.run(run).status, app.run(not_started).status) == ("cancelled", "cancelled")
    assert app.event_types(run)[-3:] == ["approval_withdrawn", "execution_cancelled", "run_cancelled"]
    assert app.names(pipeline, ".errored") == [
        ".errored/exec_UUID_TIME/error_info.json",
        ".errored/exec_UUID_TIME/error_logs.txt",
        ".errored/exec_UUID_TIME/failed_artifacts/",
        ".errored/exec_UUID_TIME/workspace/",
    ]
    assert app.run(await app.start(pipeline)).checkpoints[0].key == "design"


async def test_other_changes_apply_to_open_runs(app: App) -> None:
    """Later executions and a manual retry use the newest definition."""
    pipeline = await app.pipeline(form("goals"), step("design", parameters={"value": 1}))
    run = await app.start(pipeline)
    design = app.cairn.pipeline_queries.get_pipeline(pipeline).checkpoints[1]
    changed = {"execution": step("design", parameters={"value": 2})["execution"]}
    await app.cairn.pipelines.update_checkpoint(design.checkpoint_id, changed, actor=ADMIN)
    assert app.cairn.pipeline_queries.get_pipeline(pipeline).pipeline_definition_version == 1
    await app.submit_form(run, "goals", goals="grow")
    await app.wait_for_run(run, "completed")
    assert app.output(run, "design") == {"value": 2}
    await app.wait_until_idle()
    file = app.folder_contents(pipeline)[f".pipeline_system/definitions/checkpoints/{design.checkpoint_id}.json"]
    assert json.loads(file)["execution"]["function_config"]["parameters"] == {"value": 2}


async def test_an_equal_definition_adds_no_revision(app: App) -> None:
    pipeline = await app.pipeline(step("goals"))
    saved = await app.cairn.pipelines.update(pipeline, {"pipeline_name": "Test"}, actor=ADMIN)
    assert (saved.changed, app.cairn.pipeline_queries.get_pipeline(pipeline).revision) == (False, 1)


async def test_every_change_is_a_revision_that_can_be_restored(app: App) -> None:
    """Reverting adds a revision, too."""
    pipeline = await app.pipeline(step("goals"), pipeline_description="first")
    await app.cairn.pipelines.update(pipeline, {"pipeline_description": "second"}, comment="better", actor=ADMIN)
    await app.cairn.pipelines.add_checkpoint(pipeline, step("design"), actor=ADMIN)
    await app.cairn.pipelines.revert(pipeline, 1, actor=ADMIN)
    history = app.cairn.pipeline_queries.list_revisions(pipeline, 50, None).items
    assert [(r.revision, r.pipeline_definition_version, r.created_by, r.comment) for r in history] == [
        (4, 3, "admin", mentions("1")),
        (3, 2, "admin", mentions("checkpoint")),
        (2, 1, "admin", "better"),
        (1, 1, "admin", "created"),
    ]
    now = app.cairn.pipeline_queries.get_pipeline(pipeline)
    assert (now.pipeline_description, [c.key for c in now.checkpoints]) == ("first", ["goals"])
    with pytest.raises(NotFound, match=r"\b9\b"):
        await app.cairn.pipelines.revert(pipeline, 9, actor=ADMIN)
    assert [event.event_type for event in app.events(pipeline_id=pipeline)] == [
        "pipeline_created",
        "pipeline_updated",
        "pipeline_updated",
        "pipeline_updated",
    ]


async def test_a_change_based_on_an_old_revision_is_rejected(app: App) -> None:
    pipeline = await app.pipeline(step("goals"))
    await app.cairn.pipelines.update(pipeline, {"pipeline_name": "Other"}, if_match=1, actor=ADMIN)
    with pytest.raises(PreconditionFailed, match=r"\b2\b.*\b1\b") as error:
        await app.cairn.pipelines.update(pipeline, {"pipeline_name": "Third"}, if_match=1, actor=ADMIN)
    assert error.value.current == 2


async def test_concurrent_changes_are_all_saved(app: App) -> None:
    pipeline = await app.pipeline(*(step(f"s{n}") for n in range(8)))
    checkpoints = app.cairn.pipeline_queries.get_pipeline(pipeline).checkpoints
    await asyncio.gather(
        *(
            app.cairn.pipelines.update_checkpoint(c.checkpoint_id, {"checkpoint_description": f"d{n}"}, actor=ADMIN)
            for n, c in enumerate(checkpoints)
        )
    )
    now = app.cairn.pipeline_queries.get_pipeline(pipeline)
    assert [c.checkpoint_description for c in now.checkpoints] == [f"d{n}" for n in range(8)]
    assert now.revision == 9


async def test_an_invalid_change_changes_nothing(app: App) -> None:
    pipeline = await app.pipeline(step("goals"), step("design", needs=["goals"]))
    before = app.folder_contents(pipeline)
    goals = app.cairn.pipeline_queries.get_pipeline(pipeline).checkpoints[0].checkpoint_id
    with pytest.raises(DefinitionError):
        await app.cairn.pipelines.remove_checkpoint(goals, actor=ADMIN)
    with pytest.raises(InvalidInput) as error:
        await app.cairn.pipelines.reorder(pipeline, ["goals", "goals", "else"], actor=ADMIN)
    assert error.value.errors == (
        (
            "/checkpoint_order",
            "List every checkpoint once (unknown: else; missing: design; a checkpoint is listed twice).",
        ),
    )
    assert (app.cairn.pipeline_queries.get_pipeline(pipeline).revision, app.folder_contents(pipeline)) == (1, before)


async def test_a_deleted_pipeline_is_archived_and_can_be_restored(app: App) -> None:
    pipeline = await app.pipeline(step("goals"))
    run = await app.run_to_completion(pipeline)
    await app.wait_until_idle()
    note = app.root(pipeline) / "notes.txt"
    note.write_text("mine")
    before = app.folder_contents(pipeline)
    location = await app.cairn.pipelines.delete(pipeline, actor=ADMIN)
    assert plain(location) == ".archived/UUID_TIME"
    assert not app.root(pipeline).exists()
    assert (app.folder / "pipelines" / location / "notes.txt").read_text() == "mine"
    for command in (
        app.start(pipeline),
        app.cairn.runs.restart(run, actor=ADMIN),
        app.cairn.pipelines.update(pipeline, {"pipeline_name": "x"}, actor=ADMIN),
        app.cairn.pipelines.delete(pipeline, actor=ADMIN),
    ):
        with pytest.raises(CommandRefused) as error:
            await command
        assert error.value.suggestions == (mentions("restore"),)
    await app.cairn.pipelines.restore(pipeline, actor=ADMIN)
    assert app.folder_contents(pipeline) == before
    with pytest.raises(CommandRefused):
        await app.cairn.pipelines.restore(pipeline, actor=ADMIN)
    assert app.run(await app.run_to_completion(pipeline)).run_version == 2
    assert [event.event_type for event in app.events(pipeline_id=pipeline) if event.run_id is None] == [
        "pipeline_created",
        "pipeline_deleted",
        "pipeline_restored",
    ]


async def test_a_run_started_while_a_pipeline_is_restored_waits_for_its_folder(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise its files would be treated as drift."""
    pipeline = await app.pipeline(form("goals"))
    earlier = await app.start(pipeline)
    await app.submit_form(earlier, "goals", goals="More")
    await app.wait_for_run(earlier, "completed")
    await app.cairn.pipelines.delete(pipeline, actor=ADMIN)
    restore_pipeline = Tree.restore_pipeline
    started, resume = threading.Event(), threading.Event()

    def restore_slowly(tree: Tree, pipeline_id: str, location: str) -> None:
        started.set()
        assert resume.wait(10)
        restore_pipeline(tree, pipeline_id, location)

    monkeypatch.setattr(Tree, "restore_pipeline", restore_slowly)
    restored = asyncio.create_task(app.cairn.pipelines.restore(pipeline, actor=ADMIN))
    new_run = asyncio.create_task(app.start(pipeline))  # waits for the same locks
    assert await asyncio.to_thread(started.wait, 10)
    restarted = asyncio.create_task(app.cairn.runs.restart(earlier, actor=ADMIN))
    await asyncio.sleep(0.1)
    resume.set()
    await asyncio.gather(restored, new_run, restarted)
    await app.wait_until_idle()
    assert [path for path in app.names(pipeline) if "drift" in path] == []
    for run in (earlier, new_run.result()):
        (waiting,) = [e for e in app.executions(run) if e.status == "in_progress"]
        assert (app.root(pipeline) / ".temp" / f"exec_{waiting.execution_id}" / "workspace").is_dir()
    assert (await app.repair()).is_clean


async def test_a_folder_repair_waits_for_a_deletion(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is archived with the files of its cancelled runs."""
    pipeline = await app.pipeline(form("goals"))
    run = await app.start(pipeline)
    execution = (await app.wait_for_execution(run, "goals", "in_progress")).execution_id
    move_to_errored, started, resume = Tree.move_to_errored, threading.Event(), threading.Event()

    def move_slowly(*args: Any) -> str:
        started.set()
        assert resume.wait(10)
        return move_to_errored(*args)

    monkeypatch.setattr(Tree, "move_to_errored", move_slowly)
    deleted = asyncio.create_task(app.cairn.pipelines.delete(pipeline, force=True, actor=ADMIN))
    assert await asyncio.to_thread(started.wait, 10)
    repaired = asyncio.create_task(app.cairn.folder_repair.repair_unfinished())
    await asyncio.sleep(0.1)
    assert not repaired.done()
    resume.set()
    await asyncio.gather(deleted, repaired)
    assert not app.root(pipeline).exists()
    await app.cairn.pipelines.restore(pipeline, actor=ADMIN)
    assert [path for path in app.names(pipeline) if "drift" in path] == []
    assert [path.name for path in app.root(pipeline).glob(f".errored/exec_{execution}_*/workspace")] == ["workspace"]


async def test_deleting_a_pipeline_with_an_open_run_requires_force(app: App) -> None:
    stopped = asyncio.Event()

    @app.function("hang")
    async def hang(ctx: object) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    pipeline = await app.pipeline(step("goals", "hang"))
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "goals", "in_progress")
    with pytest.raises(CommandRefused, match=r"\b1\b"):
        await app.cairn.pipelines.delete(pipeline, actor=ADMIN)
    await app.cairn.pipelines.delete(pipeline, force=True, actor=ADMIN)
    assert stopped.is_set()
    assert app.run(run).status == "cancelled"
    assert not app.root(pipeline).exists()


async def test_runs_started_during_a_change_belong_to_one_definition_version(app: App) -> None:
    pipeline = await app.pipeline(step("goals"))
    for number in range(3):
        early = [asyncio.create_task(app.start(pipeline)) for _ in range(4)]
        change = asyncio.create_task(
            app.cairn.pipelines.add_checkpoint(pipeline, step(f"more_{number}"), force=True, actor=ADMIN)
        )
        late = [asyncio.create_task(app.start(pipeline)) for _ in range(4)]
        runs = await asyncio.gather(*early, *late)
        await change
        for run in runs:
            await app.wait_for_run(run, "completed", "cancelled")
    await app.wait_until_idle()
    for run in app.cairn.run_queries.list_pipeline_runs(pipeline, RunFilter(None, (), 2, False, False), 50, None).items:
        for artifact in app.artifacts(run.run_id):
            assert (app.root(pipeline) / artifact.file_path).is_file(), artifact.file_path
