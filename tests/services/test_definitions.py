"""Definitions that are changed, replaced, deleted and restored while there are runs."""

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
from tests.services.house import House, form, plain, step

pytestmark = pytest.mark.asyncio(loop_scope="package")


def versions(house: House, pipeline: str, definition: int | None = None) -> list[int | None]:
    wanted = RunFilter(None, (), definition, False, False)
    return [run.run_version for run in house.cairn.reading.pipeline_runs(pipeline, wanted, 50, None).items]


async def test_another_checkpoint_begins_a_definition_version_and_runs_count_from_v1(house: House) -> None:
    """The files of earlier runs are archived, their rows stay readable."""
    pipeline = await house.pipeline(step("goals"))
    first, second = await house.done(pipeline), await house.done(pipeline)
    await house.until_quiet()
    before = {artifact.artifact_record_id: house.content(artifact) for artifact in house.artifacts(first)}
    added, saved = await house.cairn.pipelines.add_checkpoint(pipeline, step("design"), by=ADMIN)
    assert (saved.changed, saved.warnings) == (True, ())
    now = house.cairn.reading.pipeline(pipeline)
    assert (now.pipeline_definition_version, now.revision, [c.key for c in now.checkpoints]) == (
        2,
        2,
        ["goals", "design"],
    )
    assert now.checkpoint_order[1] == added
    assert [path for path in house.names(pipeline) if path.startswith((".archived", "runs"))] == [
        ".archived/definition_v1_TIME/runs/latest",
        ".archived/definition_v1_TIME/runs/v1/checkpoint_0_goals/outputs/goals_ID_v1.json",
        ".archived/definition_v1_TIME/runs/v1/run_info.json",
        ".archived/definition_v1_TIME/runs/v2/checkpoint_0_goals/outputs/goals_ID_v2.json",
        ".archived/definition_v1_TIME/runs/v2/run_info.json",
        "runs/",
    ]
    for artifact in house.artifacts(first):
        assert plain(artifact.file_path).startswith(".archived/definition_v1_TIME/runs/v1/")
        assert house.content(artifact) == before[artifact.artifact_record_id]
        assert (house.root(pipeline) / artifact.file_path).read_bytes() == house.content(artifact)
    third = await house.done(pipeline)
    assert house.run(third).run_version == 1
    assert house.run(third).previous_run_id is None
    assert (versions(house, pipeline), versions(house, pipeline, 1)) == ([1], [2, 1])
    assert house.run(second).status == "completed"


async def test_runs_of_an_earlier_definition_can_only_be_read(house: House) -> None:
    """They cannot be continued: their folders are archived."""

    @house.does("broken")
    async def broken(ctx: object) -> None:
        raise ValueError("no")

    pipeline = await house.pipeline(step("goals"), step("broken", "broken", execution={"retry_config": FAIL}))
    run = await house.start(pipeline)
    await house.until_run(run, "failed")
    rollback = await house.roll_back(run, 0)
    await house.until_run(run, "failed")
    failed = house.execution(run, "broken").execution_id
    await house.cairn.pipelines.reorder(pipeline, ["broken", "goals"], by=ADMIN)
    commands = house.cairn
    for command in (
        commands.executions.retry(failed, by=ADMIN),
        commands.executions.cancel(failed, by=ADMIN),
        commands.runs.restart(run, by=ADMIN),
        house.roll_back(run, 0),
        commands.rollbacks.undo(rollback, by=ADMIN),
    ):
        with pytest.raises(CommandRefused):
            await command
    assert house.run(run).status == "failed"
    again = await commands.runs.retry(run, by=ADMIN)  # the next version, of the definition as it is now
    assert house.run(again.run_id).run_version == 1


FAIL = {"on_failure": "fail_run"}


