"""Names of files, and the folders after every kind of step."""

from __future__ import annotations

import json

import pytest

from cairn.services.actors import ADMIN
from tests.services.house import House, form, step

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_a_run_leaves_its_outputs_and_nothing_else(house: House) -> None:
    pipeline = await house.pipeline(step("goals"), step("design"))
    run = await house.done(pipeline)
    await house.until_quiet()
    assert house.names(pipeline) == [
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
    disk = house.disk(pipeline)
    assert disk["runs/latest"] == "-> v1"
    for artifact in house.artifacts(run):
        assert disk[artifact.file_path] == house.content(artifact) == b'{"value":1}'
        assert artifact.file_path.rpartition("/")[2] == f"{artifact.artifact_name}_{artifact.artifact_id[:8]}_v1.json"
    info = json.loads(disk["runs/v1/run_info.json"])
    assert (info["status"], len(info["executions"]), len(info["artifacts"])) == ("completed", 2, 2)


async def test_what_waits_for_approval_is_staged_and_promoted_when_it_is_given(house: House) -> None:
    pipeline = await house.pipeline(step("goals", approve="complete"), step("design"))
    run = await house.start(pipeline)
    execution = await house.until_execution(run, "goals", "waiting_approval_to_complete")
    await house.until_quiet()
    temp = f".temp/exec_{execution.execution_id}"
    artifact = execution.artifacts_generated[0]
    staged = f"{temp}/artifacts_staging/goals_{artifact.artifact_id[:8]}.json"
    assert artifact.file_path == staged
    disk = house.disk(pipeline)
    assert disk[staged] == b'{"value":1}'
    assert f"{temp}/workspace/" in disk
    assert not any(path.startswith("runs/v1/checkpoint") for path in disk)
    await house.decide(run, "goals", "approve")
    await house.until_run(run, "completed")
    await house.until_quiet()
    assert house.names(pipeline, "runs/v1/c") == [
        "runs/v1/checkpoint_0_goals/outputs/goals_ID_v1.json",
        "runs/v1/checkpoint_1_design/outputs/design_ID_v1.json",
    ]
    assert house.workspaces(pipeline) == set()


async def test_a_workspace_goes_when_the_next_one_starts(house: House) -> None:
    """The folders after every kind of step."""
    pipeline = await house.pipeline(form("goals"), form("design"), advance=False)
    run = await house.start(pipeline)
    goals = house.execution(run, "goals").execution_id
    assert house.workspaces(pipeline) == {goals}
    await house.fill(run, "goals", goals="grow")
    design = (await house.until_execution(run, "design", "pending")).execution_id
    await house.until_quiet()
    assert house.workspaces(pipeline) == {goals, design}  # it waits for a start
    await house.cairn.executions.start(design, by=ADMIN)
    assert house.workspaces(pipeline) == {design}
    await house.fill(run, "design", design="blue")
    await house.until_run(run, "completed")
    await house.until_quiet()
    assert house.workspaces(pipeline) == set()
