"""Commits stand when the disk fails: the response warns, and the files are repaired later."""

from __future__ import annotations

import errno
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import pytest

from cairn.files import Tree
from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from cairn.services.folders.recovery import FileRecovery
from tests.mentions import mentions
from tests.services.house import House, form, retries, step

pytestmark = pytest.mark.asyncio(loop_scope="package")
NO_SPACE = "[Errno 28] No space left on device"


@contextmanager
def failing(house: House, *methods: str, error: Exception | None = None) -> Generator[list[str], None, None]:
    """These operations on the tree do not succeed meanwhile; the answer is which were called."""
    tree: Tree = house.cairn.keeper._tree  # pyright: ignore[reportPrivateUsage]
    called: list[str] = []

    def broken(name: str) -> Callable[..., Any]:
        def fail(*_: Any, **__: Any) -> Any:
            called.append(name)
            raise error or OSError(errno.ENOSPC, "No space left on device")

        return fail

    for name in methods:
        setattr(tree, name, broken(name))
    try:
        yield called
    finally:
        for name in methods:
            delattr(tree, name)


def left(house: House) -> set[str]:
    return house.cairn.database.read(house.cairn.folder_sync.failed_pipelines)


async def mended(house: House, pipeline: str) -> None:
    """The worker's own loop does this every few seconds."""
    await house.until_quiet()
    await house.cairn.keeper.mend_failed()
    assert left(house) == set()
    drift = house.cairn.keeper.look(pipeline)
    assert drift.is_clean, drift
    assert not list(house.root(pipeline).glob(".archived/drift_*")), "nothing of Cairn's own is taken for a user's"


EVERY = ("make_workspace", "promote", "stage", "write_run_info", "point_latest", "drop_workspace", "move_to_errored")


@pytest.mark.parametrize(
    "methods", [("promote",), ("make_workspace",), ("write_run_info",), ("drop_workspace",), EVERY]
)
async def test_a_run_goes_to_its_end_while_the_disk_is_full(house: House, methods: tuple[str, ...]) -> None:
    pipeline = await house.pipeline(step("goals"), step("design", approve="complete"), step("end"))
    with failing(house, *methods) as called:
        begun = await house.cairn.runs.start(pipeline, by=ADMIN)
        await house.decide(begun.run_id, "design", "approve")
        await house.until_run(begun.run_id, "completed")
        await house.until_quiet()
        assert called
    assert len(house.artifacts(begun.run_id)) == 3
    if methods == EVERY:
        assert begun.warnings == (mentions(NO_SPACE),) * len(begun.warnings)
        assert begun.warnings
    await mended(house, pipeline)
    assert len([path for path in house.disk(pipeline) if path.startswith("runs/v1/c")]) == 3


async def test_the_caller_is_warned_and_the_decision_counts(house: House) -> None:
    pipeline = await house.pipeline(step("goals", approve="complete"))
    run = await house.start(pipeline)
    await house.until_execution(run, "goals", "waiting_approval_to_complete")
    await house.until_quiet()
    with failing(house, "promote"):
        decided = await house.decide(run, "goals", "approve")
    assert decided.warnings == [mentions(NO_SPACE)]
    assert house.run(run).status == "completed"
    await mended(house, pipeline)


async def test_a_failed_workspace_is_kept_once_the_disk_is_back(house: House) -> None:
    """With its files, its error and its log."""

    @house.does("fails")
    async def fails(ctx: Ctx) -> None:
        (ctx.workspace / "half.txt").write_text("half")
        ctx.log("on the way")
        raise ValueError("no")

    pipeline = await house.pipeline(step("goals", "fails"))
    with failing(house, "move_to_errored", "write_run_info"):
        run = await house.start(pipeline)
        await house.until_run(run, "paused")
        await house.until_quiet()
    await mended(house, pipeline)
    assert house.names(pipeline, ".errored") == [
        ".errored/exec_UUID_TIME/error_info.json",
        ".errored/exec_UUID_TIME/error_logs.txt",
        ".errored/exec_UUID_TIME/failed_artifacts/",
        ".errored/exec_UUID_TIME/workspace/half.txt",
    ]
    folder = next((house.root(pipeline) / ".errored").iterdir())
    assert (folder / "error_logs.txt").read_text().endswith("info on the way\n")


async def test_a_staged_result_can_be_looked_at_once_the_disk_is_back(house: House) -> None:
    pipeline = await house.pipeline(step("goals", approve="complete"))
    with failing(house, "stage"):
        run = await house.start(pipeline)
        await house.until_execution(run, "goals", "waiting_approval_to_complete")
        await house.until_quiet()
    await mended(house, pipeline)
    assert len([path for path in house.disk(pipeline) if "artifacts_staging/goals" in path]) == 1
    await house.decide(run, "goals", "approve")
    await house.until_run(run, "completed")