async def test_the_order_is_kept_while_a_run_is_open_unless_it_may_be_cancelled(house: House) -> None:
    """409 gives the number of open runs; `force` cancels them first."""
    pipeline = await house.pipeline(form("goals"), form("design"))
    run = await house.start(pipeline)
    not_started = await house.start(pipeline, start=False)
    for command in (
        house.cairn.pipelines.reorder(pipeline, ["design", "goals"], by=ADMIN),
        house.cairn.pipelines.add_checkpoint(pipeline, step("more"), by=ADMIN),
        house.cairn.pipelines.update(pipeline, {"checkpoints": [form("goals")]}, by=ADMIN),
    ):
        with pytest.raises(CommandRefused, match=r"\b2\b") as refused:
            await command
        assert refused.value.possible == (mentions(), mentions("force"))
    assert house.cairn.reading.pipeline(pipeline).revision == 1
    await house.cairn.pipelines.reorder(pipeline, ["design", "goals"], force=True, by=ADMIN)
    assert (house.run(run).status, house.run(not_started).status) == ("cancelled", "cancelled")
    assert house.told(run)[-3:] == ["approval_withdrawn", "execution_cancelled", "run_cancelled"]
    assert house.names(pipeline, ".errored") == [
        ".errored/exec_UUID_TIME/error_info.json",
        ".errored/exec_UUID_TIME/error_logs.txt",
        ".errored/exec_UUID_TIME/failed_artifacts/",
        ".errored/exec_UUID_TIME/workspace/",
    ]
    assert house.run(await house.start(pipeline)).trail[0].key == "design"


async def test_other_edits_leave_runs_going_and_take_effect_for_what_comes(house: House) -> None:
    """Later executions and a manual retry use the newest definition."""
    pipeline = await house.pipeline(form("goals"), step("design", parameters={"value": 1}))
    run = await house.start(pipeline)
    design = house.cairn.reading.pipeline(pipeline).checkpoints[1]
    changed = {"execution": step("design", parameters={"value": 2})["execution"]}
    await house.cairn.pipelines.update_checkpoint(design.checkpoint_id, changed, by=ADMIN)
    assert house.cairn.reading.pipeline(pipeline).pipeline_definition_version == 1
    await house.fill(run, "goals", goals="grow")
    await house.until_run(run, "completed")
    assert house.output(run, "design") == {"value": 2}
    await house.until_quiet()
    file = house.disk(pipeline)[f".pipeline_system/definitions/checkpoints/{design.checkpoint_id}.json"]
    assert json.loads(file)["execution"]["function_config"]["parameters"] == {"value": 2}


async def test_a_definition_that_says_the_same_is_no_change(house: House) -> None:
    pipeline = await house.pipeline(step("goals"))
    saved = await house.cairn.pipelines.update(pipeline, {"pipeline_name": "Test"}, by=ADMIN)
    assert (saved.changed, house.cairn.reading.pipeline(pipeline).revision) == (False, 1)


async def test_every_change_is_kept_and_can_be_gone_back_to(house: House) -> None:
    """Author, time and full text; reverting is a revision of its own."""
    pipeline = await house.pipeline(step("goals"), pipeline_description="first")
    await house.cairn.pipelines.update(pipeline, {"pipeline_description": "second"}, comment="better", by=ADMIN)
    await house.cairn.pipelines.add_checkpoint(pipeline, step("design"), by=ADMIN)
    await house.cairn.pipelines.revert(pipeline, 1, by=ADMIN)
    history = house.cairn.reading.revisions(pipeline, 50, None).items
    assert [(r.revision, r.pipeline_definition_version, r.author, r.comment) for r in history] == [
        (4, 3, "admin", mentions("1")),
        (3, 2, "admin", mentions("checkpoint")),
        (2, 1, "admin", "better"),
        (1, 1, "admin", "created"),
    ]
    now = house.cairn.reading.pipeline(pipeline)
    assert (now.pipeline_description, [c.key for c in now.checkpoints]) == ("first", ["goals"])
    with pytest.raises(NotFound, match=r"\b9\b"):
        await house.cairn.pipelines.revert(pipeline, 9, by=ADMIN)
    assert [event.event_type for event in house.events(pipeline_id=pipeline)] == [
        "pipeline_created",
        "pipeline_updated",
        "pipeline_updated",
        "pipeline_updated",
    ]


