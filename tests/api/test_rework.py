"""Rework, reruns and lineage over HTTP."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.api.app import App, Json, form
from tests.mentions import mentions

pytestmark = pytest.mark.asyncio(loop_scope="module")
NOBODY = "00000000-0000-0000-0000-000000000000"
READS = {"inputs": {"include_checkpoint_outputs": [{"checkpoint_id": "goals"}]}}


async def completed(app: App) -> Json:
    """Complete a run with goals and a design derived from them."""
    pipeline = await app.pipeline(form("goals"), form("design", **READS), config={"auto_advance": True})
    run = await app.run(pipeline)
    await app.submit_form(run, 0, goals="grow")
    await app.submit_form(run, 1, design="blue")
    return await app.get(f"/api/runs/{run['run_id']}")


async def test_rework_redoes_the_work_and_reruns_stale_executions(app: App) -> None:
    run = await completed(app)
    goals, design = run["checkpoints"]
    path = f"/api/executions/{design['execution_id']}/rework"
    body = {"checkpoint": "goals", "prompt": "Name the market.", "reason": "It is too vague."}
    shown = await app.post(f"{path}/preview", body)
    assert (shown["execution_id"], shown["reopens_run"], shown["requester_waits"], shown["start_mode"]) == (
        goals["execution_id"],
        True,
        False,
        "immediately",
    )
    assert [execution["checkpoint_name"] for execution in shown["stale_executions"]] == ["Design"]
    assert (await app.get(f"/api/runs/{run['run_id']}"))["status"] == "completed"

    key = {"Idempotency-Key": str(uuid4())}
    created = await app.client.post(path, json=body, headers=key)
    assert created.status_code == 201, created.text
    rework = created.json()
    assert created.headers["location"] == f"/api/executions/{rework['execution_id']}"
    assert (rework["parent_execution_id"], rework["regression_context"]) == (
        design["execution_id"],
        {
            "reason": "It is too vague.",
            "prompt": "Name the market.",
            "requested_by": "admin",
            "requested_by_execution_id": design["execution_id"],
        },
    )
    again = await app.client.post(path, json=body, headers=key)
    assert (again.status_code, again.json()["execution_id"]) == (201, rework["execution_id"])

    await app.submit_form(run, 0, goals="grow in Europe")
    after = await app.get(f"/api/runs/{run['run_id']}")
    assert (after["status"], [(item["is_rework"], item["is_stale"]) for item in after["checkpoints"]]) == (
        "completed",
        [(True, False), (False, True)],
    )
    first = await app.get(f"/api/executions/{goals['execution_id']}")
    assert first["superseded_by"] == rework["execution_id"]
    (old,) = first["artifacts_generated"]
    assert old["superseded_at"] is not None
    assert f"/superseded/{goals['execution_id']}/" in old["file_path"]
    assert (await app.client.get(f"/api/artifacts/{old['artifact_record_id']}/download")).status_code == 200
    listed = await app.get("/api/artifacts/list", execution_id=goals["execution_id"])
    assert [artifact["artifact_record_id"] for artifact in listed["items"]] == [old["artifact_record_id"]]

    lineage = await app.get(f"/api/runs/{run['run_id']}/lineage")
    assert [
        (edge["producer_checkpoint"], edge["consumer_checkpoint"], edge["is_stale"]) for edge in lineage["flow"]
    ] == [
        ("goals", "design", True),
        ("goals", "goals", False),  # the rework sees the earlier result
        ("design", "goals", False),
    ]
    assert [(rework["requested_by"], rework["depth"], rework["status"]) for rework in lineage["reworks"]] == [
        ("admin", 1, "completed")
    ]

    redone = await app.post(f"/api/executions/{design['execution_id']}/rerun", status=201)
    assert (redone["parent_execution_id"], redone["checkpoint_key"]) == (None, "design")
    await app.submit_form(run, 1, design="blue and yellow")
    assert [item["is_stale"] for item in (await app.get(f"/api/runs/{run['run_id']}"))["checkpoints"]] == [False, False]


async def test_impossible_rework_is_rejected_with_a_reason(app: App) -> None:
    run = await completed(app)
    goals, design = (item["execution_id"] for item in run["checkpoints"])

    async def problem(status: int, execution: str, body: Json, kind: str = "rework") -> Json:
        return await app.post(f"/api/executions/{execution}/{kind}", body, status=status)

    assert (await problem(404, NOBODY, {"checkpoint": "goals"}))["type"] == "urn:cairn:problem:not-found"
    refusal = await problem(422, design, {"checkpoint": "nowhere"})
    assert refusal["errors"] == [{"path": "/checkpoint", "message": mentions("'nowhere'", "goals, design")}]
    assert "checkpoint" in str((await problem(422, design, {}))["errors"])
    assert (await problem(422, design, {"checkpoint": "goals", "by": "somebody"}))["status"] == 422
    for execution, body, kind in (
        (goals, {"checkpoint": "goals"}, "rework"),
        (goals, {"checkpoint": "design"}, "rework/preview"),
        (design, {}, "rerun"),
    ):
        assert (await problem(409, execution, body, kind))["type"] == "urn:cairn:problem:conflict"
    assert (await app.client.get(f"/api/runs/{NOBODY}/lineage")).status_code == 404
    assert "rework" in (await app.get(f"/api/executions/{design}"))["available_commands"]
    assert "rework" not in (await app.get(f"/api/executions/{goals}"))["available_commands"]