async def test_rollback_and_undo(house: House) -> None:
    pipeline = await house.pipeline(step("goals"), form("more"), form("end"))
    run = await house.start(pipeline)
    await house.fill(run, "more", more="yes")
    await house.until_execution(run, "end", "in_progress")
    await house.until_quiet()
    before = house.names(pipeline, "runs/v1/c")
    with failing(house, "archive", "move_to_errored"):
        rollback = await house.roll_back(run, 0)
    assert house.run(run).status == "in_progress"
    await mended(house, pipeline)
    assert house.names(pipeline, ".archived") == [
        ".archived/rollback_UUID_TIME/archived_data/v1_checkpoint_1/outputs/more_ID_v1.json",
        ".archived/rollback_UUID_TIME/rollback_metadata.json",
    ]
    with failing(house, "unarchive"):
        warnings = await house.cairn.rollbacks.undo(rollback, by=ADMIN)
    assert len(warnings) == 1
    await mended(house, pipeline)
    assert house.names(pipeline, "runs/v1/c") == before
    await house.cairn.runs.cancel(run, by=ADMIN)


async def test_the_next_pass(house: House) -> None:
    pipeline = await house.pipeline(step("goals"), form("more"))
    run = await house.start(pipeline)
    await house.until_execution(run, "more", "in_progress")
    await house.until_quiet()
    with failing(house, "set_pass_aside"):
        await house.cairn.runs.restart(run, by=ADMIN)
    await house.until_execution(run, "more", "in_progress")
    await mended(house, pipeline)
    assert house.names(pipeline, "runs/v1/passes") == ["runs/v1/passes/1/checkpoint_0_goals/outputs/goals_ID_v1.json"]
    await house.cairn.runs.cancel(run, by=ADMIN)


async def test_definitions(house: House) -> None:
    with failing(house, "make_pipeline"):
        saved = await house.cairn.pipelines.create({"pipeline_name": "Full", "checkpoints": [step("goals")]}, by=ADMIN)
    pipeline = saved.pipeline_id
    house.made.append(pipeline)
    assert [finding.message for finding in saved.warnings] == [mentions(NO_SPACE)]
    await mended(house, pipeline)
    with failing(house, "write_definition"):
        for n in range(3):
            saved = await house.cairn.pipelines.update(pipeline, {"pipeline_description": f"d{n}"}, by=ADMIN)
            assert len(saved.warnings) == 1
    await mended(house, pipeline)
    run = await house.done(pipeline)
    await house.until_quiet()
    with failing(house, "archive_definition_runs"):
        await house.cairn.pipelines.add_checkpoint(pipeline, step("design"), by=ADMIN)
    await mended(house, pipeline)
    assert house.names(pipeline, ".archived") == [
        ".archived/definition_v1_TIME/runs/latest",
        ".archived/definition_v1_TIME/runs/v1/checkpoint_0_goals/outputs/goals_ID_v1.json",
        ".archived/definition_v1_TIME/runs/v1/run_info.json",
    ]
    for artifact in house.artifacts(run):
        assert (house.root(pipeline) / artifact.file_path).is_file()


async def test_deleting_and_restoring(house: House) -> None:
    pipeline = await house.pipeline(step("goals"))
    await house.done(pipeline)
    await house.until_quiet()
    before = house.disk(pipeline)
    with failing(house, "archive_pipeline"):
        location = await house.cairn.pipelines.delete(pipeline, by=ADMIN)
    assert house.root(pipeline).exists()
    await house.cairn.keeper.mend_failed()
    assert not house.root(pipeline).exists()
    assert (house.folder / "pipelines" / location).is_dir()
    with failing(house, "restore_pipeline"):
        await house.cairn.pipelines.restore(pipeline, by=ADMIN)
    await mended(house, pipeline)
    assert house.disk(pipeline) == before


async def test_an_archive_that_cannot_be_read_is_told_of_and_keeps_nothing_from_being_tried_again(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    pipeline = await house.pipeline(step("goals"))
    with failing(house, "promote"):
        await house.done(pipeline)
        await house.until_quiet()

    def refuse(_: FileRecovery) -> list[str]:
        raise PermissionError(errno.EACCES, "Permission denied", ".archived")

    with monkeypatch.context() as patched:
        patched.setattr(FileRecovery, "_archive", refuse)
        await house.cairn.keeper.mend_unfinished()
    assert "[Errno 13] Permission denied" in caplog.text
    assert pipeline in left(house)  # with others of the house that have not been written down as filed
    await mended(house, pipeline)


async def test_while_it_fails_it_is_tried_again_and_nothing_is_lost(house: House) -> None:
    pipeline = await house.pipeline(step("goals"))
    with failing(house, "promote", "repair", "write_run_info"):
        run = await house.start(pipeline)
        await house.until_run(run, "completed")
        await house.until_quiet()
        for _ in range(2):
            await house.cairn.keeper.mend_failed()
        assert left(house) == {pipeline}
    await mended(house, pipeline)


async def test_whatever_it_raises(house: House) -> None:
    """Not only the disk: a fault of Cairn's own leaves no run without a driver either."""
    pipeline = await house.pipeline(step("goals"), step("design", execution=retries(1)))
    with failing(house, "promote", error=RuntimeError("a fault of ours")):
        run = await house.start(pipeline)
        await house.until_run(run, "completed")
    await mended(house, pipeline)
