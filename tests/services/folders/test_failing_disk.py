"""Commits are kept when the disk fails. The response has a warning, and files are repaired later."""

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
from tests.services.app import App, form, retries, step

pytestmark = pytest.mark.asyncio(loop_scope="package")
NO_SPACE = "[Errno 28] No space left on device"


@contextmanager
def failing(app: App, *methods: str, error: Exception | None = None) -> Generator[list[str], None, None]:
    """Make these operations of the tree fail within the block. Yields the names of those called."""
    tree: Tree = app.cairn.folder_repair._tree  # pyright: ignore[reportPrivateUsage]
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


def failed_pipelines(app: App) -> set[str]:
    return app.cairn.database.read(app.cairn.folder_sync.failed_pipelines)


async def check_repaired(app: App, pipeline: str) -> None:
    """Repair as the worker does every few seconds, and check the folder."""
    await app.wait_until_idle()
    await app.cairn.folder_repair.repair_failed()
    assert failed_pipelines(app) == set()
    drift = app.cairn.folder_repair.find_drift(pipeline)
    assert drift.is_clean, drift
    assert not list(app.root(pipeline).glob(".archived/drift_*")), "Cairn's own files must not be treated as drift"


ALL_METHODS = (
    "create_workspace",
    "promote",
    "stage",
    "write_run_info",
    "update_latest_link",
    "delete_workspace",
    "move_to_errored",
)


@pytest.mark.parametrize(
    "methods", [("promote",), ("create_workspace",), ("write_run_info",), ("delete_workspace",), ALL_METHODS]
)
async def test_a_run_completes_while_the_disk_is_full(app: App, methods: tuple[str, ...]) -> None:
    pipeline = await app.pipeline(step("goals"), step("design", approve="complete"), step("end"))
    with failing(app, *methods) as called:
        created = await app.cairn.runs.create(pipeline, actor=ADMIN)
        await app.decide(created.run_id, "design", "approve")
        await app.wait_for_run(created.run_id, "completed")
        await app.wait_until_idle()
        assert called
    assert len(app.artifacts(created.run_id)) == 3
    if methods == ALL_METHODS:
        assert created.warnings == (mentions(NO_SPACE),) * len(created.warnings)
        assert created.warnings
    await check_repaired(app, pipeline)
    assert len([path for path in app.folder_contents(pipeline) if path.startswith("runs/v1/c")]) == 3


async def test_a_decision_counts_and_its_response_has_a_warning(app: App) -> None:
    pipeline = await app.pipeline(step("goals", approve="complete"))
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "goals", "waiting_approval_to_complete")
    await app.wait_until_idle()
    with failing(app, "promote"):
        decided = await app.decide(run, "goals", "approve")
    assert decided.warnings == [mentions(NO_SPACE)]
    assert app.run(run).status == "completed"
    await check_repaired(app, pipeline)


async def test_a_failed_workspace_is_stored_once_the_disk_works_again(app: App) -> None:
    """With files, error and log."""

    @app.function("fails")
    async def fails(ctx: Ctx) -> None:
        (ctx.workspace / "half.txt").write_text("half")
        ctx.log("on the way")
        raise ValueError("no")

    pipeline = await app.pipeline(step("goals", "fails"))
    with failing(app, "move_to_errored", "write_run_info"):
        run = await app.start(pipeline)
        await app.wait_for_run(run, "paused")
        await app.wait_until_idle()
    await check_repaired(app, pipeline)
    assert app.names(pipeline, ".errored") == [
        ".errored/exec_UUID_TIME/error_info.json",
        ".errored/exec_UUID_TIME/error_logs.txt",
        ".errored/exec_UUID_TIME/failed_artifacts/",
        ".errored/exec_UUID_TIME/workspace/half.txt",
    ]
    folder = next((app.root(pipeline) / ".errored").iterdir())
    assert (folder / "error_logs.txt").read_text().endswith("info on the way\n")


async def test_a_staged_result_is_stored_once_the_disk_works_again(app: App) -> None:
    pipeline = await app.pipeline(step("goals", approve="complete"))
    with failing(app, "stage"):
        run = await app.start(pipeline)
        await app.wait_for_execution(run, "goals", "waiting_approval_to_complete")
        await app.wait_until_idle()
    await check_repaired(app, pipeline)
    assert len([path for path in app.folder_contents(pipeline) if "artifacts_staging/goals" in path]) == 1
    await app.decide(run, "goals", "approve")
    await app.wait_for_run(run, "completed")


