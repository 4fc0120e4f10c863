"""Change hints reach every subscriber, from any thread, and queues are bounded."""

from __future__ import annotations

import asyncio
import threading

from cairn.services.engine.event_bus import RESYNC, ChangeHint, EventBus

ONE = ChangeHint("pipeline", "run 1", "run_started")
TWO = ChangeHint("pipeline", "run 2", "run_started")


async def test_subscribers_receive_the_hints_they_subscribed_to() -> None:
    event_bus = EventBus()
    with event_bus.subscribe() as everything, event_bus.subscribe("run 1") as first:
        event_bus.publish(ONE)
        event_bus.publish(TWO)
        assert await everything.wait(1) == (ONE, TWO)
        assert await first.wait(1) == (ONE,)
        assert await first.wait(0.01) == ()


async def test_a_subscription_can_be_iterated() -> None:
    event_bus = EventBus()
    with event_bus.subscribe() as subscription:
        event_bus.publish(ONE, TWO)
        assert [await anext(subscription), await anext(subscription)] == [ONE, TWO]
        asyncio.get_running_loop().call_later(0.01, event_bus.publish, ONE)
        assert await asyncio.wait_for(anext(subscription), 1) == ONE


async def test_hints_can_be_published_from_another_thread() -> None:
    event_bus = EventBus()
    with event_bus.subscribe() as subscription:
        thread = threading.Thread(target=event_bus.publish, args=(ONE,))
        thread.start()
        assert await subscription.wait(1) == (ONE,)
        thread.join()


async def test_a_slow_subscriber_receives_a_resync() -> None:
    event_bus = EventBus()
    with event_bus.subscribe() as subscription:
        for _ in range(10_000):
            event_bus.publish(ONE)
        hints = await subscription.wait(1)
        assert hints[0] == RESYNC
        assert len(hints) <= 257


async def test_closing_the_bus_ends_every_subscription() -> None:
    event_bus = EventBus()
    with event_bus.subscribe() as subscription:
        asyncio.get_running_loop().call_later(0.01, event_bus.close)
        assert await subscription.wait(5) == ()
        assert subscription.is_closed
        assert [change async for change in subscription] == []
    with event_bus.subscribe() as late:
        assert late.is_closed


async def test_a_closed_subscription_receives_nothing() -> None:
    event_bus = EventBus()
    with event_bus.subscribe() as subscription:
        pass
    event_bus.publish(ONE)
    assert await subscription.wait(0.01) == ()
