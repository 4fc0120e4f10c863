"""Conversations over HTTP: paged, streamed, and hidden if the definition says so."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import pytest_asyncio

from cairn.ports import Conversation, MessageChunk, Outcome, WorkOrder
from cairn.services.engine.event_bus import ChangeHint
from tests.api.app import App, Json
from tests.api.listening import Listener, StreamMessage, listening
from tests.api.users import token_for
from tests.mentions import mentions
from tests.services.conversing import (
    agent_checkpoint,
    produced,
    request_message,
    response_message,
    scripted_conversations,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")
NOBODY = "00000000-0000-0000-0000-000000000000"
THOUGHTS = [{"part_kind": "thinking", "content": words} for words in ("One and one.", "", "Two?")]
CALL = {"parts": [*THOUGHTS, {"part_kind": "tool-call", "tool_name": "add", "args": '{"a": 1}', "tool_call_id": "c1"}]}
RESULT = {"parts": [{"part_kind": "tool-return", "tool_name": "add", "content": 2, "tool_call_id": "c1"}]}


async def talk(work: WorkOrder, conversation: Conversation) -> Outcome:
    """A request, a tool call, its result and an answer. A revision has only an answer."""
    if work.revision:
        await conversation.save(response_message(number=1, cost=None))
        return produced(work)
    await conversation.save(request_message())
    await conversation.save(response_message(text="", message=CALL))
    await conversation.save(request_message(number=3, role="tool", text="", message=RESULT))
    await conversation.save(response_message(number=4, is_simulated=True, is_last=True))
    return produced(work)


async def run_conversation(app: App, **config: Any) -> tuple[str, str]:
    """Complete a run with this conversation. Returns the ids of the run and its execution."""
    with scripted_conversations(app.cairn, talk):
        run = await app.run(await app.pipeline(agent_checkpoint(**config)))

        async def done() -> Json | None:
            now = await app.get(f"/api/runs/{run['run_id']}")
            return now if now["status"] == "completed" else None

        await app.wait_until(done)
        return run["run_id"], (await app.execution(run))["execution_id"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def execution_id(app: App) -> str:
    return (await run_conversation(app))[1]


async def test_messages_include_their_tool_calls_and_usage(app: App, execution_id: str) -> None:
    page = await app.get(f"/api/executions/{execution_id}/messages")
    assert (page["next_cursor"], page["is_hidden"]) == (None, False)
    usage = {
        "calls": 1,
        "input_tokens": 100,
        "output_tokens": 20,
        "cache_read_tokens": 40,
        "cache_write_tokens": 5,
        "cost_usd": 0.0125,
        "unpriced_calls": 0,
        "simulated_calls": 0,
        "simulated_tokens": 0,
        "seconds": 1.5,
    }
    first: Json = {
        "message_id": page["items"][0]["message_id"],
        "execution_id": execution_id,
        "timestamp": "2026-03-02T09:30:00.000000Z",
        "agent_name": "Cairn",
        "role": "user",
        "content": "Do it.",
        "attempt_key": "a1.r0.v0",
        "is_current": True,
        "turn": "work",
        "number": 1,
        "purpose": "work",
        "thinking": "",
        "tool_calls": [],
        "tool_results": [],
        "model": None,
        "is_simulated": False,
        "is_last": False,
        "usage": None,
    }
    numbers = [item.pop("message_id") for item in page["items"]]
    assert numbers == sorted(set(numbers))
    del first["message_id"]
    answer = first | {"agent_name": "Analyst", "role": "assistant", "model": "fake:large", "usage": usage}
    assert page["items"] == [
        first,
        answer
        | {
            "number": 2,
            "content": "",
            "thinking": "One and one.\n\nTwo?",
            "tool_calls": [{"call_id": "c1", "name": "add", "arguments": {"a": 1}}],
        },
        first
        | {
            "number": 3,
            "role": "tool",
            "content": "",
            "tool_results": [{"call_id": "c1", "name": "add", "content": 2, "succeeded": True}],
        },
        answer
        | {
            "number": 4,
            "content": "Done.",
            "is_simulated": True,
            "is_last": True,
            "usage": usage | {"simulated_calls": 1, "simulated_tokens": 120},
        },
    ]
    same = await app.get(f"/api/executions/{execution_id}/conversation")
    assert [item["number"] for item in same["items"]] == [1, 2, 3, 4]


async def test_messages_are_paged_and_filtered_by_attempt_key(app: App) -> None:
    with scripted_conversations(app.cairn, talk):
        run = await app.run(await app.pipeline({**agent_checkpoint(), "approve": "complete"}))
        execution = await app.execution(run)
        path = f"/api/executions/{execution['execution_id']}"

        async def waits() -> bool | None:
            status = (await app.get(path))["status"]
            return True if status == "waiting_approval_to_complete" else None

        await app.wait_until(waits)
        await app.post(f"{path}/revise", {"feedback": "shorter"})

        async def revised() -> Json | None:
            page = await app.get(f"{path}/messages")
            return page if len(page["items"]) == 5 else None

        everything = await app.wait_until(revised)
        await app.wait_until(waits)
        await app.post(f"{path}/approve-complete")
    assert [(m["attempt_key"], m["is_current"]) for m in everything["items"]] == [("a1.r0.v0", False)] * 4 + [
        ("a1.r1.v0", True)
    ]
    current = await app.get(f"{path}/messages", attempt_key="current")
    assert [m["usage"]["cost_usd"] for m in current["items"]] == [None]
    assert len((await app.get(f"{path}/messages", attempt_key="a1.r0.v0"))["items"]) == 4
    seen: list[int] = []
    cursor: dict[str, str] = {}
    while True:
        page = await app.get(f"{path}/messages", limit=2, **cursor)
        seen += [message["message_id"] for message in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert seen == [message["message_id"] for message in everything["items"]]
    newest = await app.get(f"{path}/messages", order="newest", limit=2)
    assert [message["message_id"] for message in newest["items"]] == seen[:-3:-1]
    older = await app.get(f"{path}/messages", order="newest", limit=2, before=seen[3])
    assert [message["message_id"] for message in older["items"]] == [seen[2], seen[1]]
    later = await app.get(f"{path}/messages", after=seen[2])
    assert [message["message_id"] for message in later["items"]] == seen[3:]
    assert (await app.get(path))["usage"]["calls"] == 3
    assert (await app.client.get(f"/api/executions/{NOBODY}/messages")).status_code == 404


async def test_only_admins_see_hidden_conversations(app: App) -> None:
    """`show_conversation: false` hides it from all users but admins. Its cost stays visible to all."""
    run, execution = await run_conversation(app, show_conversation=False)
    path, stream = f"/api/executions/{execution}/messages", f"/api/runs/{run}/stream"
    shown = await app.get(path)
    assert (len(shown["items"]), shown["is_hidden"]) == (4, True)
    for roles in (("viewer",), ("editor", "approver")):
        token = await token_for(app, *roles)
        async with app.client_for(token) as client:
            answer = (await client.get(path)).json()
            assert answer == {"items": [], "next_cursor": None, "is_hidden": True}
            assert (await client.get(f"/api/runs/{run}/costs")).json()["total"]["calls"] == 2
        async with listening(app, stream, token) as listener:
            assert "message" not in {message.event for message in await listener.until("run_completed")}
            # long enough for a message to arrive
            await asyncio.sleep(0 if app.cairn.database.kind == "sqlite" else 1.2)
            app.cairn.event_bus.publish(ChangeHint(None, run, "log"))
            assert "message" not in await received_events(listener)
    narrowed = await token_for(app, "admin", scopes=["read"])
    async with app.client_for(narrowed) as client:
        assert (await client.get(path)).json()["items"] == []
    async with listening(app, stream) as listener:
        assert len(await messages(listener, 4)) == 4


async def received_events(listener: Listener) -> set[str]:
    """The types of all events that arrive within a moment."""
    kinds: set[str] = set()
    try:
        while True:
            kinds.add((await listener.next(0.2)).event)
    except TimeoutError:
        return kinds


async def messages(listener: Listener, count: int) -> list[StreamMessage]:
    found: list[StreamMessage] = []
    while len(found) < count:
        message = await listener.next()
        found += [message] if message.event == "message" else []
    return found


async def test_a_stream_sends_deltas_then_messages_and_resumes_after_the_last(app: App) -> None:
    go, path = asyncio.Event(), ""

    async def speak(work: WorkOrder, conversation: Conversation) -> Outcome:
        for piece in ("The answer ", "is", " 42."):
            conversation.publish_chunk(MessageChunk("work", 1, "Analyst", "text", piece, is_simulated=True))
        await go.wait()
        await conversation.save(response_message(number=1, text="The answer is 42."))
        await conversation.save(response_message(number=2, text="Really."))
        return produced(work)

    with scripted_conversations(app.cairn, speak):
        run = await app.run(await app.pipeline(agent_checkpoint()))
        path = f"/api/runs/{run['run_id']}/stream"
        execution = (await app.execution(run))["execution_id"]
        async with listening(app, path) as stream:
            message = await stream.next()
            while message.event != "message_delta":
                message = await stream.next()
            assert (message.id, message.data) == (
                None,
                {
                    "execution_id": execution,
                    "attempt_key": "a1.r0.v0",
                    "turn": "work",
                    "number": 1,
                    "agent_name": "Analyst",
                    "kind": "text",
                    "offset": 0,
                    "text": "The answer is 42.",
                    "is_simulated": True,
                },
            )
            async with listening(app, path) as late:  # a late subscriber receives the text so far
                while (message := await late.next()).event != "message_delta":
                    pass
                assert message.data["text"] == "The answer is 42."
            go.set()
            first, second = await messages(stream, 2)
            await app.wait_until(lambda: ended(app, run))
    assert [first.data["content"], second.data["content"]] == ["The answer is 42.", "Really."]
    listed = (await app.get(f"/api/executions/{execution}/messages"))["items"]
    assert listed == [first.data, second.data]
    async with listening(app, path, **{"Last-Event-ID": first.id or ""}) as stream:
        (again,) = await messages(stream, 1)
        assert (again.data, again.id) == (second.data, again.id)
    assert app.cairn.conversations.live_messages.messages_of_run(run["run_id"]) == []


async def ended(app: App, run: Json) -> bool | None:
    return True if (await app.get(f"/api/runs/{run['run_id']}"))["status"] == "completed" else None


async def test_costs_and_budgets_over_http(app: App) -> None:
    async def spend(work: WorkOrder, conversation: Conversation) -> Outcome:
        for number in range(len(await conversation.messages()) + 1, 4):
            await conversation.check_budget()
            await conversation.save(response_message(number=number))
        return produced(work)

    with scripted_conversations(app.cairn, spend):
        pipeline = await app.pipeline(agent_checkpoint(), budget={"max_calls": 2})
        assert "/budget" not in {warning["path"] for warning in pipeline["warnings"]}
        run = await app.run(pipeline)
        path = f"/api/runs/{run['run_id']}"

        async def paused() -> Json | None:
            now = await app.get(path)
            return now if now["status"] == "paused" else None

        held = await app.wait_until(paused)
        assert (held["over_budget"], held["budget"]["status"][0]["is_exhausted"]) == (mentions("2 calls"), True)
        response = await app.client.post(f"{path}/resume")
        assert (response.status_code, response.json()["detail"].startswith(held["over_budget"])) == (409, True)
        async with app.client_for(await token_for(app, "viewer", "approver")) as client:
            assert (await client.put(f"{path}/budget", json={"max_calls": 5})).status_code == 403
        refusable: list[Json] = [{"max_calls": 0}, {"max_cost_usd": 0}, {"max_cost_usd": "1"}, {"per_month": {}}]
        for wrong in refusable:
            assert (await app.client.put(f"{path}/budget", json=wrong)).status_code == 422
        async with app.client_for(await token_for(app, "editor")) as editor:
            raised = (await editor.put(f"{path}/budget", json={"max_calls": 5})).json()
            assert (raised["status"], raised["budget"]["run_limits"]["max_calls"]) == ("paused", 5)
            assert (await editor.put(f"{path}/budget", json={"max_calls": 5})).status_code == 200
            assert (await editor.post(f"{path}/resume")).status_code == 200
        await app.wait_until(lambda: ended(app, run))
    assert (await app.client.put(f"{path}/budget", json={"max_calls": 9})).status_code == 409
    costs = await app.get(f"{path}/costs")
    assert (costs["group_by"], costs["total"]["cost_usd"], len(costs["items"])) == ("execution", 0.0375, 1)
    assert (costs["run_id"], costs["budget_status"][0]["allowed"]) == (run["run_id"], 5.0)
    own = pipeline["pipeline_id"]
    for by, key in {"day": "2026-03-02", "run": run["run_id"], "model": "fake:large"}.items():
        costs = await app.get(f"/api/pipelines/{own}/costs", group_by=by)
        assert [(line["key"], line["usage"]["calls"]) for line in costs["items"]] == [(key, 3)]
    none = await app.get(f"/api/pipelines/{own}/costs", since="2026-03-03")
    assert (none["items"], none["total"]["cost_usd"]) == ([], 0.0)
    everything = await app.get("/api/costs", group_by="pipeline", limit=500)
    assert own in {line["key"] for line in everything["items"]}
    assert (await app.client.get("/api/costs", params={"group_by": "color"})).status_code == 422
    for unknown in (f"/api/runs/{NOBODY}/costs", f"/api/pipelines/{NOBODY}/costs"):
        assert (await app.client.get(unknown)).status_code == 404
