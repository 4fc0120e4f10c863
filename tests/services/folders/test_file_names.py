"""File names, and folders after every kind of step."""

from __future__ import annotations

import json

import pytest

from cairn.services.actors import ADMIN
from tests.services.app import App, form, step

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_a_completed_run_has_only_its_outputs_on_disk(app: App) -> None:
    pipeline = await app.pipeline(step("goals"), step("design"))
    run = await app.run_to_completion(pipeline)
    await app.wait_until_idle()
    assert app.names(pipeline) == [
        ".archived/",
        ".errored/",
        ".pipeline_system/definitions/checkpoints/UUID.json",
        ".pipeline_system/definitions/pipeline.json",
        ".temp/",
        "runs/latest",
        "runs/v1/checkpoint_0_goals/outputs/goals_ID_v1.json",
        "runs/v1/checkpoint_1_design/outputs/design_ID_v1.json",
        "runs/v1/run_info.json",
    ]
    disk = app.folder_contents(pipeline)
    assert disk["runs/latest"] == "-> v1"
    for artifact in app.artifacts(run):
        assert disk[artifact.file_path] == app.content(artifact) == b'{"value":1}'
        assert artifact.file_path.rpartition("/")[2] == f"{artifact.artifact_name}_{artifact.artifact_id[:8]}_v1.json"
    info = json.loads(disk["runs/v1/run_info.json"])
    assert (info["status"], len(info["executions"]), len(info["artifacts"])) == ("completed", 2, 2)


async def test_a_result_is_staged_until_its_approval_and_then_promoted(app: App) -> None:
    pipeline = await app.pipeline(step("goals", approve="complete"), step("design"))
    run = await app.start(pipeline)
    execution = await app.wait_for_execution(run, "goals", "waiting_approval_to_complete")
    await app.wait_until_idle()
    temp = f".temp/exec_{execution.execution_id}"
    artifact = execution.artifacts_generated[0]
    staged = f"{temp}/artifacts_staging/goals_{artifact.artifact_id[:8]}.json"
    assert artifact.file_path == staged
    disk = app.folder_contents(pipeline)
    assert disk[staged] == b'{"value":1}'
    assert f"{temp}/workspace/" in disk
    assert not any(path.startswith("runs/v1/checkpoint") for path in disk)
    await app.decide(run, "goals", "approve")
    await app.wait_for_run(run, "completed")
    await app.wait_until_idle()
    assert app.names(pipeline, "runs/v1/c") == [
        "runs/v1/checkpoint_0_goals/outputs/goals_ID_v1.json",
        "runs/v1/checkpoint_1_design/outputs/design_ID_v1.json",
    ]
    assert app.workspaces(pipeline) == set()


async def test_a_workspace_is_deleted_when_the_next_checkpoint_starts(app: App) -> None:
    """The folders after every kind of step."""
    pipeline = await app.pipeline(form("goals"), form("design"), advance=False)
    run = await app.start(pipeline)
    goals = app.execution(run, "goals").execution_id
    assert app.workspaces(pipeline) == {goals}
    await app.submit_form(run, "goals", goals="grow")
    design = (await app.wait_for_execution(run, "design", "pending")).execution_id
    await app.wait_until_idle()
    assert app.workspaces(pipeline) == {goals, design}  # the next checkpoint waits for a manual start
    await app.cairn.executions.start(design, actor=ADMIN)
    assert app.workspaces(pipeline) == {design}
    await app.submit_form(run, "design", design="blue")
    await app.wait_for_run(run, "completed")
    await app.wait_until_idle()
    assert app.workspaces(pipeline) == set()
