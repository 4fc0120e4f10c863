"""Files replaced by a rework are kept, repaired, archived and restored."""

from __future__ import annotations

import pytest

from cairn.services.actors import ADMIN
from tests.services.app import App, form, step
from tests.services.rework_functions import code, requested_reworks, versioned_code

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_replaced_files_are_moved_to_superseded(app: App) -> None:
    """After any number of reworks. Their content stays readable."""
    versioned_code(app)
    pipeline = await app.pipeline(code(), step("test"))
    with requested_reworks(app) as runner:
        runner.request("test", "code")
        runner.request("test", "code")
        run = await app.run_to_completion(pipeline)
    await app.wait_until_idle()
    outputs = {path: content for path, content in app.folder_contents(pipeline).items() if "checkpoint_0" in path}
    versions = [e for e in app.executions(run) if e.checkpoint_key == "code"]
    (current,) = [path for path in outputs if "/outputs/" in path]
    name, folder = current.rpartition("/")[2], "runs/v1/checkpoint_0_code"
    assert outputs == {
        f"{folder}/outputs/{name}": b'{"version":3}',
        f"{folder}/superseded/{versions[0].execution_id}/{name}": b'{"version":1}',
        f"{folder}/superseded/{versions[1].execution_id}/{name}": b'{"version":2}',
    }
    for version in versions:
        (artifact,) = version.artifacts_generated
        assert app.content(artifact) == outputs[artifact.file_path]
    since = [version.artifacts_generated[0].superseded_at for version in versions]
    assert since == [versions[1].completed_at, versions[2].completed_at, None]
    assert [a.artifact_name for a in app.artifacts(run)] == ["code", "test"]


async def test_drift_of_superseded_files_is_repaired(app: App) -> None:
    """Missing, changed and added files in the folder are drift."""
    versioned_code(app)
    pipeline = await app.pipeline(code(), step("test"))
    with requested_reworks(app) as runner:
        runner.request("test", "code")
        runner.request("test", "code")
        run = await app.run_to_completion(pipeline)
    await app.wait_until_idle()
    before = {path: content for path, content in app.folder_contents(pipeline).items() if path.startswith("runs/v1/c")}
    first, second, _ = [e.artifacts_generated[0] for e in app.executions(run) if e.checkpoint_key == "code"]
    (app.root(pipeline) / first.file_path).unlink()
    (app.root(pipeline) / second.file_path).write_bytes(b"changed")
    (app.root(pipeline) / second.file_path).with_name("extra.txt").write_bytes(b"mine")
    assert not app.cairn.folder_repair.find_drift(pipeline).is_clean
    await app.repair()
    after = {path: content for path, content in app.folder_contents(pipeline).items() if path.startswith("runs/v1/c")}
    assert after == before
    kept = {content for path, content in app.folder_contents(pipeline).items() if path.startswith(".archived/drift_")}
    assert kept == {b"changed", b"mine"}


async def test_superseded_files_are_archived_with_their_pass(app: App) -> None:
    versioned_code(app)
    pipeline = await app.pipeline(code(), step("test"), form("end"))
    with requested_reworks(app) as runner:
        runner.request("test", "code")
        run = await app.start(pipeline)
        await app.wait_for_execution(run, "end", "in_progress")
    await app.cairn.runs.restart(run, actor=ADMIN)
    await app.wait_until(lambda: app.run(run).pass_number == 2 and app.statuses(run)["end"] == "in_progress")
    await app.wait_until_idle()
    assert app.names(pipeline, "runs/v1/") == [
        "runs/v1/checkpoint_0_code/outputs/code_ID_v1.json",
        "runs/v1/checkpoint_1_test/outputs/test_ID_v1.json",
        "runs/v1/passes/1/checkpoint_0_code/outputs/code_ID_v1.json",
        "runs/v1/passes/1/checkpoint_0_code/superseded/UUID/code_ID_v1.json",
        "runs/v1/passes/1/checkpoint_1_test/outputs/test_ID_v1.json",
        "runs/v1/run_info.json",
    ]
    await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_superseded_files_are_archived_by_a_rollback_and_restored_by_its_undo(app: App) -> None:
    """For reworked checkpoints, too."""
    versioned_code(app)
    pipeline = await app.pipeline(code(approve="start"), step("test"), form("end"))
    with requested_reworks(app) as runner:
        runner.request("test", "code")
        run = await app.start(pipeline)
        for count in (1, 3):
            await app.wait_until(lambda count=count: len(app.executions(run)) == count)
            await app.decide(run, "code", "approve")
        await app.wait_for_execution(run, "end", "in_progress")
    await app.wait_until_idle()

    def files_below(under: str) -> dict[str, bytes | str]:
        return {path: content for path, content in app.folder_contents(pipeline).items() if path.startswith(under)}

    before = files_below("runs/v1/checkpoint")
    assert len(before) == 3
    rollback = await app.roll_back(run, -1)
    await app.wait_until_idle()
    assert files_below("runs/v1/checkpoint") == {}
    assert [name for name in app.names(pipeline, ".archived") if "superseded" in name] == [
        ".archived/rollback_UUID_TIME/archived_data/v1_checkpoint_0/superseded/UUID/code_ID_v1.json"
    ]
    await app.cairn.rollbacks.undo(rollback, actor=ADMIN)
    await app.wait_until_idle()
    assert files_below("runs/v1/checkpoint") == before
    await app.cairn.runs.cancel(run, actor=ADMIN)