async def test_a_change_made_from_an_old_revision_is_refused(house: House) -> None:
    pipeline = await house.pipeline(step("goals"))
    await house.cairn.pipelines.update(pipeline, {"pipeline_name": "Other"}, if_match=1, by=ADMIN)
    with pytest.raises(PreconditionFailed, match=r"\b2\b.*\b1\b") as refused:
        await house.cairn.pipelines.update(pipeline, {"pipeline_name": "Third"}, if_match=1, by=ADMIN)
    assert refused.value.current == 2


async def test_of_changes_at_once_none_is_lost(house: House) -> None:
    pipeline = await house.pipeline(*(step(f"s{n}") for n in range(8)))
    checkpoints = house.cairn.reading.pipeline(pipeline).checkpoints
    await asyncio.gather(
        *(
            house.cairn.pipelines.update_checkpoint(c.checkpoint_id, {"checkpoint_description": f"d{n}"}, by=ADMIN)
            for n, c in enumerate(checkpoints)
        )
    )
    now = house.cairn.reading.pipeline(pipeline)
    assert [c.checkpoint_description for c in now.checkpoints] == [f"d{n}" for n in range(8)]
    assert now.revision == 9


async def test_an_edit_that_cannot_work_changes_nothing(house: House) -> None:
    pipeline = await house.pipeline(step("goals"), step("design", needs=["goals"]))
    before = house.disk(pipeline)
    goals = house.cairn.reading.pipeline(pipeline).checkpoints[0].checkpoint_id
    with pytest.raises(DefinitionError):
        await house.cairn.pipelines.remove_checkpoint(goals, by=ADMIN)
    with pytest.raises(InvalidInput) as wrong:
        await house.cairn.pipelines.reorder(pipeline, ["goals", "goals", "else"], by=ADMIN)
    assert wrong.value.errors == (
        ("/checkpoint_order", "Name every checkpoint once (unknown: else; missing: design; one is named twice)."),
    )
    assert (house.cairn.reading.pipeline(pipeline).revision, house.disk(pipeline)) == (1, before)


async def test_a_deleted_pipeline_lies_in_the_archive_and_comes_back_as_it_was(house: House) -> None:
    pipeline = await house.pipeline(step("goals"))
    run = await house.done(pipeline)
    await house.until_quiet()
    note = house.root(pipeline) / "notes.txt"
    note.write_text("mine")
    before = house.disk(pipeline)
    location = await house.cairn.pipelines.delete(pipeline, by=ADMIN)
    assert plain(location) == ".archived/UUID_TIME"
    assert not house.root(pipeline).exists()
    assert (house.folder / "pipelines" / location / "notes.txt").read_text() == "mine"
    for command in (
        house.start(pipeline),
        house.cairn.runs.restart(run, by=ADMIN),
        house.cairn.pipelines.update(pipeline, {"pipeline_name": "x"}, by=ADMIN),
        house.cairn.pipelines.delete(pipeline, by=ADMIN),
    ):
        with pytest.raises(CommandRefused) as refused:
            await command
        assert refused.value.possible == (mentions("restore"),)
    await house.cairn.pipelines.restore(pipeline, by=ADMIN)
    assert house.disk(pipeline) == before
    with pytest.raises(CommandRefused):
        await house.cairn.pipelines.restore(pipeline, by=ADMIN)
    assert house.run(await house.done(pipeline)).run_version == 2
    assert [event.event_type for event in house.events(pipeline_id=pipeline) if event.run_id is None] == [
        "pipeline_created",
        "pipeline_deleted",
        "pipeline_restored",
    ]


