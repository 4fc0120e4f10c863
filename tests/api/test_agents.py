"""The agent library over HTTP, definitions that refer to it, and runs that keep their agents."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.definitions import ready_agents
from cairn.store import library
from tests.api.house import House, Json
from tests.api.people import token_for
from tests.mentions import mentions

pytestmark = pytest.mark.asyncio(loop_scope="module")
YAML = {"Content-Type": "application/yaml"}


def speaker(words: str, **more: Any) -> Json:
    """An agent that says just this on the simulated model."""
    said = {"simulation": [{"say": words}]}
    return {"role": "You speak.", "task_prompt": "Speak.", "model_settings": said, **more}


def speaks(key: str, agent: Any, **more: Any) -> Json:
    return {"key": key, "agent": agent, "outputs": [f"{key}.txt"], **more}


async def ended(house: House, run: Json, status: str = "completed") -> Json:
    async def probe() -> Json | None:
        now = await house.get(f"/api/runs/{run['run_id']}")
        return now if now["status"] == status else None

    return await house.until(probe)


async def content(house: House, run: Json, position: int) -> str:
    execution = await house.get(f"/api/executions/{(await house.execution(run, position))['execution_id']}")
    (artifact,) = execution["artifacts_generated"]
    answer = await house.client.get(f"/api/artifacts/{artifact['artifact_record_id']}/content")
    return answer.text


async def test_ready_agents_are_listed_searched_and_read(house: House) -> None:
    page = await house.get("/api/agents", limit=5)
    names = [one["name"] for one in page["items"]]
    while page["next_cursor"] is not None:
        page = await house.get("/api/agents", limit=5, cursor=page["next_cursor"])
        names += [one["name"] for one in page["items"]]
    assert names == sorted({*names, *ready_agents()})
    found = await house.get("/api/agents", search="REWORK tester")
    assert found["items"] == []
    assert [one["name"] for one in (await house.get("/api/agents", search="sends WORK"))["items"]] == ["tester"]
    response = await house.client.get("/api/agents/tester")
    tester = response.json()
    assert (response.headers["ETag"], tester["title"], tester["tools"]) == ('"0"', "Tester", ["request_rework"])
    known = {key: tester[key] for key in ("revision", "is_ready_made", "updated_at", "updated_by", "used_count")}
    assert known == {"revision": 0, "is_ready_made": True, "updated_at": None, "updated_by": None, "used_count": 0}
    text = await house.client.get("/api/agents/tester", params={"format": "yaml"})
    assert text.text.startswith("name: tester\n")
    assert (await house.get("/api/agents/tester/revisions"))["items"] == []
    assert (await house.get("/api/definitions/agent-schema"))["title"] == "LibraryAgent"


async def test_an_agent_is_saved_changed_and_removed_with_every_revision_kept(house: House) -> None:
    path = "/api/agents/Fact checker"
    first = await house.client.put(path, content="role: You check facts.\ntitle: Checker\n", headers=YAML)
    assert (first.status_code, first.headers["ETag"]) == (200, '"1"')
    assert (first.json()["name"], first.json()["updated_by"]) == ("Fact checker", "admin")
    same = await house.put(path, {"title": "Checker", "role": "You check facts."})
    assert same["revision"] == 1
    changed = await house.put(path, {"role": "You check figures."}, headers={"If-Match": '"1"'})
    assert (changed["revision"], changed["title"]) == (2, "Fact checker")
    stale = await house.client.put(path, json={"role": "You guess."}, headers={"If-Match": '"1"'})
    assert (stale.status_code, stale.headers["ETag"]) == (412, '"2"')
    assert (await house.client.delete(path, headers={"If-Match": '"1"'})).status_code == 412
    assert (await house.client.delete(path, headers={"If-Match": '"2"'})).status_code == 204
    assert (await house.client.get(path)).status_code == 404
    assert (await house.client.delete(path)).status_code == 404
    revisions = (await house.get(f"{path}/revisions"))["items"]
    assert [(one["revision"], one["document"] and one["document"]["role"]) for one in revisions] == [
        (3, None),
        (2, "You check figures."),
        (1, "You check facts."),
    ]
    again = await house.put(path, {"role": "You check again."}, headers={"If-Match": '"0"'})
    assert again["revision"] == 4
    told = [one for one in (await house.get("/api/events", limit=200))["items"] if "library_agent" in one["event_type"]]
    assert {(one["event_type"], one["metadata"]["agent"]) for one in told} >= {
        ("library_agent_saved", "Fact checker"),
        ("library_agent_removed", "Fact checker"),
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
async def test_bad_agents_are_refused_with_their_place(house: House, written: str, path: str, message: str) -> None:
    refused = await house.client.put("/api/agents/wrong", content=written, headers=YAML)
    assert refused.status_code == 422, refused.text
    (fault,) = refused.json()["errors"]
    assert (fault["path"], fault["message"]) == (path, message)
    assert (await house.client.get("/api/agents/wrong")).status_code == 404


async def test_other_bad_requests(house: House) -> None:
    for name in ("x", "a" * 101, "a+b", "-a"):
        assert (await house.client.put(f"/api/agents/{name}", json={"role": "x"})).status_code == 422, name
    assert (await house.client.put("/api/agents/wrong", content="{", headers=YAML)).status_code == 400
    assert (await house.client.get("/api/agents/nobody/revisions")).status_code == 404
    ready = await house.client.delete("/api/agents/tester")
    assert (ready.status_code, ready.json()["detail"]) == (409, mentions("tester"))
    async with house.visitor(await token_for(house, "viewer", "approver")) as viewer:
        assert (await viewer.get("/api/agents/tester")).status_code == 200
        assert (await viewer.put("/api/agents/mine", json={"role": "x"})).status_code == 403
        assert (await viewer.delete("/api/agents/mine")).status_code == 403


async def test_what_is_used_is_not_removed_and_unknown_ones_are_not_referred_to(house: House) -> None:
    await house.put("/api/agents/orator", speaker("Hear me."))
    refused = await house.client.post(
        "/api/pipelines", json={"pipeline_name": "Speech", "checkpoints": [speaks("say", "oratr")]}
    )
    (fault,) = refused.json()["errors"]
    assert (refused.status_code, fault["path"]) == (422, "/checkpoints/0/agent")
    assert fault["message"] == mentions("'oratr'", "'orator'")
    made = [await house.pipeline(speaks("say", "orator"), pipeline_name=f"Speech {n}") for n in range(2)]
    shown = await house.get("/api/agents/orator")
    assert (shown["used_count"], [one["pipeline_name"] for one in shown["used_by"]]) == (2, ["Speech 0", "Speech 1"])
    held = await house.client.delete("/api/agents/orator")
    assert (held.status_code, held.json()["detail"]) == (409, mentions("orator", "Speech 0, Speech 1"))
    await house.client.delete(f"/api/pipelines/{made[0]['pipeline_id']}")
    changed = {"checkpoints": [speaks("say", {"name": "Somebody", "task_prompt": "Speak."})]}
    await house.put(f"/api/pipelines/{made[1]['pipeline_id']}", changed)
    assert (await house.get("/api/agents/orator"))["used_count"] == 0
    assert (await house.client.delete("/api/agents/orator")).status_code == 204


async def test_saving_names_the_pipelines_that_do_not_fit_any_more(house: House) -> None:
    """A change of an agent checks the pipelines that use it again."""
    number: Json = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    agent = {"role": "You count.", "task_prompt": "Count.", "output_schema": number}
    saved = await house.put("/api/agents/counter", agent)
    assert saved["warnings"] == []
    count = {"key": "count", "agent": "counter", "outputs": ["count.json"]}
    await house.pipeline(count, speaks("say", "editor", prompt="Say it.", input_mapping={"n": "count.n"}))
    assert (await house.put("/api/agents/counter", {**agent, "title": "Counter"}))["warnings"] == []
    other = {"type": "object", "required": ["m"], "properties": {"m": {"type": "integer"}}}
    (warning,) = (await house.put("/api/agents/counter", {**agent, "output_schema": other}))["warnings"]
    assert warning.startswith("Journey does not fit it any more: /checkpoints/1/input_mapping/n: count.n cannot exist")
    assert (await house.put("/api/agents/counter", agent))["warnings"] == []


async def test_ones_own_stands_before_a_ready_one_and_gives_its_place_back(house: House) -> None:
    mine = await house.put("/api/agents/critic", {"role": "You praise."}, headers={"If-Match": '"0"'})
    assert (mine["is_ready_made"], mine["replaces_ready_made"], mine["role"]) == (False, True, "You praise.")
    await house.pipeline(speaks("say", "critic", prompt="Speak."), pipeline_name="Praise")
    assert (await house.client.delete("/api/agents/critic")).status_code == 204
    back = await house.get("/api/agents/critic")
    assert (back["is_ready_made"], back["role"]) == (True, ready_agents()["critic"].role)
    assert back["used_count"] == 1


async def test_a_run_keeps_the_agents_that_it_began_with(house: House) -> None:
    """The second checkpoint, and a revision of the first, speak as the library was when the run was made."""
    await house.put("/api/agents/parrot", speaker("One."))
    pipeline = await house.pipeline(
        speaks("first", "parrot", approve="complete"),
        speaks("second", {"library_agent": "parrot", "name": "Second"}),
        config={"auto_advance": True},
        pipeline_name="Parrots",
    )
    run = await house.run(pipeline)

    async def waits(iteration: int) -> Json | None:
        now = await house.get(f"/api/executions/{(await house.execution(run))['execution_id']}")
        is_so = now["status"] == "waiting_approval_to_complete" and now["revision_iteration"] == iteration
        return now if is_so else None

    first = await house.until(lambda: waits(0))
    await house.put("/api/agents/parrot", speaker("Two."))
    path = f"/api/executions/{first['execution_id']}"
    await house.post(f"{path}/revise", {"feedback": "Say it again, please."})
    await house.until(lambda: waits(1))
    assert await content(house, run, 0) == "One."
    await house.post(f"{path}/approve", {})
    await ended(house, run)
    assert await content(house, run, 1) == "One."
    messages = await house.get(f"/api/executions/{(await house.execution(run, 1))['execution_id']}/messages")
    assert messages["items"][-1]["agent_name"] == "Second"
    later = await house.run(pipeline)
    context = await house.get(f"/api/executions/{(await house.execution(later))['execution_id']}/context")
    assert "You speak." in str(context)
    first = await house.execution(later)

    async def held() -> Json | None:
        now = await house.get(f"/api/executions/{first['execution_id']}")
        return now if now["status"] == "waiting_approval_to_complete" else None

    await house.until(held)
    assert await content(house, later, 0) == "Two."


async def test_an_agent_that_is_gone_fails_the_checkpoint_in_plain_words(house: House) -> None:
    """As after a restored backup: nobody could have removed it over HTTP."""
    await house.put("/api/agents/ghost", speaker("Boo."))
    pipeline = await house.pipeline(speaks("haunt", "ghost"), pipeline_name="Ghosts")
    at = house.cairn.clock.now()
    await house.cairn.database.transact(lambda c: library.add(c, "ghost", 2, None, at, "somebody"))
    run = await house.run(pipeline)
    await ended(house, run, "paused")
    execution = await house.get(f"/api/executions/{(await house.execution(run))['execution_id']}")
    last = execution["error_details"]["last_error"]
    assert (last["error_type"], last["error_message"]) == ("unknown_agent", mentions("'ghost'"))
