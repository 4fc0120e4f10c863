"""Messages are stored once, one by one, and are available after a restart."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa

from cairn.core.execution import Failure
from cairn.ports import (
    Conversation,
    ConversationClosed,
    ConversationMessage,
    Errored,
    InvalidResult,
    Outcome,
    OverBudget,
    WorkOrder,
)
from cairn.ports.models import TokenUsage
from cairn.services.actors import ADMIN
from cairn.services.secrets import MASKED
from cairn.store import tables as t
from tests.services.app import App, retries, step
from tests.services.conversing import AT, USAGE, produced, request_message, response_message, scripted_conversations

pytestmark = pytest.mark.asyncio(loop_scope="package")


def calls(app: App, run_id: str) -> list[Any]:
    query = sa.select(t.model_calls).where(t.model_calls.c.run_id == run_id).order_by(t.model_calls.c.call_id)
    return list(app.cairn.database.read(lambda c: c.execute(query).all()))


def attempt_keys(app: App, run_id: str) -> list[tuple[str, str, int]]:
    m = t.messages.c
    query = sa.select(m.attempt_key, m.turn, m.number).where(m.run_id == run_id).order_by(m.message_id)
    return [tuple(row) for row in app.cairn.database.read(lambda c: c.execute(query).all())]


async def test_stored_messages_are_read_back_complete(app: App) -> None:
    first = request_message(
        text="Wieviel? 🪨\0", message={"parts": [], "big": 2**80, "nan": float("nan"), "deep": [{"a": 1.5}]}
    )
    tool = response_message(
        number=2,
        text="",
        cost=None,
        message={
            "parts": [
                {"part_kind": "tool-call", "tool_name": "add", "args": '{"a": 1}', "tool_call_id": "c1"},
                {"part_kind": "builtin-tool-call", "tool_name": "web", "args": {"q": "x"}, "tool_call_id": "c2"},
            ]
        },
    )
    result = request_message(
        number=3,
        text="",
        role="tool",
        message={
            "parts": [
                {"part_kind": "tool-return", "tool_name": "add", "content": {"sum": 2}, "tool_call_id": "c1"},
                {"part_kind": "tool-return", "tool_name": "web", "content": "no", "tool_call_id": "c2", "outcome": "x"},
                {"part_kind": "retry-prompt", "tool_name": "add", "content": "again", "tool_call_id": "c3"},
            ]
        },
    )
    last = response_message(number=4, is_simulated=True, is_last=True, cost=Decimal("0.000000001"))
    stored: list[Sequence[ConversationMessage]] = []

    async def script(work: WorkOrder, conversation: Conversation) -> Outcome:
        assert await conversation.messages() == []
        for message in (first, tool, tool, result, last, last):
            await conversation.save(message)
        stored.append(await conversation.messages())
        return produced(work)

    with scripted_conversations(app.cairn, script):
        run = await app.run_to_completion(await app.pipeline(step("talk")))
    sanitized = replace(
        first, text="Wieviel? 🪨\ufffd", message={"parts": [], "big": 2**80, "nan": None, "deep": [{"a": 1.5}]}
    )
    assert stored == [[sanitized, tool, result, last]]
    billed = [
        (row.turn, row.number, row.model, row.is_simulated, row.cost_nano_usd, row.day, row.called_at, row.seconds)
        for row in calls(app, run)
    ]
    assert billed == [
        ("work", 2, "fake:large", False, None, "2026-03-02", AT, 1.5),
        ("work", 4, "fake:large", True, 1, "2026-03-02", AT, 1.5),
    ]
    used = [
        (r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_tokens, r.checkpoint_key, r.is_test)
        for r in calls(app, run)
    ]
    assert used == [(100, 20, 40, 5, "talk", False)] * 2
    assert (USAGE, tool.tokens) == (TokenUsage(100, 20, 40, 5), USAGE)
    tools = app.cairn.database.read(
        lambda c: c.execute(
            sa.select(t.messages.c.tools).where(t.messages.c.run_id == run).order_by(t.messages.c.message_id)
        ).scalars()
    )
    assert list(tools) == [
        None,
        [
            {"kind": "call", "call_id": "c1", "name": "add", "arguments": {"a": 1}},
            {"kind": "call", "call_id": "c2", "name": "web", "arguments": {"q": "x"}},
        ],
        [
            {"kind": "result", "call_id": "c1", "name": "add", "content": {"sum": 2}, "succeeded": True},
            {"kind": "result", "call_id": "c2", "name": "web", "content": "no", "succeeded": False},
            {"kind": "result", "call_id": "c3", "name": "add", "content": "again", "succeeded": False},
        ],
        None,
    ]


async def test_a_conversation_continues_after_an_error_and_restarts_otherwise(app: App) -> None:
    """An automatic retry doesn't pay twice. A validation retry, a revision and a manual retry get a new attempt key."""
    found: list[tuple[str, int]] = []
    outcomes: list[str] = ["error", "invalid result", "error", "done", "give up", "done", "done"]

    async def script(work: WorkOrder, conversation: Conversation) -> Outcome:
        earlier = await conversation.messages()
        found.append((outcomes[0], len(earlier)))
        await conversation.save(response_message(number=len(earlier) + 1))
        match outcomes.pop(0):
            case "invalid result":
                return InvalidResult(produced(work).artifacts, Failure("invalid", "no"))
            case "error":
                return Errored(Failure("network", "away"))
            case "give up":
                return InvalidResult(produced(work).artifacts, Failure("invalid", "no"))
            case _:
                return produced(work)

    validation = {"enabled": True, "validation_mode": "llm_schema", "max_validation_retries": 1}
    talk = step("talk", execution=retries(2), approve="complete", output={"validation": validation})
    with scripted_conversations(app.cairn, script):
        run = await app.start(await app.pipeline(talk))
        await app.decide(run, "talk", "revise", "once more")
        outcomes.insert(1, "give up")
        await app.wait_for_execution(run, "talk", "failed")
        outcomes[:] = ["done"]
        failed = app.execution(run, "talk")
        await app.cairn.executions.retry(failed.execution_id, actor=ADMIN)
        await app.decide(run, "talk", "approve")
        await app.wait_for_run(run, "completed")
    assert found == [
        ("error", 0),
        ("invalid result", 1),  # same attempt key: the earlier answer is available
        ("error", 0),
        ("done", 1),
        ("give up", 0),  # a revision
        ("give up", 0),  # its validation retry
        ("done", 0),  # a manual retry
    ]
    assert [key for key, _, _ in attempt_keys(app, run)] == [
        "a1.r0.v0",
        "a1.r0.v0",
        "a1.r0.v1",
        "a1.r0.v1",
        "a4.r1.v0",
        "a4.r1.v1",
        "a6.r0.v0",
    ]


