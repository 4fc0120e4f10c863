"""Actions over HTTP: preview, modify, reassign, comment, decide in a batch."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.runners import Ctx, function
from tests.api.app import App, Json
from tests.api.users import token_for
from tests.mentions import mentions

pytestmark = pytest.mark.asyncio(loop_scope="module")

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }} {% for x in range(9) %}",
    "${jndi:ldap://127.0.0.1/a}",
    "'; DROP TABLE approvals; --",
    "\u202egnp.exe",
]


@function("test_api.refund")
async def refund(ctx: Ctx, reasoning: str = "because") -> Any:
    proposed = {"amount": 99.99, "currency": "USD", "account": "4711"}
    return dict(ctx.propose_action("financial_transaction", proposed, reasoning, 0.87, "high", {"orders": [1, 2]}))


async def proposed(app: App, reasoning: str = "because") -> Json:
    config = {"function": "test_api.refund", "parameters": {"reasoning": reasoning}}
    checkpoint = {
        "key": "refund",
        "checkpoint_name": "Refund",
        "execution": {"mode": "function", "function_config": config},
        "outputs": ["refund.json"],
    }
    run = await app.run(await app.pipeline(checkpoint))

    async def pending() -> Json | None:
        items = (await app.get("/api/approvals", run_id=run["run_id"]))["items"]
        return items[0] if items else None

    return await app.wait_until(pending)


async def test_the_approval_page_has_everything(app: App) -> None:
    pending = await proposed(app)
    assert (pending["kind"], pending["risk_level"], pending["confidence"], pending["operation_type"]) == (
        "action",
        "high",
        0.87,
        "financial_transaction",
    )
    shown = await app.get(f"/api/approvals/{pending['approval_id']}")
    assert (shown["run_created_by"], shown["can_decide"], shown["available_decisions"]) == (
        "admin",
        True,
        ["approve", "modify", "revise", "reject"],
    )
    action = shown["action"]
    assert action["parameters"] == {"amount": 99.99, "currency": "USD", "account": "4711"}
    assert action["parameters_schema"]["properties"]["amount"]["exclusiveMinimum"] == 0
    assert (action["reasoning"], action["supporting_data"], action["executed_by_cairn"], action["outcome"]) == (
        "because",
        {"orders": [1, 2]},
        False,
        "proposed",
    )
    listed = await app.get("/api/approvals", risk_level="high", operation_type="financial_transaction", sort="risk")
    assert pending["approval_id"] in {item["approval_id"] for item in listed["items"]}
    assert (await app.get("/api/approvals", risk_level="low"))["items"] == []


async def test_a_modification_is_previewed_and_then_approved(app: App) -> None:
    pending = await proposed(app)
    path = f"/api/approvals/{pending['approval_id']}"
    preview = await app.put(f"{path}/modify", {"modified_params": {"amount": 89.99, "note": "new", "account": None}})
    assert [(c["field"], c["change_type"], c["original"], c["modified"]) for c in preview["diff"]] == [
        ("amount", "updated", 99.99, 89.99),
        ("account", "removed", "4711", None),
        ("note", "added", None, "new"),
    ]
    assert preview["validation"] == {"passed": True, "errors": []}
    wrong = await app.put(f"{path}/modify", {"modified_params": {"amount": -1, "currency": "dollars"}})
    assert sorted(error["path"] for error in wrong["validation"]["errors"]) == ["/amount", "/currency"]
    refused = await app.put(f"{path}/approve", {"modified_params": {"amount": -1}}, 422)
    assert refused["errors"][0]["path"] == "/modified_params/amount"
    assert (await app.get(path))["status"] == "pending"
    body = {"modified_params": {"amount": 89.99}, "feedback": "By policy", "digest": pending["digest"]}
    approved = await app.put(f"{path}/approve", body)
    assert (approved["status"], approved["decisions"][0]["by"]) == ("approved", "admin")
    assert approved["action"]["approved_parameters"]["amount"] == 89.99
    assert approved["action"]["parameters"]["amount"] == 99.99
    [case] = (await app.get("/api/corrections", pipeline_id=pending["pipeline_id"]))["items"]
    assert (case["by"], case["feedback"], case["changes"][0]["difference"]) == ("admin", "By policy", -10.0)
    rates = {rate["operation_type"]: rate for rate in (await app.get("/api/corrections/rates"))["items"]}
    assert rates["financial_transaction"]["modified"] >= 1
    await app.put("/api/approvals/00000000-0000-0000-0000-000000000000/modify", {"modified_params": {}}, 404)


async def test_an_action_can_be_approved_through_its_execution(app: App) -> None:
    pending = await proposed(app)
    body = {"modified_params": {"amount": 5}}
    await app.post(f"/api/executions/{pending['execution_id']}/approve", body)
    assert (await app.get(f"/api/approvals/{pending['approval_id']}"))["decisions"][0]["decision"] == "modify"


async def test_a_decision_without_permission_is_refused_and_changes_nothing(app: App) -> None:
    pending = await proposed(app)
    path = f"/api/approvals/{pending['approval_id']}"
    handed = await app.put(f"{path}/assign", {"assigned_to": ["someone-else"], "reason": "They know"})
    assert handed["assigned_to"] == ["someone-else"]
    async with app.client_for(await token_for(app, "approver")) as approver:
        refused = await approver.put(f"{path}/approve", json={})
        assert (refused.status_code, refused.json()["detail"]) == (
            403,
            mentions("someone-else"),
        )
        assert (await approver.get(path)).json()["can_decide"] is False
        mine = await approver.get("/api/approvals", params={"mine": "true"})
        assert pending["approval_id"] not in {item["approval_id"] for item in mine.json()["items"]}
    async with app.client_for(await token_for(app, "approver", name="someone-else")) as named:
        body = {"approved_by": "somebody", "feedback": "Good"}
        assert (await named.put(f"{path}/approve", json=body)).status_code == 422  # the body never names the user
        approved = await named.put(f"{path}/approve", json={"feedback": "Good"})
        assert approved.json()["decisions"][0]["by"] == "someone-else"
    async with app.client_for(await token_for(app, "viewer")) as viewer:
        for act, body in (("approve", {}), ("assign", {"assigned_to": ["x"]})):
            assert (await viewer.put(f"{path}/{act}", json=body)).status_code == 403


async def test_several_approvals_are_decided_at_once(app: App) -> None:
    pending = [await proposed(app) for _ in range(3)]
    items = [{"approval_id": one["approval_id"], "digest": one["digest"]} for one in pending]
    items[2]["digest"] = "0" * 64
    done = await app.post("/api/approvals/batch", {"decision": "approve", "items": items})
    assert (done["decided"], done["failed"]) == (2, 1)
    assert done["items"][2]["error_message"]
    body = {"decision": "reject", "items": items[2:]}
    words = await app.post("/api/approvals/batch", body)
    assert "reason" in words["items"][0]["error_message"]
    await app.post("/api/approvals/batch", {"decision": "fail", "items": items}, 422)
    await app.post("/api/approvals/batch", {"decision": "approve", "items": []}, 422)


@pytest.mark.parametrize("text", HOSTILE)
async def test_texts_are_returned_unchanged(app: App, text: str) -> None:
    """User text is returned as JSON and never interpreted."""
    pending = await proposed(app, text)
    path = f"/api/approvals/{pending['approval_id']}"
    await app.post(f"{path}/comments", {"text": text}, 201)
    await app.put(f"{path}/assign", {"assigned_to": ["admin"], "reason": text})
    await app.put(f"{path}/approve", {"feedback": text, "modified_params": {"note": text}})
    response = await app.client.get(path)
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-content-type-options"] == "nosniff"
    shown = response.json()
    assert (shown["comments"][0]["text"], shown["decisions"][0]["feedback"]) == (text, text)
    assert (shown["action"]["reasoning"], shown["action"]["approved_parameters"]["note"]) == (text, text)


async def test_invalid_bodies_are_rejected(app: App) -> None:
    pending = await proposed(app)
    path = f"/api/approvals/{pending['approval_id']}"
    wrong: list[tuple[str, Json]] = [
        ("modify", {"modified_params": [1]}),
        ("modify", {}),
        ("assign", {"assigned_to": []}),
        ("assign", {"assigned_to": "admin"}),
        ("modify/x", {}),
    ]
    for act, body in wrong:
        response = await app.client.put(f"{path}/{act}", json=body)
        assert response.status_code in (404, 405, 422), (act, body, response.text)
    assert (await app.client.post(f"{path}/comments", json={"text": " "})).status_code == 422
    assert (await app.client.post(f"{path}/comments", json={"text": "x" * 10_001})).status_code == 422
    huge = {"modified_params": {"note": "x" * 300_000}}
    assert (await app.put(f"{path}/modify", huge))["validation"]["passed"] is False
    assert (await app.get(path))["status"] == "pending"
