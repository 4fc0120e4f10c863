"""Trying a channel out: one try now, whose end its admin sees at once and the log keeps."""

from __future__ import annotations

from uuid import uuid4

import sqlalchemy as sa

from cairn.ports import Clock
from cairn.services.actors import Actor
from cairn.services.engine.retry import retry_transient
from cairn.services.errors import InvalidInput
from cairn.services.notifications import content, deliveries
from cairn.services.notifications.channels import find
from cairn.services.notifications.composer import trial
from cairn.services.notifications.courier import Courier, DeliveryEnded
from cairn.services.notifications.routing import RoutedChannel, read
from cairn.services.notifications.sender import OutgoingDelivery
from cairn.store import Connection, Database
from cairn.store import tables as t
from cairn.store.tables.notifications import ChannelKind, DeliveryOutcome, DeliveryStatus, NotificationKind

STATUS = {
    DeliveryOutcome.SENT: DeliveryStatus.SENT,
    DeliveryOutcome.NOT_SENT: DeliveryStatus.FAILED,
    DeliveryOutcome.UNKNOWN: DeliveryStatus.UNKNOWN,
}


class ChannelTests:
    def __init__(self, database: Database, courier: Courier, clock: Clock) -> None:
        self._database = database
        self._courier = courier
        self._clock = clock

    async def run(self, channel_id: str, actor: Actor, recipient: str | None = None) -> str:
        """The id of the delivery. A channel that is not in use can be tried out too."""
        out = await self._database.transact(lambda c: self._begin(c, channel_id, actor, recipient))
        ended = await self._courier.try_once(out)
        await retry_transient(lambda: self._database.transact(lambda c: self._end(c, out.delivery_id, ended)))
        return out.delivery_id

    def _begin(self, connection: Connection, channel_id: str, actor: Actor, recipient: str | None) -> OutgoingDelivery:
        now, channel = self._clock.now(), read(find(connection, channel_id))
        told = trial(channel.name, actor.name)
        notification_id = str(uuid4())
        values = {
            "notification_id": notification_id,
            "kind": NotificationKind.TEST.value,
            "actor": actor.name,
            "detail": {},
            "created_at": now,
            "content": content.write(told),
        }
        connection.execute(sa.insert(t.notification_outbox).values(values))
        to = deliveries.direct(channel, _recipient(channel, actor, recipient))
        delivery_id = deliveries.make(connection, notification_id, to, now) or ""
        deliveries.begin_try(connection, deliveries.find(connection, delivery_id), now)
        return OutgoingDelivery(delivery_id, channel, to.recipient, told)

    def _end(self, connection: Connection, delivery_id: str, ended: DeliveryEnded) -> None:
        now = self._clock.now()
        deliveries.end_try(connection, delivery_id, 1, ended.outcome, ended.told, now)
        deliveries.close(connection, delivery_id, STATUS[ended.outcome], ended.told, now)


def _recipient(channel: RoutedChannel, actor: Actor, recipient: str | None) -> str:
    if channel.kind is not ChannelKind.EMAIL:
        return ""
    to = recipient or actor.email or next((r for r in channel.recipients if "@" in r), None)
    if to is None:
        raise InvalidInput([("/recipient", "Say which address the mail goes to.")])
    return to
