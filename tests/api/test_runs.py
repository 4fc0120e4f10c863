"""Runs over HTTP: create, control, read."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.app import App, Json, form
from tests.mentions import mentions

pytestmark = pytest.mark.asyncio(loop_scope="module")
NOBODY = "00000000-0000-0000-0000-000000000000"
HARD = '{"big": 123456789012345678901234567890, "one": 1.0, "none": null, "empty": [{}, [], ""], "text": "größer 🚀"}'


async def test_a_run_completes(app: App) -> None:
    pipeline = await app.pipeline(form("goals"), form("design"), config={"auto_advance": True})
    run = await app.run(pipeline)
    assert (run["run_version"], run["status"], run["metadata"]["total_checkpoints"]) == (1, "in_progress", 2)
    assert [(item["key"], item["status"]) for item in run["checkpoints"]] == [
        ("goals", "in_progress"),
        ("design", "upcoming"),
    ]
    assert run["progress"]["current"] == ["Goals"]
    done = await app.submit_form(run, 0, goals="grow")
    assert (done["status"], done["available_commands"]) == ("completed", [])
    await app.submit_form(run, 1, design="blue")
    over = await app.get(f"/api/runs/{run['run_id']}")
    assert (over["status"], over["metadata"]["completed_checkpoints"], over["progress"]["current"]) == (
        "completed",
        2,
        [],
    )
    assert [item["artifact_count"] for item in over["checkpoints"]] == [1, 1]
    assert over["available_commands"] == ["retry", "roll back", "restart"]
    assert over["checkpoint_execution_history"] == [item["execution_id"] for item in over["checkpoints"]]


async def test_the_next_run_is_based_on_the_last_and_estimated_from_it(app: App) -> None:
    pipeline = await app.pipeline()
    first = await app.run(pipeline)
    assert first["progress"]["estimated_seconds_left"] is None
    await app.submit_form(first, goals="grow")
    second = await app.run(pipeline)
    assert (second["run_version"], second["previous_run_id"], second["extends_from_run_version"]) == (
        2,
        first["run_id"],
        1,
    )
    assert second["progress"]["estimated_seconds_left"] >= 0.0


async def test_the_input_is_returned_with_all_digits(app: App) -> None:
    """Integers beyond 2^53, floats, null, empty values and Unicode."""
    pipeline = await app.pipeline()
    body = f'{{"pipeline_id": "{pipeline["pipeline_id"]}", "input": {HARD}}}'
    created = await app.client.post("/api/runs", content=body, headers={"Content-Type": "application/json"})
    assert created.status_code == 201, created.text
    run = created.json()
    assert created.headers["location"] == f"/api/runs/{run['run_id']}"
    response = await app.client.get(f"/api/runs/{run['run_id']}/input")
    assert response.headers["content-type"] == "application/json"
    assert response.text.replace(" ", "") == HARD.replace(" ", "")
    again = await app.post(f"/api/runs/{run['run_id']}/retry", status=201)
    assert (again["run_version"], again["previous_run_id"]) == (2, run["run_id"])
    assert (await app.client.get(f"/api/runs/{again['run_id']}/input")).text == response.text
    without = await app.run(pipeline)
    assert (await app.client.get(f"/api/runs/{without['run_id']}/input")).text == "null"


async def test_invalid_input_is_located(app: App) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    pipeline = await app.pipeline(input_schema=schema)
    problem = await app.post("/api/runs", {"pipeline_id": pipeline["pipeline_id"], "input": {"n": "x"}}, 422)
    assert [error["path"] for error in problem["errors"]] == ["/input/n"]
    assert (await app.get("/api/runs", pipeline_id=pipeline["pipeline_id"]))["items"] == []


async def test_pause_resume_cancel_restart(app: App) -> None:
    run = await app.run(await app.pipeline())
    path = f"/api/runs/{run['run_id']}"
    assert run["available_commands"] == ["pause", "cancel", "roll back", "restart"]
    paused = await app.post(f"{path}/pause")
    assert (paused["status"], paused["available_commands"]) == ("paused", ["resume", "cancel", "roll back", "restart"])
    twice = await app.post(f"{path}/pause", status=409)
    assert twice["detail"] == mentions("paused")
    assert "resume" in twice["suggestions"]
    assert (await app.post(f"{path}/resume"))["status"] == "in_progress"
    second = await app.post(f"{path}/restart", {"pass_number": 1})
    assert (second["pass_number"], second["restart_count"]) == (2, 1)
    repeated = await app.post(f"{path}/restart", {"pass_number": 1})
    assert (repeated["pass_number"], repeated["restart_count"]) == (2, 1)  # the response shows the result
    cancelled = await app.post(f"{path}/cancel")
    assert (cancelled["status"], cancelled["available_commands"]) == ("cancelled", ["retry", "roll back"])
    assert (await app.post(f"{path}/cancel", status=409))["suggestions"] == ["roll back"]


async def test_a_run_can_be_created_without_starting_it(app: App) -> None:
    run = await app.run(await app.pipeline(), start=False, original_prompt="Think big")
    assert (run["status"], run["available_commands"], run["original_prompt"]) == (
        "not_started",
        ["start", "cancel"],
        "Think big",
    )
    assert (await app.post(f"/api/runs/{run['run_id']}/start"))["status"] == "in_progress"
    assert "start" not in (await app.post(f"/api/runs/{run['run_id']}/start", status=409))["suggestions"]


async def test_test_runs_have_no_version_and_are_listed_on_request(app: App) -> None:
    pipeline = await app.pipeline()
    run = await app.run(pipeline, test=True)
    assert (run["run_version"], run["test"]) == (None, True)
    path = f"/api/pipelines/{pipeline['pipeline_id']}/runs"
    assert (await app.get(path))["items"] == []
    assert [r["run_id"] for r in (await app.get(path, include_tests=True))["items"]] == [run["run_id"]]


@pytest.mark.parametrize("name", [NOBODY, "7", "x" * 300, "%00", NOBODY.upper().replace("0", "A")])
async def test_unknown_runs_are_not_found(app: App, name: str) -> None:
    for path in (
        f"/api/runs/{name}",
        f"/api/runs/{name}/checkpoints",
        f"/api/runs/{name}/input",
        f"/api/runs/{name}/stream",
    ):
        response = await app.client.get(path)
        assert (response.status_code, response.json()["type"]) == (404, "urn:cairn:problem:not-found"), path
    for verb in ("start", "pause", "resume", "cancel", "retry", "restart"):
        assert (await app.client.post(f"/api/runs/{name}/{verb}")).status_code == 404, verb


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        ({}, ["/pipeline_id"]),
        ({"pipeline_id": 7}, ["/pipeline_id"]),
        ({"pipeline_id": "7"}, ["/pipeline_id"]),
        ({"pipeline_id": NOBODY, "start": "yes"}, ["/start"]),
        ({"pipeline_id": NOBODY, "input": 1, "nonsense": 1, "test": 1}, ["/test", "/nonsense"]),
        ({"pipeline_id": NOBODY, "original_prompt": "a\0b"}, ["/original_prompt"]),
        ([], [""]),
    ],
)
async def test_invalid_bodies_are_reported_with_pointers(app: App, body: Any, paths: list[str]) -> None:
    problem = await app.post("/api/runs", body, 422)
    assert [error["path"] for error in problem["errors"]] == paths


async def test_a_missing_or_empty_pipeline_starts_no_run(app: App) -> None:
    assert (await app.post("/api/runs", {"pipeline_id": NOBODY}, 404))["detail"] == mentions(NOBODY)
    empty = await app.post("/api/pipelines", {"pipeline_name": "Empty"}, 201)
    problem = await app.post("/api/runs", {"pipeline_id": empty["pipeline_id"]}, 409)
    assert len(problem["suggestions"]) == 1


async def test_invalid_json_bodies_are_located(app: App) -> None:
    json_type = {"Content-Type": "application/json"}
    broken = await app.client.post("/api/runs", content='{"pipeline_id":\n  nope}', headers=json_type)
    assert (broken.status_code, broken.json()["errors"][0]["line"]) == (400, 2)
    twice = await app.client.post("/api/runs", content='{"start": true, "start": false}', headers=json_type)
    assert (twice.status_code, twice.json()["errors"][0]["message"]) == (400, mentions("'start'"))
    nan = await app.client.post("/api/runs", content='{"input": NaN}', headers=json_type)
    assert nan.status_code == 400
    assert (await app.client.post("/api/runs", content="a: b", headers={"Content-Type": "text/csv"})).status_code == 415
    assert (await app.client.post("/api/runs", content=b"", headers=json_type)).status_code == 422


async def test_a_body_over_the_limit_is_rejected(app: App) -> None:
    large = b'{"input": "' + b"x" * (17 * 1024 * 1024) + b'"}'
    response = await app.client.post("/api/runs", content=large, headers={"Content-Type": "application/json"})
    assert response.status_code == 413


async def test_runs_are_paged_newest_first(app: App) -> None:
    """With cursors, so new runs don't shift the pages."""
    pipeline = await app.pipeline()
    created = [(await app.run(pipeline))["run_id"] for _ in range(5)]
    path = f"/api/pipelines/{pipeline['pipeline_id']}/runs"
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page: Json = await app.get(path, limit=2, **({"cursor": cursor} if cursor else {}))
        seen += [run["run_id"] for run in page["items"]]
        if (cursor := page["next_cursor"]) is None:
            break
        if len(seen) == 2:
            await app.run(pipeline)  # created while paging
    assert seen == created[::-1]
    for wrong in ("nonsense", "WzFd", "bnVsbA", "é", "WyJ4IiwgInkiXQ"):
        response = await app.client.get(path, params={"cursor": wrong})
        assert (response.status_code, response.json()["errors"][0]["path"]) == (422, "?cursor"), wrong
    assert (await app.client.get(path, params={"limit": 501})).json()["errors"][0]["path"] == "?limit"


