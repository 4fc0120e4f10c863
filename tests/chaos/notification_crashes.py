"""A process that crashes while it sends a notification. Runs in a separate process."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from cairn.services.actors import ADMIN
from cairn.services.notifications.channels import ChannelSpec
from cairn.services.notifications.queries import DeliveryFilter
from cairn.services.notifications.sender import OutgoingDelivery
from cairn.services.notifications.views import Delivery
from cairn.store.tables.notifications import ChannelKind, NotificationKind
from tests.chaos.crashes import DIED, CrashPoints
from tests.chaos.scenario import COMMAND, Ids
from tests.services.app import App, registry, step

ENDED = ("sent", "failed", "unknown", "skipped")


async def open_app(folder: Path) -> App:
    app = App(folder, None, {"outbound_allowed": ["127.0.0.1"]}, functions=registry())
    await app.open()
    app.cairn.notifications.courier.retry_delays = (0.05, 0.05)
    return app


def prepare(folder: Path, receiver: str) -> Ids:
    async def run() -> Ids:
        app = await open_app(folder)
        try:
            kinds = [NotificationKind.APPROVAL_REQUESTED]
            spec = ChannelSpec(name="ops", kind=ChannelKind.WEBHOOK, url=receiver, notification_kinds=kinds)
            await app.cairn.notifications.channels.create(spec, ADMIN)
            return {"pipeline": await app.pipeline(step("goals", approve="complete"))}
        finally:
            await app.close()

    return asyncio.run(run())


async def act(app: App, ids: Ids) -> Delivery:
    """Start a run that requests an approval, and wait until its notification was sent or has failed."""
    run = (await app.cairn.runs.create(ids["pipeline"], actor=ADMIN, command_id=COMMAND)).run_id

    def ended_delivery() -> Delivery | None:
        deliveries = app.cairn.notification_queries.list_deliveries(DeliveryFilter(run_id=run), 10, None).items
        return deliveries[0] if deliveries and deliveries[0].status in ENDED else None

    return await app.wait_until(ended_delivery)


class NamedCrashPoint(CrashPoints):
    """Exits at the first crash point with this name."""

    def __init__(self, name: str) -> None:
        super().__init__(None)
        self._name = name

    def reach(self, name: str) -> None:
        if self.armed and name == self._name:
            os._exit(DIED)
        super().reach(name)


def die(folder: Path, ids: Ids, at: int | str | None) -> list[str]:
    """Act and crash at the crash point with this number or name. Without one, return the names of all crash points."""

    async def run() -> list[str]:
        crash_points = NamedCrashPoint(at) if isinstance(at, str) else CrashPoints(at)
        app = await open_app(folder)
        crash_points.watch(app)
        sender: Any = app.cairn.notifications.courier._sender  # pyright: ignore[reportPrivateUsage]
        send = sender.send

        async def send_at_crash_points(delivery: OutgoingDelivery) -> str:
            crash_points.reach("before_send")
            response: str = await send(delivery)
            crash_points.reach("after_send")
            return response

        sender.send = send_at_crash_points
        crash_points.armed = True
        await act(app, ids)
        crash_points.armed = False
        await app.close()
        return crash_points.reached

    return asyncio.run(run())
