"""Pipelines and their definitions over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.app import App, form
from tests.mentions import mentions

pytestmark = pytest.mark.asyncio(loop_scope="module")
NOBODY = "00000000-0000-0000-0000-000000000000"
YAML = """pipeline_name: From YAML
checkpoints:
  - key: goals
    checkpoint_name: Goals
    form: [goals]
  - key: design
    checkpoint_name: Design
    form: [design]
    needs: [goals]
"""
AS_YAML = {"Content-Type": "application/yaml"}


async def test_a_pipeline_is_returned_in_its_full_form(app: App) -> None:
    created = await app.client.post("/api/pipelines", json={"pipeline_name": "P", "checkpoints": [form("goals")]})
    pipeline = created.json()
    assert (created.status_code, created.headers["etag"]) == (201, '"1"')
    assert created.headers["location"] == f"/api/pipelines/{pipeline['pipeline_id']}"
    assert (pipeline["pipeline_definition_version"], pipeline["revision"], pipeline["warnings"]) == (1, 1, [])
    assert pipeline["checkpoint_order"] == [pipeline["checkpoints"][0]["checkpoint_id"]]
    checkpoint = pipeline["checkpoints"][0]
    assert checkpoint["execution"]["mode"] == "human_only"
    assert checkpoint["execution"]["human_only_config"]["input_fields"][0]["name"] == "goals"
    assert checkpoint["human_interaction"] == {
        "requires_approval_to_start": False,
        "requires_approval_to_complete": False,
        "max_revision_iterations": 3,
    }
    got = await app.client.get(f"/api/pipelines/{pipeline['pipeline_id']}")
    assert (got.headers["etag"], got.json()) == ('"1"', pipeline)


async def test_definitions_are_accepted_and_returned_as_yaml(app: App) -> None:
    """Applying a returned definition changes nothing."""
    created = await app.client.post("/api/pipelines", content=YAML, headers=AS_YAML)
    assert created.status_code == 201, created.text
    path = f"/api/pipelines/{created.json()['pipeline_id']}"
    text = await app.client.get(f"{path}/definition")
    assert (text.headers["content-type"], text.headers["etag"]) == ("application/yaml", '"1"')
    assert "needs:" in text.text
    again = await app.client.put(path, content=text.content, headers=AS_YAML)
    assert (again.status_code, again.json()["revision"]) == (200, 1)
    as_json = (await app.client.get(f"{path}/definition", params={"format": "json"})).json()
    assert [c["key"] for c in as_json["checkpoints"]] == ["goals", "design"]
    assert "pipeline_id" not in as_json


async def test_errors_have_their_location(app: App) -> None:
    """Line and column for YAML, and a JSON pointer for both YAML and JSON."""
    wrong = YAML.replace("needs: [goals]", "needs: [nobody]").replace("form: [goals]", "form: 7")
    response = await app.client.post("/api/pipelines", content=wrong, headers=AS_YAML)
    assert response.status_code == 422
    places = {error["path"]: error for error in response.json()["errors"]}
    assert {"/checkpoints/0/form", "/checkpoints/1/needs/0"} <= set(places)
    assert (places["/checkpoints/1/needs/0"]["line"], places["/checkpoints/0/form"]["line"]) == (9, 5)
    as_json = await app.post("/api/pipelines", {"pipeline_name": "", "checkpoints": {}}, 422)
    assert {error["path"] for error in as_json["errors"]} == {"/pipeline_name", "/checkpoints"}
    broken = await app.client.post("/api/pipelines", content="a: [1,\nb: 2", headers=AS_YAML)
    assert (broken.status_code, broken.json()["errors"][0]["line"]) == (400, 2)
    assert (
        await app.client.post("/api/pipelines", content="x", headers={"Content-Type": "text/plain"})
    ).status_code == 415
    for body in ("7", "[]", '"x"', "null"):
        sent = await app.client.post("/api/pipelines", content=body, headers={"Content-Type": "application/json"})
        assert sent.status_code == 422, body


async def test_a_definition_is_checked_without_being_saved(app: App) -> None:
    before = len((await app.get("/api/pipelines", limit=500))["items"])
    fine = await app.client.post("/api/definitions/validate", content=YAML, headers=AS_YAML)
    assert fine.json() == {"is_valid": True, "errors": [], "warnings": []}
    faulty = await app.client.post(
        "/api/definitions/validate", content=YAML.replace("key: design", "key: goals"), headers=AS_YAML
    )
    assert (faulty.status_code, faulty.json()["is_valid"]) == (200, False)
    assert all(finding["severity"] == "error" and finding["line"] for finding in faulty.json()["errors"])
    unreadable = await app.client.post("/api/definitions/validate", content="a: b: c", headers=AS_YAML)
    assert (unreadable.status_code, unreadable.json()["errors"][0]["line"]) == (200, 1)
    assert len((await app.get("/api/pipelines", limit=500))["items"]) == before


async def test_the_schema_and_the_templates_are_served(app: App) -> None:
    assert "checkpoints" in (await app.get("/api/definitions/schema"))["properties"]
    templates = (await app.get("/api/templates"))["items"]
    assert templates
    created = await app.post("/api/pipelines", {"template": templates[0]["name"]}, 201)
    assert created["pipeline_name"] == templates[0]["title"]
    unknown = await app.post("/api/pipelines", {"template": "nonsense"}, 422)
    assert unknown["errors"][0]["path"] == "/template"
    assert (await app.post("/api/pipelines", {"template": 7}, 422))["errors"][0]["path"] == "/template"


async def test_a_stale_etag_changes_nothing(app: App) -> None:
    pipeline = await app.pipeline()
    path = f"/api/pipelines/{pipeline['pipeline_id']}"
    first = await app.client.put(path, json={"pipeline_name": "One"}, headers={"If-Match": '"1"'})
    assert (first.status_code, first.headers["etag"], first.json()["pipeline_name"]) == (200, '"2"', "One")
    stale = await app.client.put(path, json={"pipeline_name": "Two"}, headers={"If-Match": '"1"'})
    assert (stale.status_code, stale.headers["etag"]) == (412, '"2"')
    assert (await app.get(path))["pipeline_name"] == "One"
    assert (await app.client.put(path, json={}, headers={"If-Match": "nonsense"})).status_code == 422
    assert (await app.client.put(path, json={"pipeline_name": "Any"}, headers={"If-Match": "*"})).status_code == 200


async def test_omitted_fields_keep_their_values(app: App) -> None:
    pipeline = await app.pipeline(form("goals"), pipeline_description="why")
    path = f"/api/pipelines/{pipeline['pipeline_id']}"
    changed = await app.put(path, {"pipeline_name": "Renamed"})
    assert (changed["pipeline_description"], changed["checkpoints"]) == ("why", pipeline["checkpoints"])
    assert (changed["pipeline_definition_version"], changed["revision"]) == (1, 2)
    replaced = await app.put(path, {"checkpoints": [form("design")]})
    assert ([c["key"] for c in replaced["checkpoints"]], replaced["pipeline_definition_version"]) == (["design"], 2)
    rejected = await app.put(path, replaced | {"pipeline_name": "Whole", "warnings": [], "latest_run": None}, 422)
    assert rejected["type"] == "urn:cairn:problem:invalid-definition"


async def test_revisions_are_listed_compared_and_reverted(app: App) -> None:
    pipeline = await app.pipeline()
    path = f"/api/pipelines/{pipeline['pipeline_id']}"
    await app.put(path, {"pipeline_name": "Renamed"})
    history = (await app.get(f"{path}/history"))["items"]
    assert [(h["revision"], h["created_by"]) for h in history] == [(2, "admin"), (1, "admin")]
    assert (await app.get(f"{path}/history/1"))["document"]["pipeline_name"] == "Journey"
    diff = await app.get(f"{path}/diff", **{"from": 1, "to": 2})
    assert diff["changes"] == [{"path": "/pipeline_name", "kind": "changed", "before": "Journey", "after": "Renamed"}]
    assert "+pipeline_name: Renamed" in diff["text"]
    reverted = await app.post(f"{path}/revert", {"revision": 1})
    assert (reverted["pipeline_name"], reverted["revision"]) == ("Journey", 3)
    for missing in (f"{path}/history/9", f"{path}/diff?from=1&to=9", f"/api/pipelines/{NOBODY}/history"):
        assert (await app.client.get(missing)).status_code == 404, missing
    assert (await app.client.post(f"{path}/revert", json={"revision": 9})).status_code == 404
    assert (await app.client.get(f"{path}/diff")).status_code == 422


async def test_a_definition_is_compared_before_it_is_saved(app: App) -> None:
    """The diff is against the newest revision. An identical definition has no changes."""
    pipeline = await app.pipeline(form("goals"), form("design"), pipeline_description="why")
    path = f"/api/pipelines/{pipeline['pipeline_id']}"
    written = (await app.client.get(f"{path}/definition?format=json")).json()
    assert await app.post(f"{path}/diff", written) == {"changes": [], "text": ""}
    del written["pipeline_description"]
    diff = await app.post(f"{path}/diff", {**written, "pipeline_name": "Renamed"})
    assert [(change["path"], change["kind"]) for change in diff["changes"]] == [
        ("/pipeline_name", "changed"),
        ("/pipeline_description", "changed"),
    ]
    assert "--- revision 1\n+++ new definition\n" in diff["text"]
    assert (await app.get(path))["revision"] == 1
    wrong = await app.post(f"{path}/diff", {"checkpoints": []}, 422)
    assert "pipeline_name" in str(wrong["errors"])
    await app.post(f"/api/pipelines/{NOBODY}/diff", written, 404)


async def test_a_definition_is_replaced_completely(app: App) -> None:
    """Omitted fields get their defaults. Repeating the request changes nothing."""
    pipeline = await app.pipeline(form("goals"), pipeline_description="why", original_prompt="Go")
    path = f"/api/pipelines/{pipeline['pipeline_id']}"
    document = {"pipeline_name": "Journey", "checkpoints": [form("goals")]}
    replaced = await app.put(f"{path}/definition", document)
    assert (replaced["pipeline_description"], replaced["original_prompt"], replaced["revision"]) == ("", None, 2)
    assert replaced["checkpoints"][0]["checkpoint_id"] == pipeline["checkpoints"][0]["checkpoint_id"]
    assert (await app.put(f"{path}/definition", document))["revision"] == 2


async def test_checkpoints_are_added_updated_and_removed(app: App) -> None:
    pipeline = await app.pipeline(form("goals"))
    path = f"/api/pipelines/{pipeline['pipeline_id']}"
    created = await app.client.post(f"{path}/checkpoints", json=form("design"))
    checkpoint = created.json()
    assert (created.status_code, created.headers["location"]) == (
        201,
        f"/api/checkpoints/{checkpoint['checkpoint_id']}",
    )
    assert (checkpoint["position"], checkpoint["pipeline_id"]) == (1, pipeline["pipeline_id"])
    body = form("first") | {"pipeline_id": pipeline["pipeline_id"]}
    first = await app.post("/api/checkpoints?position=0", body, 201)
    assert first["position"] == 0
    assert (await app.post("/api/checkpoints", form("x"), 422))["errors"][0]["path"] == "/pipeline_id"
    own = f"/api/checkpoints/{checkpoint['checkpoint_id']}"
    changed = await app.put(own, {"checkpoint_description": "How it looks"})
    assert (changed["checkpoint_description"], changed["key"], changed["position"]) == ("How it looks", "design", 2)
    order = [checkpoint["checkpoint_id"], first["checkpoint_id"], pipeline["checkpoint_order"][0]]
    reordered = await app.put(f"{path}/checkpoint-order", {"checkpoint_order": order})
    assert reordered["checkpoint_order"] == order
    assert (await app.put(f"{path}/checkpoint-order", {"checkpoint_order": order[:1]}, 422))["errors"]
    version = reordered["pipeline_definition_version"]
    left = (await app.client.delete(own)).json()
    assert ([c["key"] for c in left["checkpoints"]], left["pipeline_definition_version"]) == (
        ["first", "goals"],
        version + 1,
    )
    assert (await app.client.get(own)).status_code == 404
    assert (await app.client.delete(own)).status_code == 404


async def test_changing_the_order_with_an_open_run_requires_force(app: App) -> None:
    pipeline = await app.pipeline()
    run = await app.run(pipeline)
    path = f"/api/pipelines/{pipeline['pipeline_id']}/checkpoints"
    problem = await app.post(path, form("design"), 409)
    assert problem["suggestions"][-1] == mentions("force")
    await app.post(f"{path}?force=true", form("design"), 201)
    assert (await app.get(f"/api/runs/{run['run_id']}"))["status"] == "cancelled"


async def test_a_deleted_pipeline_can_be_restored(app: App) -> None:
    pipeline = await app.pipeline(pipeline_name="Soon gone")
    await app.run(pipeline)
    path = f"/api/pipelines/{pipeline['pipeline_id']}"
    assert (await app.client.delete(path)).status_code == 409
    deleted = (await app.client.delete(path, params={"force": True})).json()
    assert deleted["pipeline_id"] == pipeline["pipeline_id"]
    assert pipeline["pipeline_id"] in deleted["archive_location"]
    assert [p["pipeline_name"] for p in (await app.get("/api/pipelines", search="soon GONE"))["items"]] == []
    deleted = await app.get("/api/pipelines", deleted=True, search="soon")
    assert [p["deleted_at"] is not None for p in deleted["items"]] == [True]
    assert (await app.put(path, {"pipeline_name": "x"}, 409))["suggestions"] == ["restore"]
    assert (await app.post("/api/runs", {"pipeline_id": pipeline["pipeline_id"]}, 409))["suggestions"]
    assert (await app.post(f"{path}/restore"))["deleted_at"] is None
    assert (await app.post(f"{path}/restore", status=409))["type"] == "urn:cairn:problem:conflict"


async def test_the_list_shows_the_latest_and_recent_runs(app: App) -> None:
    await app.pipeline(checkpoints=[form("goals")])  # so that there is a second page
    pipeline = await app.pipeline(pipeline_name="Listed 100%_a", checkpoints=[form("goals", approve="start")])
    runs = [await app.run(pipeline) for _ in range(3)]
    await app.run(pipeline, test=True)
    [listed] = (await app.get("/api/pipelines", search="100%_A"))["items"]
    assert (listed["latest_run"]["run_id"], listed["latest_run"]["pending_approval_count"]) == (runs[-1]["run_id"], 1)
    assert [r["run_version"] for r in listed["recent_runs"]] == [3, 2, 1]
    assert (listed["pending_approval_count"], listed["checkpoint_count"]) == (4, 1)
    assert (await app.get("/api/pipelines", search="100x"))["items"] == []
    page: Any = await app.get("/api/pipelines", limit=1)
    assert page["items"][0]["pipeline_id"] == pipeline["pipeline_id"]
    assert (await app.get("/api/pipelines", limit=1, cursor=page["next_cursor"]))["items"][0] != page["items"][0]


@pytest.mark.parametrize("path", ["", "/runs", "/definition", "/history", "/history/1", "/diff?from=1&to=1"])
async def test_unknown_pipelines_are_not_found(app: App, path: str) -> None:
    response = await app.client.get(f"/api/pipelines/{NOBODY}{path}")
    assert response.status_code == 404
    assert response.json()["type"] == "urn:cairn:problem:not-found"
