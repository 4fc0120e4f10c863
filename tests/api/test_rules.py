"""Rules over HTTP: YAML, errors with line and column, versions, emergency stop, explanations, audits."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from cairn.definitions.rules import schema
from tests.api.app import App, form
from tests.mentions import mentions

pytestmark = pytest.mark.asyncio(loop_scope="module")

YAML = {"Content-Type": "application/yaml"}
NOBODY = "00000000-0000-4000-8000-000000000000"
ASK = "checkpoints:\n  - name: Ask\n    trigger: { kind: start }\n    action: {}\n"
APPROVE = ASK.replace("Ask", "Approve").replace("{}", "{ auto_approve: true, audit_sample_percentage: 100 }")


async def put(app: App, path: str, text: str, status: int = 200, match: str = "*") -> httpx.Response:
    response = await app.client.put(path, content=text.encode(), headers={**YAML, "If-Match": match})
    assert response.status_code == status, response.text
    return response


async def own(app: App, **checkpoint: Any) -> tuple[dict[str, Any], str]:
    """Create a pipeline and return it with the path of its rules."""
    pipeline = await app.pipeline(form("goals", **checkpoint))
    return pipeline, f"/api/pipelines/{pipeline['pipeline_id']}/rules"


async def test_rules_are_saved_and_returned_unchanged(app: App) -> None:
    pipeline, path = await own(app)
    empty = await app.client.get(path)
    assert (empty.headers["etag"], empty.json()["text"], empty.json()["revision"]) == ('"0"', "", 0)
    saved = await put(app, f"{path}?comment=first", ASK)
    assert saved.headers["etag"] == '"1"'
    shown = saved.json()
    assert {key: shown[key] for key in ("scope", "revision", "text", "created_by", "comment", "warnings", "file")} == {
        "scope": pipeline["pipeline_id"],
        "revision": 1,
        "text": ASK,
        "created_by": "admin",
        "comment": "first",
        "warnings": [],
        "file": None,
    }
    assert [rule["name"] for rule in shown["rules"]] == ["Ask"]
    assert (await app.client.get(path)).json() == shown
    for plain in (
        await app.client.get(path, headers={"Accept": "application/yaml"}),
        await app.client.get(path, params={"format": "yaml"}),
    ):
        assert (plain.text, plain.headers["content-type"], plain.headers["etag"]) == (ASK, "application/yaml", '"1"')
    assert (await app.client.get(path, headers={"Accept": "application/json, text/yaml"})).json() == shown


async def test_the_global_rules_show_their_file(app: App) -> None:
    before = (await app.get("/api/rules"))["revision"]
    text = "checkpoints: [{ name: Far, trigger: { custom_field: { field: run.id, value: none } }, action: {} }]\n"
    saved = (await put(app, "/api/rules", text)).json()
    assert (saved["scope"], saved["revision"], saved["file"]["errors"]) == ("global", before + 1, [])
    assert saved["file"]["path"].endswith("/rules.yaml")
    assert (await app.get(f"/api/rules/versions/{before + 1}"))["text"] == text
    await put(app, "/api/rules", "")
    listed = await app.get("/api/rules/versions", limit=2)
    assert [version["revision"] for version in listed["items"]] == [before + 2, before + 1]
    diff = await app.get("/api/rules/diff", **{"from": before + 1, "to": before + 2})
    assert diff["text"] == f"--- version {before + 1}\n+++ version {before + 2}\n@@ -1 +0,0 @@\n-{text}"


async def test_invalid_rules_are_rejected_with_every_location(app: App) -> None:
    _, path = await own(app)
    wrong = "checkpoints:\n  - name: Ask\n    triger: { kind: start }\n    action: { timeout_seconds: 0 }\n"
    problem = (await put(app, path, wrong, 422)).json()
    assert (problem["type"], problem["detail"]) == (
        "urn:cairn:problem:invalid-definition",
        mentions("3"),
    )
    assert [(e["path"], e["line"], e["column"]) for e in problem["errors"]] == [
        ("/checkpoints/0", 2, 5),
        ("/checkpoints/0", 3, 5),
        ("/checkpoints/0/action/timeout_seconds", 4, 32),
    ]
    torn = (await put(app, path, "checkpoints: [\n", 422)).json()
    assert torn["errors"][0]["line"] == 2
    assert (await app.get(path))["revision"] == 0


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"\xff\xfe", YAML, 422),
        (b"a: &a [*a]\n", YAML, 422),
        (b"checkpoints: !!python/object/apply:os.system [id]\n", YAML, 422),
        (b"[" * 300 + b"]" * 300, YAML, 422),
        (b"{}", {"Content-Type": "text/plain"}, 415),
        (b"{}", {"Content-Type": "application/json"}, 200),
        (b"#" * (1024 * 1024 + 1), YAML, 413),
        (b"checkpoints: []\0", YAML, 422),
    ],
)
async def test_malformed_rules_are_rejected(app: App, content: bytes, headers: dict[str, str], status: int) -> None:
    _, path = await own(app)
    response = await app.client.put(path, content=content, headers=headers)
    assert response.status_code == status, response.text


async def test_a_concurrent_change_is_rejected(app: App) -> None:
    _, path = await own(app)
    await put(app, path, ASK, match='"0"')
    late = await put(app, path, APPROVE, 412, match='"0"')
    assert late.headers["etag"] == '"1"'
    removed = await app.client.delete(path, headers={"If-Match": '"1"'})
    assert (removed.json()["text"], removed.headers["etag"]) == ("", '"2"')
    assert [version["revision"] for version in (await app.get(f"{path}/versions"))["items"]] == [2, 1]
    assert (await app.get(f"{path}/versions/1"))["text"] == ASK
    assert (await app.get(f"{path}/diff", **{"from": 1, "to": 2}))["text"].startswith("--- version 1\n")


async def test_rules_of_an_unknown_pipeline_are_not_found(app: App) -> None:
    path = f"/api/pipelines/{NOBODY}/rules"
    for address in (path, f"{path}/versions", f"{path}/versions/1", f"/api/approvals/{NOBODY}/explain"):
        assert (await app.client.get(address)).status_code == 404
    await put(app, path, ASK, 404)
    assert (await app.client.delete(path)).status_code == 404
    assert (await app.client.get("/api/rules/versions/99999")).status_code == 404


async def test_rules_are_checked_without_being_saved(app: App) -> None:
    async def check(text: str) -> Any:
        response = await app.client.post("/api/rules/check", content=text, headers=YAML)
        assert response.status_code == 200, response.text
        return response.json()

    good = await check(ASK.replace("{}", "{ on_timeout: escalate }"))
    assert (good["is_valid"], [rule["name"] for rule in good["rules"]]) == (True, ["Ask"])
    assert [(w["path"], w["line"]) for w in good["warnings"]] == [("/checkpoints/0/action/on_timeout", 4)]
    bad = await check("checkpoints: 5\n")
    assert (bad["is_valid"], [(e["path"], e["line"], e["column"]) for e in bad["errors"]]) == (
        False,
        [("/checkpoints", 1, 14)],
    )


async def test_rules_cannot_require_more_approvers_than_exist(app: App) -> None:
    """The app has only one user."""
    _, path = await own(app)
    wants_two = ASK.replace("{}", "{ require_approval_count: 2 }")
    problem = (await put(app, path, wants_two, 422)).json()
    assert problem["errors"][0]["path"] == "/checkpoints/0/action/require_approval_count"


async def test_the_schema_is_published(app: App) -> None:
    assert await app.get("/api/rules/schema") == schema()


async def test_one_call_stops_all_automatic_approvals(app: App) -> None:
    _, path = await own(app, approve="start")
    await put(app, path, APPROVE)
    pipeline = {"pipeline_id": path.split("/")[3]}
    stopped = await app.put("/api/rules/emergency-stop", {"stopped": True, "reason": "odd"})
    assert (stopped["stopped"], stopped["reason"], stopped["by"]) == (True, "odd", "admin")
    assert await app.get("/api/rules/emergency-stop") == stopped
    run = await app.run(pipeline)
    held = (await app.get("/api/approvals", run_id=run["run_id"]))["items"][0]
    explanation = await app.get(f"/api/approvals/{held['approval_id']}/explain")
    assert (explanation["rule"], explanation["evaluated_rules"][0]["outcome"] == "approves") == ("Approve", False)
    await app.put("/api/rules/emergency-stop", {"stopped": True}, 422)
    explained = await app.put("/api/rules/emergency-stop", {"stopped": True, "reason": "a bad model"})
    assert explained == {**stopped, "reason": "a bad model"}
    await app.put("/api/rules/emergency-stop", {"stopped": False})
    listed = await app.get("/api/rules/emergency-stop/history", limit=2)
    assert [stop["stopped"] for stop in listed["items"]] == [False, True]
    events = await app.get("/api/events", event_type=["emergency_stop_enabled", "emergency_stop_lifted"])
    assert [event["event_type"] for event in events["items"]][:2] == ["emergency_stop_lifted", "emergency_stop_enabled"]


async def test_audits_and_scores(app: App) -> None:
    pipeline, path = await own(app, approve="start")
    await put(app, path, APPROVE)
    await app.run(pipeline)
    listed = await app.get("/api/rules/audits", reviewed=False, pipeline_id=pipeline["pipeline_id"])
    [sampled] = listed["items"]
    assert (sampled["rule"], sampled["kind"], sampled["review"]) == ("Approve", "start", None)
    audit = await app.put(f"/api/rules/audits/{sampled['approval_id']}", {"agrees": False, "comment": "hm"})
    assert (audit["review"]["agrees"], audit["review"]["comment"], audit["review"]["by"]) == (False, "hm", "admin")
    scores = await app.get("/api/rules/autonomy")
    own_score = next(rule for rule in scores["rules"] if rule["scope"] == pipeline["pipeline_id"])
    assert (own_score["approved"], own_score["sampled"], own_score["reviewed"]) == (1, 1, 1)
    assert (own_score["disagreement"]["count"], own_score["mode"]) == (1, "full")
    await app.put(f"/api/rules/audits/{NOBODY}", {"agrees": True}, 404)


async def test_a_backtest_lists_disagreements(app: App) -> None:
    pipeline, _ = await own(app, approve="start")
    run = await app.run(pipeline)
    approval = (await app.get("/api/approvals", run_id=run["run_id"]))["items"][0]
    await app.put(f"/api/approvals/{approval['approval_id']}/approve")

    async def backtest(text: str, **params: Any) -> httpx.Response:
        return await app.client.post("/api/rules/backtest", content=text, headers=YAML, params=params)

    found = (await backtest(APPROVE, pipeline_id=pipeline["pipeline_id"])).json()
    assert (found["decisions"], found["would_approve"], found["agreed"], found["disagreed"]) == (1, 1, 1, 0)
    assert (found["false_approval_rate"]["rate"], found["complete"]) == (0.0, True)
    assert (await backtest("checkpoints: 5\n")).status_code == 422
    assert (await backtest(APPROVE, limit=0)).status_code == 422
