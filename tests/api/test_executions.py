"""Executions over HTTP: forms, approvals, manual starts, context."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.house import House, form
from tests.mentions import mentions

pytestmark = pytest.mark.asyncio(loop_scope="module")
NOBODY = "00000000-0000-0000-0000-000000000000"


def weighted(**more: Any) -> dict[str, Any]:
    weight = {"name": "weight", "type": "number", "label": "Weight", "required": False}
    return form("goals", form=[{"name": "goals", "type": "text", "label": "Goals"}, weight], **more)


async def test_a_form_is_told_what_is_wrong_with_each_field(house: House) -> None:
    run = await house.run(await house.pipeline(weighted()))
    execution = await house.execution(run)
    path = f"/api/executions/{execution['execution_id']}"
    assert (execution["status"], execution["waiting_on"], execution["possible"]) == (
        "in_progress",
        "human_form",
        ["submit", "cancel"],
    )
    told = await house.post(f"{path}/submit", {"fields": {"weight": "heavy", "other": 1}}, 422)
    assert sorted(error["path"] for error in told["errors"]) == ["/fields/goals", "/fields/other", "/fields/weight"]
    assert (await house.get(path))["form"]["values"] is None
    assert (await house.post(f"{path}/submit", {"fields": []}, 422))["errors"][0]["path"] == "/fields"
    assert (await house.post(f"{path}/submit", {}, 422))["errors"][0]["path"] == "/fields"
    assert (await house.fill(run, goals="grow", weight=12345678901234567890))["status"] == "completed"
    late = await house.post(f"{path}/submit", {"fields": {"goals": "again"}}, 409)
    assert (late["type"], late["detail"]) == ("urn:cairn:problem:refused", mentions("completed"))


async def test_a_revision_shows_what_was_entered_and_why_it_comes_back(house: House) -> None:
    """No answer is lost."""
    run = await house.run(await house.pipeline(weighted(approve="complete")))
    first = await house.fill(run, goals="grow", weight=2)
    path = f"/api/executions/{first['execution_id']}"
    assert (first["status"], first["possible"]) == (
        "waiting_approval_to_complete",
        ["approve-complete", "revise", "cancel"],
    )
    assert first["approval"]["digest"] == first["digest"]
    assert (await house.post(f"{path}/revise", {}, 422))["errors"] == [
        {"path": "/feedback", "message": mentions("'feedback'", "revise")}
    ]
    revised = await house.post(f"{path}/reject", {"feedback": "say more"})
    assert (revised["execution_id"], revised["revision_iteration"]) == (first["execution_id"], 1)
    assert (revised["form"]["values"], revised["form"]["feedback"]) == ({"goals": "grow", "weight": 2}, "say more")
    again = await house.fill(run, goals="grow a lot")
    stale = await house.post(f"{path}/approve-complete", {"digest": first["digest"]}, 409)
    assert "changed" in stale["detail"]
    done = await house.post(f"{path}/approve-complete", {"digest": again["digest"]})
    assert (done["status"], done["form"]["feedback"]) == ("completed", None)
    assert [a["promoted_to_permanent_at"] is not None for a in done["artifacts_generated"]] == [True]
    assert [i["type"] for i in done["human_interactions"]] == [
        "human_form",
        "revision_request",
        "human_form",
        "approval_to_complete",
    ]
    assert (await house.post(f"{path}/approve-complete", {}, 409))["detail"] == mentions("completed")


async def test_a_start_is_approved_or_refused_and_asked_again(house: House) -> None:
    run = await house.run(await house.pipeline(form("goals", approve="start")))
    execution = await house.execution(run)
    path = f"/api/executions/{execution['execution_id']}"
    assert (execution["status"], execution["possible"]) == (
        "waiting_approval_to_start",
        ["approve-start", "reject", "cancel"],
    )
    assert (await house.post(f"{path}/approve-complete", {}, 409))["possible"] == ["approve-start", "reject"]
    refused = await house.post(f"{path}/reject")
    assert (refused["status"], refused["possible"]) == ("pending", ["start"])
    by_place = {"run_id": run["run_id"], "checkpoint_id": execution["checkpoint_id"]}
    assert (await house.post("/api/executions/start", by_place))["status"] == "waiting_approval_to_start"
    assert (await house.post(f"{path}/approve", {}))["status"] == "in_progress"
    assert (await house.post("/api/executions/start", {"execution_id": execution["execution_id"]}, 409))["title"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"run_id": NOBODY},
        {"execution_id": NOBODY, "run_id": NOBODY, "checkpoint_id": NOBODY},
        {"execution_id": "x"},
    ],
)
async def test_a_start_names_one_execution(house: House, body: dict[str, str]) -> None:
    assert (await house.post("/api/executions/start", body, 422))["type"] == "urn:cairn:problem:wrong-input"


async def test_without_auto_advance_the_next_one_waits_for_a_start(house: House) -> None:
    run = await house.run(await house.pipeline(form("goals"), form("design")))
    await house.fill(run, goals="grow")
    second = await house.execution(run, 1)
    assert (second["status"], second["possible"]) == ("pending", ["start"])
    listed = (await house.get("/api/runs", pipeline_id=run["pipeline_id"]))["items"][0]
    assert (listed["status"], listed["waiting"], listed["to_start"]) == ("in_progress", 0, 1)
    assert listed["open"] == [
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
    await house.post(f"/api/runs/{run['run_id']}/pause")
    assert (await house.get(f"/api/runs/{run['run_id']}"))["to_start"] == 0
    await house.post(f"/api/runs/{run['run_id']}/resume")
    started = await house.post("/api/executions/start", {"execution_id": second["execution_id"]})
    assert started["status"] == "in_progress"


async def test_a_cancelled_execution_leaves_its_checkpoint_to_a_start_by_hand(house: House) -> None:
    run = await house.run(await house.pipeline())
    execution = await house.execution(run)
    cancelled = await house.post(f"/api/executions/{execution['execution_id']}/cancel")
    assert cancelled["status"] == "cancelled"
    assert (await house.execution(run))["status"] == "pending"
    assert (await house.post(f"/api/executions/{execution['execution_id']}/cancel", status=409))["title"]
    assert (await house.post(f"/api/executions/{execution['execution_id']}/retry", {"attempt": 1}, 409))["title"]


async def test_the_context_is_shown_before_the_start(house: House) -> None:
    checkpoint = form("goals", inputs={"include_previous_version": True})
    pipeline = await house.pipeline(checkpoint)
    first = await house.run(pipeline, input={"market": "Europe", "n": 2**70})
    path = f"/api/executions/{(await house.execution(first))['execution_id']}/context"
    shown = await house.get(path)
    assert (shown["stored"], shown["blocks"], shown["input"]["input"]) == (False, [], {"market": "Europe", "n": 2**70})
    await house.fill(first, goals="größer 🚀")
    kept = await house.get(path)
    assert (kept["stored"], kept["input"]) == (True, shown["input"])
    second = await house.run(pipeline)
    shown = await house.get(f"/api/executions/{(await house.execution(second))['execution_id']}/context")
    assert [(b["kind"], b["run_version"], b["artifact_name"]) for b in shown["blocks"]] == [
        ("previous_version", 1, "goals")
    ]
    assert "größer 🚀" in shown["text"]
    assert shown["size_characters"] == len(shown["text"])


async def test_what_cannot_be_told_is_said_before_the_start(house: House) -> None:
    """The source does not exist."""
    run = await house.run(
        await house.pipeline(form("goals", approve="start", input_mapping={"market": "input.market"}))
    )
    execution = await house.execution(run)
    refused = await house.client.get(f"/api/executions/{execution['execution_id']}/context")
    assert (refused.status_code, "market" in refused.json()["detail"]) == (409, True)


async def test_logs_and_conversations_are_lists(house: House) -> None:
    run = await house.run(await house.pipeline())
    execution = await house.execution(run)
    path = f"/api/executions/{execution['execution_id']}"
    assert await house.get(f"{path}/conversation") == {"items": [], "next_cursor": None, "is_hidden": False}
    assert (await house.get(f"{path}/logs"))["next_cursor"] is None
    assert (await house.client.get(f"{path}/logs", params={"level": "loud"})).status_code == 422


@pytest.mark.parametrize("path", ["", "/logs", "/conversation", "/context"])
async def test_unknown_executions_are_not_found(house: House, path: str) -> None:
    response = await house.client.get(f"/api/executions/{NOBODY}{path}")
    assert (response.status_code, response.json()["detail"]) == (404, mentions(NOBODY))


async def test_executions_of_a_run_are_paged_in_the_order_they_were_made(house: House) -> None:
    run = await house.run(await house.pipeline(form("goals"), form("design"), config={"auto_advance": True}))
    await house.fill(run, goals="grow")
    path = f"/api/runs/{run['run_id']}/checkpoints"
    first = await house.get(path, limit=1)
    rest = await house.get(path, limit=1, cursor=first["next_cursor"])
    assert [e["checkpoint_key"] for e in first["items"] + rest["items"]] == ["goals", "design"]
    assert rest["next_cursor"] is None
