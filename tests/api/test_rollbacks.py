"""Rollback over HTTP."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from tests.api.app import App, Json, form

pytestmark = pytest.mark.asyncio(loop_scope="module")
NOBODY = "00000000-0000-0000-0000-000000000000"


async def completed(app: App, pipeline: Json) -> Json:
    run = await app.run(pipeline)
    await app.submit_form(run, 0, goals="grow")
    await app.submit_form(run, 1, design="blue")
    return await app.get(f"/api/runs/{run['run_id']}")


async def two_steps(app: App) -> Json:
    return await app.pipeline(form("goals"), form("design"), config={"auto_advance": True})


def back_to(run: Json, position: int, **more: Any) -> Json:
    return {
        "rollback_type": "checkpoint_level",
        "source_run_id": run["run_id"],
        "target_checkpoint_position": position,
        **more,
    }


async def test_a_preview_shows_the_impact_and_changes_nothing(app: App) -> None:
    run = await completed(app, await two_steps(app))
    shown = await app.post("/api/rollback/preview", back_to(run, 0, user_reason="redo"))
    assert [e["checkpoint_name"] for e in shown["rolled_back_items"]["deleted_checkpoint_executions"]] == ["Design"]
    assert [a["artifact_name"] for a in shown["rolled_back_items"]["archived_artifacts"]] == ["design"]
    assert (shown["rollback_id"], shown["unaffected"], shown["resumes_with"]) == (
        None,
        {"checkpoints": 1, "artifacts": 1},
        {"checkpoint_name": "Design", "start_mode": "immediately"},
    )
    assert shown["size_bytes"] > 0
    assert (await app.get(f"/api/runs/{run['run_id']}"))["status"] == "completed"


async def test_a_preview_lists_stopped_executions_and_withdrawn_approvals(app: App) -> None:
    run = await app.run(await two_steps(app))
    await app.submit_form(run, goals="grow")
    await app.execution(run, 1)
    shown = await app.post("/api/rollback/preview", back_to(run, -1))
    assert [s["checkpoint_name"] for s in shown["stopped_executions"]] == ["Design"]
    assert [(w["kind"], w["checkpoint_name"]) for w in shown["withdrawn_approvals"]] == [("input", "Design")]
    assert shown["resumes_with"]["checkpoint_name"] == "Goals"


async def test_a_rollback_and_its_undo(app: App) -> None:
    run = await completed(app, await two_steps(app))
    created = await app.client.post("/api/rollback", json=back_to(run, 0, user_reason="redo"))
    assert created.status_code == 201, created.text
    rollback = created.json()
    assert created.headers["location"] == f"/api/rollback/{rollback['rollback_id']}"
    assert (rollback["user_reason"], rollback["created_by"], rollback["can_undo"]) == ("redo", "admin", True)
    again = await app.get(f"/api/runs/{run['run_id']}")
    assert (again["status"], [item["status"] for item in again["checkpoints"]]) == (
        "in_progress",
        ["completed", "in_progress"],
    )
    assert again["rollback_history"] == [rollback["rollback_id"]]
    assert await app.get(f"/api/rollback/{rollback['rollback_id']}") == rollback
    undone = await app.post(f"/api/rollback/{rollback['rollback_id']}/undo")
    assert (undone["undone_at"] is not None, undone["can_undo"]) == (True, False)
    assert (await app.get(f"/api/runs/{run['run_id']}"))["status"] == "completed"
    assert await app.post(f"/api/rollback/{rollback['rollback_id']}/undo") == undone


async def test_newer_work_prevents_an_undo(app: App) -> None:
    run = await completed(app, await two_steps(app))
    rollback = await app.post("/api/rollback", back_to(run, 0), 201)
    await app.submit_form(run, 1, design="red")
    assert (await app.get(f"/api/rollback/{rollback['rollback_id']}"))["can_undo"] is False
    problem = await app.post(f"/api/rollback/{rollback['rollback_id']}/undo", status=409)
    assert problem["type"] == "urn:cairn:problem:conflict"
    assert (await app.get(f"/api/rollback/{rollback['rollback_id']}"))["undone_at"] is None


async def test_a_repeated_rollback_counts_once(app: App) -> None:
    run = await completed(app, await two_steps(app))
    body = back_to(run, 0, rollback_id=str(uuid4()))
    first = await app.post("/api/rollback", body, 201)
    assert (first["rollback_id"], await app.post("/api/rollback", body, 201)) == (body["rollback_id"], first)
    listed = await app.get("/api/rollback", run_id=run["run_id"])
    assert [r["rollback_id"] for r in listed["items"]] == [body["rollback_id"]]


async def test_a_rollback_to_an_earlier_run_archives_the_later_ones(app: App) -> None:
    pipeline = await two_steps(app)
    first, second = await completed(app, pipeline), await completed(app, pipeline)
    body = {
        "rollback_type": "run_level",
        "source_run_id": second["run_id"],
        "target_run_id": first["run_id"],
        "target_checkpoint_id": first["checkpoints"][0]["checkpoint_id"],
    }
    shown = await app.post("/api/rollback/preview", body)
    assert shown["rolled_back_items"]["deleted_runs"] == [{"run_id": second["run_id"], "run_version": 2}]
    rollback = await app.post("/api/rollback", body, 201)
    listed = await app.get(f"/api/pipelines/{pipeline['pipeline_id']}/runs")
    assert [r["run_version"] for r in listed["items"]] == [1]
    everything = await app.get(f"/api/pipelines/{pipeline['pipeline_id']}/runs", include_archived=True)
    assert [r["archived_by"] for r in everything["items"]] == [rollback["rollback_id"], None]
    assert (await app.get(f"/api/runs/{second['run_id']}"))["available_commands"] == []
    assert len((await app.post(f"/api/runs/{second['run_id']}/restart", status=409))["suggestions"]) == 1
    for run in (first, second):
        assert len((await app.get("/api/rollback", run_id=run["run_id"]))["items"]) == 1
    artifacts = (await app.get("/api/artifacts/list", pipeline_id=pipeline["pipeline_id"]))["items"]
    assert [a["artifact_name"] for a in artifacts] == ["goals"]
    archived = await app.get(f"/api/runs/{first['run_id']}/checkpoints", include_archived=True)
    assert rollback["rollback_id"] in [e["archived_by"] for e in archived["items"]]


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"target_checkpoint_position": 7}, 409),
        ({"target_checkpoint_position": 1}, 409),  # it is the last checkpoint
        ({"target_checkpoint_position": -2}, 422),
        ({"target_checkpoint_position": None}, 422),
        ({"target_checkpoint_id": NOBODY}, 422),
        ({"target_checkpoint_position": None, "target_checkpoint_id": NOBODY}, 404),
        ({"rollback_type": "run_level"}, 422),
        ({"rollback_type": "sideways"}, 422),
        ({"source_run_id": NOBODY}, 404),
        ({"rollback_id": "mine"}, 422),
    ],
)
async def test_impossible_rollbacks_are_rejected(app: App, change: Json, status: int) -> None:
    run = await completed(app, await two_steps(app))
    body = back_to(run, 0) | change
    for path in ("/api/rollback/preview", "/api/rollback"):
        response = await app.client.post(path, json=body)
        assert (response.status_code, response.headers["content-type"]) == (status, "application/problem+json"), path
    assert (await app.get("/api/rollback", run_id=run["run_id"]))["items"] == []


async def test_unknown_rollbacks_are_not_found(app: App) -> None:
    assert (await app.client.get(f"/api/rollback/{NOBODY}")).status_code == 404
    assert (await app.client.post(f"/api/rollback/{NOBODY}/undo")).status_code == 404