async def test_late_messages_are_billed_but_not_stored(app: App) -> None:
    opened: list[Conversation] = []

    async def script(work: WorkOrder, conversation: Conversation) -> Outcome:
        opened.append(conversation)
        await asyncio.Event().wait()
        return produced(work)

    with scripted_conversations(app.cairn, script):
        run = await app.start(await app.pipeline(step("talk")))
        await app.wait_until(lambda: opened or None)
        await opened[0].save(response_message(number=1))
        await app.cairn.runs.cancel(run, actor=ADMIN)
    for _ in range(2):
        with pytest.raises(ConversationClosed):
            await opened[0].save(response_message(number=2))
    assert [number for _, _, number in attempt_keys(app, run)] == [1]
    assert [row.number for row in calls(app, run)] == [1, 2]


async def test_secrets_are_not_stored_in_messages(app: App) -> None:
    await app.cairn.secrets.save("door", "wide-open-sesame", ADMIN)
    message = response_message(text="It is wide-open-sesame", message={"wide-open-sesame": ["x wide-open-sesame y"]})

    async def script(work: WorkOrder, conversation: Conversation) -> Outcome:
        await conversation.save(message)
        (stored,) = await conversation.messages()
        assert (stored.text, stored.message) == (f"It is {MASKED}", {MASKED: [f"x {MASKED} y"]})
        return produced(work)

    with scripted_conversations(app.cairn, script):
        await app.run_to_completion(await app.pipeline(step("talk")))
    await app.cairn.secrets.remove("door", ADMIN)


async def test_work_continues_after_an_exhausted_budget_is_raised(app: App) -> None:
    dispatches: list[int] = []

    async def script(work: WorkOrder, conversation: Conversation) -> Outcome:
        dispatches.append(len(await conversation.messages()))
        if len(dispatches) == 1:
            await conversation.save(request_message())
            return OverBudget("The run's budget of 1 call is spent.")
        return produced(work)

    with scripted_conversations(app.cairn, script):
        run = await app.start(await app.pipeline(step("talk")))
        await app.wait_for_run(run, "paused")
        await app.cairn.runs.resume(run, actor=ADMIN)
        await app.wait_for_run(run, "completed")
    assert dispatches == [0, 1]
    (event,) = [e for e in app.events(run) if e.event_type == "pause_requested"]
    assert event.metadata["reason"] == "The run's budget of 1 call is spent."
