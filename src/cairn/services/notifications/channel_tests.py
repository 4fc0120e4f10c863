"""Send test notifications to channels. The admin sees the result immediately and in the list of deliveries."""

from __future__ import annotations

from uuid import uuid4

from cairn.ports import Clock
from cairn.services.actors import Actor
from cairn.services.engine.retry import retry_transient
from cairn.services.errors import InvalidInput
from cairn.services.notifications import queries, records
from cairn.services.notifications.composer import compose_test
from cairn.services.notifications.courier import AttemptResult, Courier
from cairn.services.notifications.routing import DeliveryTarget, RoutedChannel
from cairn.services.notifications.sender import OutgoingDelivery
from cairn.store import Connection, Database
from cairn.store.tables.notifications import ChannelKind, DeliveryOutcome, DeliveryStatus, NotificationKind

STATUSES = {
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
        """Send a test notification and return the id of its delivery. Disabled channels can be tested too."""
        delivery = await self._database.transact(lambda c: self._start(c, channel_id, actor, recipient))
        result = await self._courier.attempt(delivery)
        await retry_transient(lambda: self._database.transact(lambda c: self._end(c, delivery.delivery_id, result)))
        return delivery.delivery_id

    def _start(self, connection: Connection, channel_id: str, actor: Actor, recipient: str | None) -> OutgoingDelivery:
        now, channel = self._clock.now(), RoutedChannel.from_row(queries.find_channel(connection, channel_id))
        content = compose_test(channel.name, actor.name)
        notification_id = str(uuid4())
        values = {
            "notification_id": notification_id,
            "kind": NotificationKind.TEST.value,
            "pipeline_id": None,
            "run_id": None,
            "execution_id": None,
            "approval_id": None,
            "actor": actor.name,
            "detail": {},
            "created_at": now,
            "content": content.to_json(),
        }
        records.insert_notification(connection, values)
        target = DeliveryTarget.for_channel(channel, _recipient(channel, actor, recipient))
        delivery_id = records.insert_delivery(connection, notification_id, target, now) or ""
        records.start_attempt(connection, queries.find_delivery(connection, delivery_id), now)
        return OutgoingDelivery(delivery_id, channel, target.recipient, content)

    def _end(self, connection: Connection, delivery_id: str, result: AttemptResult) -> None:
        now = self._clock.now()
        records.end_attempt(connection, delivery_id, 1, result.outcome, result.response, now)
        records.close_delivery(connection, delivery_id, STATUSES[result.outcome], result.response, now)


def _recipient(channel: RoutedChannel, actor: Actor, recipient: str | None) -> str:
    if channel.kind is not ChannelKind.EMAIL:
        return ""
    address = recipient or actor.email or next((r for r in channel.recipients if "@" in r), None)
    if address is None:
        raise InvalidInput([("/recipient", "Enter the email address to send the test to.")])
    return address