async def test_a_rollback_and_its_undo_are_repaired(app: App) -> None:
    pipeline = await app.pipeline(step("goals"), form("more"), form("end"))
    run = await app.start(pipeline)
    await app.submit_form(run, "more", more="yes")
    await app.wait_for_execution(run, "end", "in_progress")
    await app.wait_until_idle()
    before = app.names(pipeline, "runs/v1/c")
    with failing(app, "archive_rollback", "move_to_errored"):
        rollback = await app.roll_back(run, 0)
    assert app.run(run).status == "in_progress"
    await check_repaired(app, pipeline)
    assert app.names(pipeline, ".archived") == [
        ".archived/rollback_UUID_TIME/archived_data/v1_checkpoint_1/outputs/more_ID_v1.json",
        ".archived/rollback_UUID_TIME/rollback_metadata.json",
    ]
    with failing(app, "restore_rollback"):
        warnings = await app.cairn.rollbacks.undo(rollback, actor=ADMIN)
    assert len(warnings) == 1
    await check_repaired(app, pipeline)
    assert app.names(pipeline, "runs/v1/c") == before
    await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_archiving_a_pass_is_repaired(app: App) -> None:
    pipeline = await app.pipeline(step("goals"), form("more"))
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "more", "in_progress")
    await app.wait_until_idle()
    with failing(app, "archive_pass"):
        await app.cairn.runs.restart(run, actor=ADMIN)
    await app.wait_for_execution(run, "more", "in_progress")
    await check_repaired(app, pipeline)
    assert app.names(pipeline, "runs/v1/passes") == ["runs/v1/passes/1/checkpoint_0_goals/outputs/goals_ID_v1.json"]
    await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_definition_files_are_repaired(app: App) -> None:
    with failing(app, "create_pipeline"):
        saved = await app.cairn.pipelines.create({"pipeline_name": "Full", "checkpoints": [step("goals")]}, actor=ADMIN)
    pipeline = saved.pipeline_id
    app.pipeline_ids.append(pipeline)
    assert [finding.message for finding in saved.warnings] == [mentions(NO_SPACE)]
    await check_repaired(app, pipeline)
    with failing(app, "write_definition"):
        for n in range(3):
            saved = await app.cairn.pipelines.update(pipeline, {"pipeline_description": f"d{n}"}, actor=ADMIN)
            assert len(saved.warnings) == 1
    await check_repaired(app, pipeline)
    run = await app.run_to_completion(pipeline)
    await app.wait_until_idle()
    with failing(app, "archive_definition_runs"):
        await app.cairn.pipelines.add_checkpoint(pipeline, step("design"), actor=ADMIN)
    await check_repaired(app, pipeline)
    assert app.names(pipeline, ".archived") == [
        ".archived/definition_v1_TIME/runs/latest",
        ".archived/definition_v1_TIME/runs/v1/checkpoint_0_goals/outputs/goals_ID_v1.json",
        ".archived/definition_v1_TIME/runs/v1/run_info.json",
    ]
    for artifact in app.artifacts(run):
        assert (app.root(pipeline) / artifact.file_path).is_file()


async def test_deleting_and_restoring_a_pipeline_is_repaired(app: App) -> None:
    pipeline = await app.pipeline(step("goals"))
    await app.run_to_completion(pipeline)
    await app.wait_until_idle()
    before = app.folder_contents(pipeline)
    with failing(app, "archive_pipeline"):
        location = await app.cairn.pipelines.delete(pipeline, actor=ADMIN)
    assert app.root(pipeline).exists()
    await app.cairn.folder_repair.repair_failed()
    assert not app.root(pipeline).exists()
    assert (app.folder / "pipelines" / location).is_dir()
    with failing(app, "restore_pipeline"):
        await app.cairn.pipelines.restore(pipeline, actor=ADMIN)
    await check_repaired(app, pipeline)
    assert app.folder_contents(pipeline) == before


async def test_an_unreadable_archive_is_logged_and_does_not_prevent_repairs(
    app: App, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    pipeline = await app.pipeline(step("goals"))
    with failing(app, "promote"):
        await app.run_to_completion(pipeline)
        await app.wait_until_idle()

    def refuse(_: FileRecovery) -> list[str]:
        raise PermissionError(errno.EACCES, "Permission denied", ".archived")

    with monkeypatch.context() as patched:
        patched.setattr(FileRecovery, "_archived_folders", refuse)
        await app.cairn.folder_repair.repair_unfinished()
    assert "[Errno 13] Permission denied" in caplog.text
    assert pipeline in failed_pipelines(app)  # other unsynced pipelines of the app may be listed, too
    await check_repaired(app, pipeline)


async def test_a_failing_repair_is_retried_and_loses_nothing(app: App) -> None:
    pipeline = await app.pipeline(step("goals"))
    with failing(app, "promote", "repair", "write_run_info"):
        run = await app.start(pipeline)
        await app.wait_for_run(run, "completed")
        await app.wait_until_idle()
        for _ in range(2):
            await app.cairn.folder_repair.repair_failed()
        assert failed_pipelines(app) == {pipeline}
    await check_repaired(app, pipeline)


async def test_a_bug_in_file_operations_is_handled_like_a_failing_disk(app: App) -> None:
    """A run never stays without a driver, even after an unexpected error in Cairn."""
    pipeline = await app.pipeline(step("goals"), step("design", execution=retries(1)))
    with failing(app, "promote", error=RuntimeError("a bug")):
        run = await app.start(pipeline)
        await app.wait_for_run(run, "completed")
    await check_repaired(app, pipeline)
