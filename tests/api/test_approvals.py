"""Approvals over HTTP."""

from __future__ import annotations

import asyncio

import pytest

from tests.api.app import App, Json, form

pytestmark = pytest.mark.asyncio(loop_scope="module")
NOBODY = "00000000-0000-0000-0000-000000000000"


async def pending_approval(app: App, approve: str = "complete") -> Json:
    """Start a run and return the pending approval of its first checkpoint."""
    run = await app.run(await app.pipeline(form("goals", approve=approve)))
    if approve == "complete":
        await app.submit_form(run, goals="grow")
    [pending] = (await app.get("/api/approvals", run_id=run["run_id"]))["items"]
    return pending


async def test_an_approval_shows_its_content(app: App) -> None:
    pending = await pending_approval(app)
    assert (pending["kind"], pending["status"], pending["available_decisions"]) == (
        "completion",
        "pending",
        ["approve", "revise", "reject"],
    )
    assert (
        pending["checkpoint_name"],
        pending["run_version"],
        pending["required_approvals"],
        pending["received_approvals"],
    ) == (
        "Goals",
        1,
        1,
        0,
    )
    assert (pending["title"], pending["can_decide"]) == ("Approve Goals", True)
    assert (pending["on_timeout"], pending["escalate_to"], pending["artifact_count"]) == (None, [], 1)
    shown = await app.get(f"/api/approvals/{pending['approval_id']}")
    assert [step["checkpoint_id"] for step in shown["prior_executions"]] == [pending["checkpoint_id"]]
    assert {name: shown[name] for name in pending} == pending
    assert [artifact["artifact_name"] for artifact in shown["artifacts"]] == ["goals"]
    assert (shown["form"]["values"], shown["context_available"]) == ({"goals": "grow"}, True)


async def test_a_decision_is_bound_to_the_digest(app: App) -> None:
    pending = await pending_approval(app)
    path = f"/api/approvals/{pending['approval_id']}"
    stale = await app.put(f"{path}/approve", {"digest": "0" * 64}, 409)
    assert stale["type"] == "urn:cairn:problem:conflict"
    assert (await app.get(path))["status"] == "pending"
    approved = await app.put(f"{path}/approve", {"digest": pending["digest"], "feedback": "Good"})
    assert (approved["status"], approved["received_approvals"], approved["available_decisions"]) == ("approved", 1, [])
    assert [(d["by"], d["decision"], d["feedback"], d["digest"]) for d in approved["decisions"]] == [
        ("admin", "approve", "Good", pending["digest"])
    ]
    assert (await app.put(f"{path}/approve", {}, 409))["type"] == "urn:cairn:problem:conflict"
    assert (await app.get(f"/api/executions/{pending['execution_id']}"))["status"] == "completed"


async def test_revising_and_rejecting_require_a_text(app: App) -> None:
    pending = await pending_approval(app)
    path = f"/api/approvals/{pending['approval_id']}"
    assert [e["path"] for e in (await app.put(f"{path}/reject", {}, 422))["errors"]] == ["/reason"]
    assert [e["path"] for e in (await app.put(f"{path}/revise", {"feedback": "  "}, 422))["errors"]] == ["/feedback"]
    assert (await app.put(f"{path}/refuse", {}, 409))["suggestions"] == ["approve", "revise", "reject"]
    assert (await app.client.put(f"{path}/nonsense", json={})).status_code == 422
    rejected = await app.put(f"{path}/reject", {"reason": "wrong market"})
    assert (rejected["status"], rejected["decisions"][0]["feedback"]) == ("rejected", "wrong market")
    run = await app.get(f"/api/runs/{pending['run_id']}")
    assert (run["status"], run["checkpoints"][0]["status"]) == ("failed", "failed")
    assert "wrong market" in (run["checkpoints"][0]["error_message"] or "")


async def test_a_form_can_be_answered_through_its_approval(app: App) -> None:
    run = await app.run(await app.pipeline())
    [pending] = (await app.get("/api/approvals", run_id=run["run_id"], kind="input"))["items"]
    path = f"/api/approvals/{pending['approval_id']}"
    wrong = await app.put(f"{path}/answer", {"fields": {}}, 422)
    assert [error["path"] for error in wrong["errors"]] == ["/fields/goals"]
    answered = await app.put(f"{path}/answer", {"fields": {"goals": "grow"}})
    assert answered["status"] == "approved"


async def test_only_one_of_two_concurrent_decisions_counts(app: App) -> None:
    pending = await pending_approval(app)
    path = f"/api/approvals/{pending['approval_id']}"
    answers = await asyncio.gather(
        *(app.client.put(f"{path}/approve", json={"digest": pending["digest"]}) for _ in range(5))
    )
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409, 409]
    decided = await app.get(path)
    assert len(decided["decisions"]) == 1


async def test_approvals_of_cancelled_runs_are_withdrawn(app: App) -> None:
    pending = await pending_approval(app, "start")
    await app.post(f"/api/runs/{pending['run_id']}/cancel")
    withdrawn = await app.get(f"/api/approvals/{pending['approval_id']}")
    assert (withdrawn["status"], withdrawn["available_decisions"]) == ("withdrawn", [])
    assert (await app.put(f"/api/approvals/{pending['approval_id']}/approve", {}, 409))["title"]


async def test_the_queue_is_filtered_sorted_and_paged(app: App) -> None:
    pipeline = await app.pipeline(form("goals", approve="start"))
    for _ in range(3):
        await app.run(pipeline)
    mine = {"pipeline_id": pipeline["pipeline_id"]}
    for sort in ("age", "deadline"):
        seen: list[str] = []
        cursor: str | None = None
        while True:
            page = await app.get("/api/approvals", **mine, sort=sort, limit=2, **({"cursor": cursor} if cursor else {}))
            seen += [approval["approval_id"] for approval in page["items"]]
            if (cursor := page["next_cursor"]) is None:
                break
        assert len(set(seen)) == len(seen) == 3, sort
    ages = [a["requested_at"] for a in (await app.get("/api/approvals", **mine))["items"]]
    assert ages == sorted(ages)
    assert (await app.get("/api/approvals", **mine, kind=["completion", "input"]))["items"] == []
    assert (await app.get("/api/approvals", **mine, status="approved"))["items"] == []
    assert (await app.client.get("/api/approvals", params={"sort": "mood"})).status_code == 422


async def test_unknown_approvals_are_not_found(app: App) -> None:
    assert (await app.client.get(f"/api/approvals/{NOBODY}")).status_code == 404
    assert (await app.client.put(f"/api/approvals/{NOBODY}/approve", json={})).status_code == 404
    assert (await app.client.put("/api/approvals/7/approve", json={})).status_code == 404
