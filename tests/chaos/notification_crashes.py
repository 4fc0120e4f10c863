"""A process that tells people something, and dies on the way. Runs in a process of its own."""

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
from tests.chaos.crashes import DIED, Death
from tests.chaos.scene import COMMAND, Ids
from tests.services.app import App, registry, step

ENDED = ("sent", "failed", "unknown", "skipped")


async def opened(folder: Path) -> App:
    app = App(folder, None, {"outbound_allowed": ["127.0.0.1"]}, functions=registry())
    await app.open()
    app.cairn.notifications.courier.retry_delays = (0.05, 0.05)
    return app


def prepare(folder: Path, receiver: str) -> Ids:
    async def run() -> Ids:
        app = await opened(folder)
        try:
            kinds = [NotificationKind.APPROVAL_REQUESTED]
            wanted = ChannelSpec(name="ops", kind=ChannelKind.WEBHOOK, url=receiver, notification_kinds=kinds)
            await app.cairn.notifications.channels.create(wanted, ADMIN)
            return {"pipeline": await app.pipeline(step("goals", approve="complete"))}
        finally:
            await app.close()

    return asyncio.run(run())


async def act(app: App, ids: Ids) -> Delivery:
    """A run that asks people, until they have been told."""
    run = (await app.cairn.runs.start(ids["pipeline"], actor=ADMIN, command_id=COMMAND)).run_id

    def told() -> Delivery | None:
        found = app.cairn.notification_queries.list_deliveries(DeliveryFilter(run_id=run), 10, None).items
        return found[0] if found and found[0].status in ENDED else None

    return await app.until(told)


class NamedDeath(Death):
    """Dies at the first moment of a name."""

    def __init__(self, name: str) -> None:
        super().__init__(None)
        self._name = name

    def moment(self, name: str) -> None:
        if self.armed and name == self._name:
            os._exit(DIED)
        super().moment(name)


def die(folder: Path, ids: Ids, at: int | str | None) -> list[str]:
    """Act, and die at the moment of this number or name; without one, the answer is what moments there are."""

    async def run() -> list[str]:
        death = NamedDeath(at) if isinstance(at, str) else Death(at)
        app = await opened(folder)
        death.watch(app)
        sending: Any = app.cairn.notifications.courier._sender  # pyright: ignore[reportPrivateUsage]
        send = sending.send

        async def watched(out: OutgoingDelivery) -> str:
            death.moment("before_send")
            answer: str = await send(out)
            death.moment("after_send")
            return answer

        sending.send = watched
        death.armed = True
        await act(app, ids)
        death.armed = False
        await app.close()
        return death.moments

    return asyncio.run(run())
