"""Deltas are streamed in batches; slow watchers do not delay others, and secrets are masked."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from cairn.ports import MessageChunk
from cairn.services.actors import ADMIN
from cairn.services.conversations.live_messages import BATCH_SECONDS, MAX_LENGTH, LiveMessageCursor, LiveMessages
from cairn.services.conversations.views import MessageDelta
from cairn.services.engine.event_bus import EventBus
from cairn.services.secrets import MASKED
from cairn.store import Database
from tests.services.accounts import AccountsHarness


def no_secrets(_: str) -> int:
    return 0


def chunk(text: str, number: int = 1, **fields: Any) -> MessageChunk:
    values: dict[str, Any] = {"kind": "text", "text": text, **fields}
    return MessageChunk("work", number, "Analyst", **values)


async def wait_for_batch() -> None:
    await asyncio.sleep(BATCH_SECONDS * 3)


async def test_each_watcher_receives_what_it_has_not_read() -> None:
    event_bus = EventBus()
    live, early, late = LiveMessages(event_bus, str, no_secrets), LiveMessageCursor(), LiveMessageCursor()
    with event_bus.subscribe("run") as hints, event_bus.subscribe() as lists, event_bus.subscribe("other") as others:
        for piece in ("One", ", two"):
            live.add_chunk("run", "e", "a1.r0.v0", chunk(piece, is_simulated=True))
        live.add_chunk("run", "e", "a1.r0.v0", chunk("hm", kind="thinking"))
        assert [hint.event_type for hint in await hints.wait(1)] == ["message_delta"]
        first = MessageDelta(
            execution_id="e",
            turn="work",
            number=1,
            kind="text",
            attempt_key="a1.r0.v0",
            agent_name="Analyst",
            is_simulated=True,
            offset=0,
            text="One, two",
        )
        thinking = first.model_copy(update={"kind": "thinking", "is_simulated": False, "text": "hm"})
        assert early.new_deltas(live.messages_of_run("run")) == [first, thinking]
        assert early.new_deltas(live.messages_of_run("run")) == []
        live.add_chunk("run", "e", "a1.r0.v0", chunk(", three"))
        await hints.wait(1)
        assert early.new_deltas(live.messages_of_run("run")) == [
            first.model_copy(update={"offset": 8, "text": ", three"})
        ]
        assert late.new_deltas(live.messages_of_run("run")) == [
            first.model_copy(update={"text": "One, two, three"}),
            thinking,
        ]
        live.add_chunk("run", "e", "a1.r0.v0", chunk("Zero", restarts=True))
        await hints.wait(1)
        restarted = first.model_copy(update={"text": "Zero", "is_simulated": False})
        assert (
            early.new_deltas(live.messages_of_run("run")) == late.new_deltas(live.messages_of_run("run")) == [restarted]
        )
        assert (await lists.wait(0.01), await others.wait(0.01)) == ((), ())


async def test_a_removed_message_is_no_longer_live() -> None:
    live = LiveMessages(EventBus(), str, no_secrets)
    for number in (1, 2):
        live.add_chunk("run", "e", "s", chunk("x", number))
        live.add_chunk("run", "f", "s", chunk("x", number))
    await wait_for_batch()
    live.remove("run", "e", "work", 1)
    assert [(message.key.execution_id, message.key.number) for message in live.messages_of_run("run")] == [
        ("f", 1),
        ("e", 2),
        ("f", 2),
    ]
    live.remove("run", "e")
    live.add_chunk("run", "f", "s", chunk("y"))
    live.remove("run", "f")
    await wait_for_batch()
    assert live.messages_of_run("run") == []
    live.remove("run", "f")


async def test_only_the_first_part_of_a_very_long_message_is_streamed() -> None:
    live, cursor = LiveMessages(EventBus(), str, no_secrets), LiveMessageCursor()
    for _ in range(10):
        live.add_chunk("run", "e", "s", chunk("x" * (MAX_LENGTH // 4)))
    await wait_for_batch()
    (delta,) = cursor.new_deltas(live.messages_of_run("run"))
    assert len(delta.text) == MAX_LENGTH


async def test_no_part_of_a_secret_is_streamed(database: Database, tmp_path: Path) -> None:
    harness = AccountsHarness(database, tmp_path)
    await harness.secrets.save("door", "open sesame", ADMIN)
    await harness.secrets.save("gate", "open sesames and more", ADMIN)
    live, cursor = (
        LiveMessages(EventBus(), harness.secrets.mask_loaded, harness.secrets.partial_secret_length),
        LiveMessageCursor(),
    )
    text = ""
    for piece in ("The word: op", "en ", "sesa", "me!", " open", " doors, open sesames and mor", "e", " o"):
        live.add_chunk("run", "e", "s", chunk(piece))
        await wait_for_batch()
        for delta in cursor.new_deltas(live.messages_of_run("run")):
            assert delta.offset == len(text)
            text += delta.text
            assert "sesa" not in text
    assert text == f"The word: {MASKED}! open doors, {MASKED} "