async def test_what_starts_while_a_pipeline_comes_back_waits_for_its_folder(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of Cairn in the way are not taken for files of a user."""
    pipeline = await house.pipeline(form("goals"))
    earlier = await house.start(pipeline)
    await house.fill(earlier, "goals", goals="More")
    await house.until_run(earlier, "completed")
    await house.cairn.pipelines.delete(pipeline, by=ADMIN)
    bring_back = Tree.restore_pipeline
    begun, go_on = threading.Event(), threading.Event()

    def slowly(tree: Tree, pipeline_id: str, location: str) -> None:
        begun.set()
        assert go_on.wait(10)
        bring_back(tree, pipeline_id, location)

    monkeypatch.setattr(Tree, "restore_pipeline", slowly)
    restored = asyncio.create_task(house.cairn.pipelines.restore(pipeline, by=ADMIN))
    new = asyncio.create_task(house.start(pipeline))  # the next in line
    assert await asyncio.to_thread(begun.wait, 10)
    again = asyncio.create_task(house.cairn.runs.restart(earlier, by=ADMIN))
    await asyncio.sleep(0.1)
    go_on.set()
    await asyncio.gather(restored, new, again)
    await house.until_quiet()
    assert [path for path in house.names(pipeline) if "drift" in path] == []
    for run in (earlier, new.result()):
        (waiting,) = [e for e in house.executions(run) if e.status == "in_progress"]
        assert (house.root(pipeline) / ".temp" / f"exec_{waiting.execution_id}" / "workspace").is_dir()
    assert (await house.mend()).is_clean


async def test_a_repair_waits_for_a_pipeline_that_is_being_deleted(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is archived with everything that its runs left."""
    pipeline = await house.pipeline(form("goals"))
    run = await house.start(pipeline)
    execution = (await house.until_execution(run, "goals", "in_progress")).execution_id
    move, begun, go_on = Tree.move_to_errored, threading.Event(), threading.Event()

    def slowly(*what: Any) -> str:
        begun.set()
        assert go_on.wait(10)
        return move(*what)

    monkeypatch.setattr(Tree, "move_to_errored", slowly)
    deleted = asyncio.create_task(house.cairn.pipelines.delete(pipeline, force=True, by=ADMIN))
    assert await asyncio.to_thread(begun.wait, 10)
    repaired = asyncio.create_task(house.cairn.keeper.mend_unfinished())
    await asyncio.sleep(0.1)
    assert not repaired.done()
    go_on.set()
    await asyncio.gather(deleted, repaired)
    assert not house.root(pipeline).exists()
    await house.cairn.pipelines.restore(pipeline, by=ADMIN)
    assert [path for path in house.names(pipeline) if "drift" in path] == []
    assert [path.name for path in house.root(pipeline).glob(f".errored/exec_{execution}_*/workspace")] == ["workspace"]


async def test_deleting_stops_what_is_at_work_only_when_told_to(house: House) -> None:
    stopped = asyncio.Event()

    @house.does("hang")
    async def hang(ctx: object) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    pipeline = await house.pipeline(step("goals", "hang"))
    run = await house.start(pipeline)
    await house.until_execution(run, "goals", "in_progress")
    with pytest.raises(CommandRefused, match=r"\b1\b"):
        await house.cairn.pipelines.delete(pipeline, by=ADMIN)
    await house.cairn.pipelines.delete(pipeline, force=True, by=ADMIN)
    assert stopped.is_set()
    assert house.run(run).status == "cancelled"
    assert not house.root(pipeline).exists()


async def test_runs_that_start_while_the_definition_changes_belong_to_one_of_the_two(house: House) -> None:
    pipeline = await house.pipeline(step("goals"))
    for round_ in range(3):
        started = [asyncio.create_task(house.start(pipeline)) for _ in range(4)]
        change = asyncio.create_task(
            house.cairn.pipelines.add_checkpoint(pipeline, step(f"more_{round_}"), force=True, by=ADMIN)
        )
        late = [asyncio.create_task(house.start(pipeline)) for _ in range(4)]
        runs = await asyncio.gather(*started, *late)
        await change
        for run in runs:
            await house.until_run(run, "completed", "cancelled")
    await house.until_quiet()
    # What always holds is looked at after the test: every file is where its row says.
    for run in house.cairn.reading.pipeline_runs(pipeline, RunFilter(None, (), 2, False, False), 50, None).items:
        for artifact in house.artifacts(run.run_id):
            assert (house.root(pipeline) / artifact.file_path).is_file(), artifact.file_path
