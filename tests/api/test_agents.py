"""The agent library over HTTP, definitions that refer to it, and runs that keep their agents."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.definitions import builtin_agents
from cairn.store import library
from tests.api.app import App, Json
from tests.api.users import token_for
from tests.mentions import mentions

pytestmark = pytest.mark.asyncio(loop_scope="module")
YAML = {"Content-Type": "application/yaml"}


def speaker(words: str, **more: Any) -> Json:
    """Return an agent that replies with these words on the simulated model."""
    settings = {"simulation": [{"say": words}]}
    return {"role": "You speak.", "task_prompt": "Speak.", "model_settings": settings, **more}


def speaks(key: str, agent: Any, **more: Any) -> Json:
    return {"key": key, "agent": agent, "outputs": [f"{key}.txt"], **more}


async def wait_for_status(app: App, run: Json, status: str = "completed") -> Json:
    async def probe() -> Json | None:
        now = await app.get(f"/api/runs/{run['run_id']}")
        return now if now["status"] == status else None

    return await app.wait_until(probe)


async def content(app: App, run: Json, position: int) -> str:
    execution = await app.get(f"/api/executions/{(await app.execution(run, position))['execution_id']}")
    (artifact,) = execution["artifacts_generated"]
    answer = await app.client.get(f"/api/artifacts/{artifact['artifact_record_id']}/content")
    return answer.text


async def test_builtin_agents_are_listed_searched_and_read(app: App) -> None:
    page = await app.get("/api/agents", limit=5)
    names = [agent["name"] for agent in page["items"]]
    while page["next_cursor"] is not None:
        page = await app.get("/api/agents", limit=5, cursor=page["next_cursor"])
        names += [agent["name"] for agent in page["items"]]
    assert names == sorted({*names, *builtin_agents()})
    found = await app.get("/api/agents", search="REWORK tester")
    assert found["items"] == []
    assert [agent["name"] for agent in (await app.get("/api/agents", search="sends WORK"))["items"]] == ["tester"]
    response = await app.client.get("/api/agents/tester")
    tester = response.json()
    assert (response.headers["ETag"], tester["title"], tester["tools"]) == ('"0"', "Tester", ["request_rework"])
    known = {key: tester[key] for key in ("revision", "is_builtin", "updated_at", "updated_by", "used_count")}
    assert known == {"revision": 0, "is_builtin": True, "updated_at": None, "updated_by": None, "used_count": 0}
    text = await app.client.get("/api/agents/tester", params={"format": "yaml"})
    assert text.text.startswith("name: tester\n")
    assert (await app.get("/api/agents/tester/revisions"))["items"] == []
    assert (await app.get("/api/definitions/agent-schema"))["title"] == "LibraryAgent"


async def test_an_agent_is_created_updated_and_removed_and_its_revisions_are_kept(app: App) -> None:
    path = "/api/agents/Fact checker"
    first = await app.client.put(path, content="role: You check facts.\ntitle: Checker\n", headers=YAML)
    assert (first.status_code, first.headers["ETag"]) == (200, '"1"')
    assert (first.json()["name"], first.json()["updated_by"]) == ("Fact checker", "admin")
    same = await app.put(path, {"title": "Checker", "role": "You check facts."})
    assert same["revision"] == 1
    changed = await app.put(path, {"role": "You check figures."}, headers={"If-Match": '"1"'})
    assert (changed["revision"], changed["title"]) == (2, "Fact checker")
    stale = await app.client.put(path, json={"role": "You guess."}, headers={"If-Match": '"1"'})
    assert (stale.status_code, stale.headers["ETag"]) == (412, '"2"')
    assert (await app.client.delete(path, headers={"If-Match": '"1"'})).status_code == 412
    assert (await app.client.delete(path, headers={"If-Match": '"2"'})).status_code == 204
    assert (await app.client.get(path)).status_code == 404
    assert (await app.client.delete(path)).status_code == 404
    revisions = (await app.get(f"{path}/revisions"))["items"]
    assert [
        (revision["revision"], revision["document"] and revision["document"]["role"]) for revision in revisions
    ] == [
        (3, None),
        (2, "You check figures."),
        (1, "You check facts."),
    ]
    again = await app.put(path, {"role": "You check again."}, headers={"If-Match": '"0"'})
    assert again["revision"] == 4
    events = [
        event for event in (await app.get("/api/events", limit=200))["items"] if "library_agent" in event["event_type"]
    ]
    assert {(event["event_type"], event["metadata"]["agent"]) for event in events} >= {
        ("library_agent_saved", "Fact checker"),
        ("library_agent_deleted", "Fact checker"),
    }


@pytest.mark.parametrize(
    ("written", "path", "message"),
    [
        ("name: other\nrole: x", "/name", mentions("'wrong'")),
        ("title: Nobody", "", mentions("`role`", "`system_prompt`", "`task_prompt`")),
        ("role: x\ntools: [hammer]", "/tools/0", mentions("file_operations", '"hammer"')),
        ("role: x\ntools: ['mcp:nowhere']", "/tools/0", mentions("'nowhere'")),
        ("role: x\noutput_schema: { type: objekt }", "/output_schema/type", mentions('"objekt"')),
        ("role: x\nmodel: no model", "/model", mentions('"no model"')),
        ("role: x\npipeline_name: y", "", mentions("`pipeline_name`")),
        ("- role", "", mentions('["role"]')),
    ],
)
async def test_invalid_agents_are_rejected_with_location(app: App, written: str, path: str, message: str) -> None:
    response = await app.client.put("/api/agents/wrong", content=written, headers=YAML)
    assert response.status_code == 422, response.text
    (fault,) = response.json()["errors"]
    assert (fault["path"], fault["message"]) == (path, message)
    assert (await app.client.get("/api/agents/wrong")).status_code == 404


async def test_other_invalid_requests_are_rejected(app: App) -> None:
    for name in ("x", "a" * 101, "a+b", "-a"):
        assert (await app.client.put(f"/api/agents/{name}", json={"role": "x"})).status_code == 422, name
    assert (await app.client.put("/api/agents/wrong", content="{", headers=YAML)).status_code == 400
    assert (await app.client.get("/api/agents/nobody/revisions")).status_code == 404
    ready = await app.client.delete("/api/agents/tester")
    assert (ready.status_code, ready.json()["detail"]) == (409, mentions("tester"))
    async with app.client_for(await token_for(app, "viewer", "approver")) as viewer:
        assert (await viewer.get("/api/agents/tester")).status_code == 200
        assert (await viewer.put("/api/agents/mine", json={"role": "x"})).status_code == 403
        assert (await viewer.delete("/api/agents/mine")).status_code == 403


async def test_agents_in_use_are_not_removed_and_unknown_agents_are_rejected(app: App) -> None:
    await app.put("/api/agents/orator", speaker("Hear me."))
    response = await app.client.post(
        "/api/pipelines", json={"pipeline_name": "Speech", "checkpoints": [speaks("say", "oratr")]}
    )
    (fault,) = response.json()["errors"]
    assert (response.status_code, fault["path"]) == (422, "/checkpoints/0/agent")
    assert fault["message"] == mentions("'oratr'", "'orator'")
    created = [await app.pipeline(speaks("say", "orator"), pipeline_name=f"Speech {n}") for n in range(2)]
    shown = await app.get("/api/agents/orator")
    assert (shown["used_count"], [pipeline["pipeline_name"] for pipeline in shown["used_by"]]) == (
        2,
        ["Speech 0", "Speech 1"],
    )
    held = await app.client.delete("/api/agents/orator")
    assert (held.status_code, held.json()["detail"]) == (409, mentions("orator", "Speech 0, Speech 1"))
    await app.client.delete(f"/api/pipelines/{created[0]['pipeline_id']}")
    changed = {"checkpoints": [speaks("say", {"name": "Somebody", "task_prompt": "Speak."})]}
    await app.put(f"/api/pipelines/{created[1]['pipeline_id']}", changed)
    assert (await app.get("/api/agents/orator"))["used_count"] == 0
    assert (await app.client.delete("/api/agents/orator")).status_code == 204


async def test_saving_an_agent_lists_the_pipelines_it_breaks(app: App) -> None:
    """Saving an agent checks the pipelines that use it."""
    number: Json = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    agent = {"role": "You count.", "task_prompt": "Count.", "output_schema": number}
    saved = await app.put("/api/agents/counter", agent)
    assert saved["warnings"] == []
    count = {"key": "count", "agent": "counter", "outputs": ["count.json"]}
    await app.pipeline(count, speaks("say", "editor", prompt="Say it.", input_mapping={"n": "count.n"}))
    assert (await app.put("/api/agents/counter", {**agent, "title": "Counter"}))["warnings"] == []
    other = {"type": "object", "required": ["m"], "properties": {"m": {"type": "integer"}}}
    (warning,) = (await app.put("/api/agents/counter", {**agent, "output_schema": other}))["warnings"]
    assert warning == mentions("Journey", "/checkpoints/1/input_mapping/n: ")
    assert (await app.put("/api/agents/counter", agent))["warnings"] == []


async def test_a_saved_agent_overrides_a_builtin_one_until_it_is_removed(app: App) -> None:
    mine = await app.put("/api/agents/critic", {"role": "You praise."}, headers={"If-Match": '"0"'})
    assert (mine["is_builtin"], mine["overrides_builtin"], mine["role"]) == (False, True, "You praise.")
    await app.pipeline(speaks("say", "critic", prompt="Speak."), pipeline_name="Praise")
    assert (await app.client.delete("/api/agents/critic")).status_code == 204
    back = await app.get("/api/agents/critic")
    assert (back["is_builtin"], back["role"]) == (True, builtin_agents()["critic"].role)
    assert back["used_count"] == 1


async def test_a_run_keeps_the_agents_it_started_with(app: App) -> None:
    """The second checkpoint and a revision of the first use the library as it was when the run was created."""
    await app.put("/api/agents/parrot", speaker("One."))
    pipeline = await app.pipeline(
        speaks("first", "parrot", approve="complete"),
        speaks("second", {"library_agent": "parrot", "name": "Second"}),
        config={"auto_advance": True},
        pipeline_name="Parrots",
    )
    run = await app.run(pipeline)

    async def waits(iteration: int) -> Json | None:
        now = await app.get(f"/api/executions/{(await app.execution(run))['execution_id']}")
        is_so = now["status"] == "waiting_approval_to_complete" and now["revision_iteration"] == iteration
        return now if is_so else None

    first = await app.wait_until(lambda: waits(0))
    await app.put("/api/agents/parrot", speaker("Two."))
    path = f"/api/executions/{first['execution_id']}"
    await app.post(f"{path}/revise", {"feedback": "Say it again, please."})
    await app.wait_until(lambda: waits(1))
    assert await content(app, run, 0) == "One."
    await app.post(f"{path}/approve", {})
    await wait_for_status(app, run)
    assert await content(app, run, 1) == "One."
    messages = await app.get(f"/api/executions/{(await app.execution(run, 1))['execution_id']}/messages")
    assert messages["items"][-1]["agent_name"] == "Second"
    later = await app.run(pipeline)
    context = await app.get(f"/api/executions/{(await app.execution(later))['execution_id']}/context")
    assert "You speak." in str(context)
    first = await app.execution(later)

    async def held() -> Json | None:
        now = await app.get(f"/api/executions/{first['execution_id']}")
        return now if now["status"] == "waiting_approval_to_complete" else None

    await app.wait_until(held)
    assert await content(app, later, 0) == "Two."


async def test_a_missing_agent_fails_the_checkpoint_with_an_error(app: App) -> None:
    """This can happen after restoring a backup. The API refuses to remove agents in use."""
    await app.put("/api/agents/ghost", speaker("Boo."))
    pipeline = await app.pipeline(speaks("haunt", "ghost"), pipeline_name="Ghosts")
    at = app.cairn.clock.now()
    await app.cairn.database.transact(lambda c: library.add(c, "ghost", 2, None, at, "somebody"))
    run = await app.run(pipeline)
    await wait_for_status(app, run, "paused")
    execution = await app.get(f"/api/executions/{(await app.execution(run))['execution_id']}")
    last = execution["error_details"]["last_error"]
    assert (last["error_type"], last["error_message"]) == ("unknown_agent", mentions("'ghost'"))
