"""Change hints reach every listener, from any thread, and never pile up."""

from __future__ import annotations

import asyncio
import threading

from cairn.services.engine.event_bus import RESYNC, ChangeHint, EventBus

ONE = ChangeHint("pipeline", "run 1", "run_started")
TWO = ChangeHint("pipeline", "run 2", "run_started")


async def test_every_listener_hears_what_it_asked_for() -> None:
    hub = EventBus()
    with hub.subscribe() as everything, hub.subscribe("run 1") as first:
        hub.publish(ONE)
        hub.publish(TWO)
        assert await everything.wait(1) == (ONE, TWO)
        assert await first.wait(1) == (ONE,)
        assert await first.wait(0.01) == ()


async def test_hints_come_one_by_one_too() -> None:
    hub = EventBus()
    with hub.subscribe() as listener:
        hub.publish(ONE, TWO)
        assert [await anext(listener), await anext(listener)] == [ONE, TWO]
        asyncio.get_running_loop().call_later(0.01, hub.publish, ONE)
        assert await asyncio.wait_for(anext(listener), 1) == ONE


async def test_a_thread_may_announce() -> None:
    hub = EventBus()
    with hub.subscribe() as listener:
        thread = threading.Thread(target=hub.publish, args=(ONE,))
        thread.start()
        assert await listener.wait(1) == (ONE,)
        thread.join()


async def test_a_slow_listener_is_told_that_anything_may_have_happened() -> None:
    hub = EventBus()
    with hub.subscribe() as listener:
        for _ in range(10_000):
            hub.publish(ONE)
        told = await listener.wait(1)
        assert told[0] == RESYNC
        assert len(told) <= 257


async def test_closing_ends_every_stream() -> None:
    hub = EventBus()
    with hub.subscribe() as listener:
        asyncio.get_running_loop().call_later(0.01, hub.close)
        assert await listener.wait(5) == ()
        assert listener.is_closed
        assert [change async for change in listener] == []
    with hub.subscribe() as late:
        assert late.is_closed


async def test_who_leaves_hears_nothing_more() -> None:
    hub = EventBus()
    with hub.subscribe() as listener:
        pass
    hub.publish(ONE)
    assert await listener.wait(0.01) == ()
