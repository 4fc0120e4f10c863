"""Executions over HTTP: forms, approvals, manual starts, context."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.app import App, form
from tests.mentions import mentions

pytestmark = pytest.mark.asyncio(loop_scope="module")
NOBODY = "00000000-0000-0000-0000-000000000000"


def weighted(**more: Any) -> dict[str, Any]:
    weight = {"name": "weight", "type": "number", "label": "Weight", "required": False}
    return form("goals", form=[{"name": "goals", "type": "text", "label": "Goals"}, weight], **more)


async def test_a_form_reports_an_error_for_each_field(app: App) -> None:
    run = await app.run(await app.pipeline(weighted()))
    execution = await app.execution(run)
    path = f"/api/executions/{execution['execution_id']}"
    assert (execution["status"], execution["waiting_on"], execution["available_commands"]) == (
        "in_progress",
        "human_form",
        ["submit", "cancel"],
    )
    problem = await app.post(f"{path}/submit", {"fields": {"weight": "heavy", "other": 1}}, 422)
    assert sorted(error["path"] for error in problem["errors"]) == ["/fields/goals", "/fields/other", "/fields/weight"]
    assert (await app.get(path))["form"]["values"] is None
    assert (await app.post(f"{path}/submit", {"fields": []}, 422))["errors"][0]["path"] == "/fields"
    assert (await app.post(f"{path}/submit", {}, 422))["errors"][0]["path"] == "/fields"
    assert (await app.submit_form(run, goals="grow", weight=12345678901234567890))["status"] == "completed"
    late = await app.post(f"{path}/submit", {"fields": {"goals": "again"}}, 409)
    assert (late["type"], late["detail"]) == ("urn:cairn:problem:conflict", mentions("completed"))


async def test_a_revision_shows_the_earlier_answers_and_the_feedback(app: App) -> None:
    """So that users can correct them."""
    run = await app.run(await app.pipeline(weighted(approve="complete")))
    first = await app.submit_form(run, goals="grow", weight=2)
    path = f"/api/executions/{first['execution_id']}"
    assert (first["status"], first["available_commands"]) == (
        "waiting_approval_to_complete",
        ["approve-complete", "revise", "cancel"],
    )
    assert first["approval"]["digest"] == first["digest"]
    assert (await app.post(f"{path}/revise", {}, 422))["errors"] == [
        {"path": "/feedback", "message": mentions("feedback")}
    ]
    revised = await app.post(f"{path}/reject", {"feedback": "say more"})
    assert (revised["execution_id"], revised["revision_iteration"]) == (first["execution_id"], 1)
    assert (revised["form"]["values"], revised["form"]["feedback"]) == ({"goals": "grow", "weight": 2}, "say more")
    again = await app.submit_form(run, goals="grow a lot")
    stale = await app.post(f"{path}/approve-complete", {"digest": first["digest"]}, 409)
    assert "changed" in stale["detail"]
    done = await app.post(f"{path}/approve-complete", {"digest": again["digest"]})
    assert (done["status"], done["form"]["feedback"]) == ("completed", None)
    assert [a["promoted_to_permanent_at"] is not None for a in done["artifacts_generated"]] == [True]
    assert [i["type"] for i in done["human_interactions"]] == [
        "human_form",
        "revision_request",
        "human_form",
        "approval_to_complete",
    ]
    assert (await app.post(f"{path}/approve-complete", {}, 409))["detail"] == mentions("completed")


async def test_a_start_is_approved_or_rejected_and_requested_again(app: App) -> None:
    run = await app.run(await app.pipeline(form("goals", approve="start")))
    execution = await app.execution(run)
    path = f"/api/executions/{execution['execution_id']}"
    assert (execution["status"], execution["available_commands"]) == (
        "waiting_approval_to_start",
        ["approve-start", "reject", "cancel"],
    )
    assert (await app.post(f"{path}/approve-complete", {}, 409))["suggestions"] == ["approve-start", "reject"]
    problem = await app.post(f"{path}/reject")
    assert (problem["status"], problem["available_commands"]) == ("pending", ["start"])
    by_place = {"run_id": run["run_id"], "checkpoint_id": execution["checkpoint_id"]}
    assert (await app.post("/api/executions/start", by_place))["status"] == "waiting_approval_to_start"
    assert (await app.post(f"{path}/approve", {}))["status"] == "in_progress"
    assert (await app.post("/api/executions/start", {"execution_id": execution["execution_id"]}, 409))["title"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"run_id": NOBODY},
        {"execution_id": NOBODY, "run_id": NOBODY, "checkpoint_id": NOBODY},
        {"execution_id": "x"},
    ],
)
async def test_a_start_applies_to_one_execution(app: App, body: dict[str, str]) -> None:
    assert (await app.post("/api/executions/start", body, 422))["type"] == "urn:cairn:problem:invalid-input"


async def test_without_auto_advance_the_next_checkpoint_waits_for_a_start(app: App) -> None:
    run = await app.run(await app.pipeline(form("goals"), form("design")))
    await app.submit_form(run, goals="grow")
    second = await app.execution(run, 1)
    assert (second["status"], second["available_commands"]) == ("pending", ["start"])
    listed = (await app.get("/api/runs", pipeline_id=run["pipeline_id"]))["items"][0]
    assert (listed["status"], listed["pending_approval_count"], listed["pending_start_count"]) == ("in_progress", 0, 1)
    assert listed["open_executions"] == [
        {
            "execution_id": second["execution_id"],
            "checkpoint_id": second["checkpoint_id"],
            "checkpoint_name": "Design",
            "checkpoint_position": 1,
            "status": "pending",
            "waiting_on": None,
            "retry_due_at": None,
            "created_at": second["created_at"],
            "progress": None,
        }
    ]
    await app.post(f"/api/runs/{run['run_id']}/pause")
    assert (await app.get(f"/api/runs/{run['run_id']}"))["pending_start_count"] == 0
    await app.post(f"/api/runs/{run['run_id']}/resume")
    started = await app.post("/api/executions/start", {"execution_id": second["execution_id"]})
    assert started["status"] == "in_progress"


async def test_the_checkpoint_of_a_cancelled_execution_waits_for_a_manual_start(app: App) -> None:
    run = await app.run(await app.pipeline())
    execution = await app.execution(run)
    cancelled = await app.post(f"/api/executions/{execution['execution_id']}/cancel")
    assert cancelled["status"] == "cancelled"
    assert (await app.execution(run))["status"] == "pending"
    assert (await app.post(f"/api/executions/{execution['execution_id']}/cancel", status=409))["title"]
    assert (await app.post(f"/api/executions/{execution['execution_id']}/retry", {"attempt_number": 1}, 409))["title"]


async def test_the_context_is_shown_before_the_start(app: App) -> None:
    checkpoint = form("goals", inputs={"include_previous_version": True})
    pipeline = await app.pipeline(checkpoint)
    first = await app.run(pipeline, input={"market": "Europe", "n": 2**70})
    path = f"/api/executions/{(await app.execution(first))['execution_id']}/context"
    shown = await app.get(path)
    assert (shown["stored"], shown["blocks"], shown["input"]["input"]) == (False, [], {"market": "Europe", "n": 2**70})
    await app.submit_form(first, goals="größer 🚀")
    stored = await app.get(path)
    assert (stored["stored"], stored["input"]) == (True, shown["input"])
    second = await app.run(pipeline)
    shown = await app.get(f"/api/executions/{(await app.execution(second))['execution_id']}/context")
    assert [(b["kind"], b["run_version"], b["artifact_name"]) for b in shown["blocks"]] == [
        ("previous_version", 1, "goals")
    ]
    assert "größer 🚀" in shown["text"]
    assert shown["size_characters"] == len(shown["text"])


async def test_a_missing_source_is_shown_in_the_preview(app: App) -> None:
    """Before the start, and without failing the request."""
    run = await app.run(await app.pipeline(form("goals", approve="start", input_mapping={"market": "input.market"})))
    execution = await app.execution(run)
    response = await app.client.get(f"/api/executions/{execution['execution_id']}/context")
    assert (response.status_code, "market" in response.json()["detail"]) == (409, True)


async def test_logs_and_conversations_are_lists(app: App) -> None:
    run = await app.run(await app.pipeline())
    execution = await app.execution(run)
    path = f"/api/executions/{execution['execution_id']}"
    assert await app.get(f"{path}/conversation") == {"items": [], "next_cursor": None, "is_hidden": False}
    assert (await app.get(f"{path}/logs"))["next_cursor"] is None
    assert (await app.client.get(f"{path}/logs", params={"level": "loud"})).status_code == 422


@pytest.mark.parametrize("path", ["", "/logs", "/conversation", "/context"])
async def test_unknown_executions_are_not_found(app: App, path: str) -> None:
    response = await app.client.get(f"/api/executions/{NOBODY}{path}")
    assert (response.status_code, response.json()["detail"]) == (404, mentions(NOBODY))


async def test_executions_of_a_run_are_paged_in_order_of_creation(app: App) -> None:
    run = await app.run(await app.pipeline(form("goals"), form("design"), config={"auto_advance": True}))
    await app.submit_form(run, goals="grow")
    path = f"/api/runs/{run['run_id']}/checkpoints"
    first = await app.get(path, limit=1)
    rest = await app.get(path, limit=1, cursor=first["next_cursor"])
    assert [e["checkpoint_key"] for e in first["items"] + rest["items"]] == ["goals", "design"]
    assert rest["next_cursor"] is None