async def test_runs_are_filtered(app: App) -> None:
    pipeline = await app.pipeline()
    first, second = await app.run(pipeline), await app.run(pipeline)
    await app.post(f"/api/runs/{first['run_id']}/cancel")
    mine: dict[str, Any] = {"pipeline_id": pipeline["pipeline_id"]}
    listed = await app.get("/api/runs", **mine, status=["cancelled", "failed"])
    assert [run["run_id"] for run in listed["items"]] == [first["run_id"]]
    assert [run["pending_approval_count"] for run in (await app.get("/api/runs", **mine))["items"]] == [1, 0]
    assert (await app.get("/api/runs", **mine, definition_version=2))["items"] == []
    assert (await app.client.get("/api/runs", params={"status": "nonsense"})).status_code == 422
    pipeline_view = await app.get(f"/api/pipelines/{pipeline['pipeline_id']}")
    assert pipeline_view["latest_run"]["run_id"] == second["run_id"]


async def test_runs_of_earlier_definition_versions_are_listed_on_request(app: App) -> None:
    pipeline = await app.pipeline()
    run = await app.run(pipeline)
    await app.post(f"/api/runs/{run['run_id']}/cancel")
    path = f"/api/pipelines/{pipeline['pipeline_id']}"
    await app.post(f"{path}/checkpoints", form("design"), 201)
    assert (await app.get(f"{path}/runs"))["items"] == []
    assert [r["run_id"] for r in (await app.get(f"{path}/runs", definition_version=1))["items"]] == [run["run_id"]]
    assert (await app.client.get(f"/api/pipelines/{NOBODY}/runs")).status_code == 404
