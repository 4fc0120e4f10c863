"""Deltas are streamed at once; slow listeners do not delay them, and secrets are masked."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from cairn.ports import MessageChunk
from cairn.services.actors import ADMIN
from cairn.services.conversations.live_messages import BATCH_SECONDS, LONGEST, LiveMessageCursor, LiveMessages
from cairn.services.conversations.views import MessageDelta
from cairn.services.engine.event_bus import EventBus
from cairn.services.secrets import MASKED
from cairn.store import Database
from tests.services.accounts import Household


def nothing(_: str) -> int:
    return 0


def heard(piece: str, number: int = 1, **more: Any) -> MessageChunk:
    given: dict[str, Any] = {"kind": "text", "text": piece, **more}
    return MessageChunk("work", number, "Analyst", **given)


async def batch() -> None:
    await asyncio.sleep(BATCH_SECONDS * 3)


async def test_each_listener_is_told_what_it_has_not_seen() -> None:
    hub = EventBus()
    air, early, late = LiveMessages(hub, str, nothing), LiveMessageCursor(), LiveMessageCursor()
    with hub.subscribe("run") as hints, hub.subscribe() as lists, hub.subscribe("other") as others:
        for piece in ("One", ", two"):
            air.hear("run", "e", "a1.r0.v0", heard(piece, is_simulated=True))
        air.hear("run", "e", "a1.r0.v0", heard("hm", kind="thinking"))
        assert [hint.event_type for hint in await hints.wait(1)] == ["heard"]
        first = MessageDelta(
            execution_id="e",
            turn="work",
            number=1,
            kind="text",
            scope="a1.r0.v0",
            agent_name="Analyst",
            is_simulated=True,
            offset=0,
            text="One, two",
        )
        thinking = first.model_copy(update={"kind": "thinking", "is_simulated": False, "text": "hm"})
        assert early.take(air.now("run")) == [first, thinking]
        assert early.take(air.now("run")) == []
        air.hear("run", "e", "a1.r0.v0", heard(", three"))
        await hints.wait(1)
        assert early.take(air.now("run")) == [first.model_copy(update={"offset": 8, "text": ", three"})]
        assert late.take(air.now("run")) == [first.model_copy(update={"text": "One, two, three"}), thinking]
        air.hear("run", "e", "a1.r0.v0", heard("Zero", restarts=True))
        await hints.wait(1)
        anew = first.model_copy(update={"text": "Zero", "is_simulated": False})
        assert early.take(air.now("run")) == late.take(air.now("run")) == [anew]
        assert (await lists.wait(0.01), await others.wait(0.01)) == ((), ())


async def test_what_is_whole_or_cut_off_is_no_longer_on_its_way() -> None:
    air = LiveMessages(EventBus(), str, nothing)
    for number in (1, 2):
        air.hear("run", "e", "s", heard("x", number))
        air.hear("run", "f", "s", heard("x", number))
    await batch()
    air.whole("run", "e", "work", 1)
    assert [(one.key.execution_id, one.key.number) for one in air.now("run")] == [("f", 1), ("e", 2), ("f", 2)]
    air.whole("run", "e")
    air.hear("run", "f", "s", heard("y"))
    air.whole("run", "f")
    await batch()
    assert air.now("run") == []
    air.whole("run", "f")


async def test_a_message_without_end_is_not_kept_whole_in_memory() -> None:
    air, listener = LiveMessages(EventBus(), str, nothing), LiveMessageCursor()
    for _ in range(10):
        air.hear("run", "e", "s", heard("x" * (LONGEST // 4)))
    await batch()
    (told,) = listener.take(air.now("run"))
    assert len(told.text) == LONGEST


async def test_no_part_of_a_secret_is_streamed(database: Database, tmp_path: Path) -> None:
    household = Household(database, tmp_path)
    await household.secrets.put("door", "open sesame", ADMIN)
    await household.secrets.put("gate", "open sesames and more", ADMIN)
    air, listener = (
        LiveMessages(EventBus(), household.secrets.mask_remembered, household.secrets.begun),
        LiveMessageCursor(),
    )
    text = ""
    for piece in ("The word: op", "en ", "sesa", "me!", " open", " doors, open sesames and mor", "e", " o"):
        air.hear("run", "e", "s", heard(piece))
        await batch()
        for told in listener.take(air.now("run")):
            assert told.offset == len(text)
            text += told.text
            assert "sesa" not in text
    assert text == f"The word: {MASKED}! open doors, {MASKED} "
