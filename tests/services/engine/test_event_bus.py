"""Change hints reach every listener, from any thread, and never pile up."""

from __future__ import annotations

import asyncio
import threading

from cairn.services.engine.event_bus import RESYNC, ChangeHint, EventBus

ONE = ChangeHint("pipeline", "run 1", "run_started")
TWO = ChangeHint("pipeline", "run 2", "run_started")


async def test_every_listener_hears_what_it_asked_for() -> None:
    event_bus = EventBus()
    with event_bus.subscribe() as everything, event_bus.subscribe("run 1") as first:
        event_bus.publish(ONE)
        event_bus.publish(TWO)
        assert await everything.wait(1) == (ONE, TWO)
        assert await first.wait(1) == (ONE,)
        assert await first.wait(0.01) == ()


async def test_hints_come_one_by_one_too() -> None:
    event_bus = EventBus()
    with event_bus.subscribe() as listener:
        event_bus.publish(ONE, TWO)
        assert [await anext(listener), await anext(listener)] == [ONE, TWO]
        asyncio.get_running_loop().call_later(0.01, event_bus.publish, ONE)
        assert await asyncio.wait_for(anext(listener), 1) == ONE


async def test_a_thread_may_announce() -> None:
    event_bus = EventBus()
    with event_bus.subscribe() as listener:
        thread = threading.Thread(target=event_bus.publish, args=(ONE,))
        thread.start()
        assert await listener.wait(1) == (ONE,)
        thread.join()


async def test_a_slow_listener_is_told_that_anything_may_have_happened() -> None:
    event_bus = EventBus()
    with event_bus.subscribe() as listener:
        for _ in range(10_000):
            event_bus.publish(ONE)
        told = await listener.wait(1)
        assert told[0] == RESYNC
        assert len(told) <= 257


async def test_closing_ends_every_stream() -> None:
    event_bus = EventBus()
    with event_bus.subscribe() as listener:
        asyncio.get_running_loop().call_later(0.01, event_bus.close)
        assert await listener.wait(5) == ()
        assert listener.is_closed
        assert [change async for change in listener] == []
    with event_bus.subscribe() as late:
        assert late.is_closed


async def test_who_leaves_hears_nothing_more() -> None:
    event_bus = EventBus()
    with event_bus.subscribe() as listener:
        pass
    event_bus.publish(ONE)
    assert await listener.wait(0.01) == ()
