"""Save notifications, deliveries, channels and preferences.

An attempt is saved before it starts and updated when it ends. An attempt without an end may have been delivered.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import uuid4

import sqlalchemy as sa

from cairn.services.notifications.queries import OPEN_STATUSES
from cairn.services.notifications.routing import DeliveryTarget
from cairn.store import Connection
from cairn.store import tables as t
from cairn.store.prepared_statements import insert_into
from cairn.store.runs.run_rows import Row
from cairn.store.tables.notifications import DeliveryOutcome, DeliveryStatus

C, N, D, A = t.channels.c, t.notification_outbox.c, t.deliveries.c, t.delivery_attempts.c
INTERRUPTED = "The server stopped during this attempt."
_INSERT_NOTIFICATION = insert_into(t.notification_outbox)


# Notifications
def insert_notification(connection: Connection, values: Mapping[str, Any]) -> None:
    _INSERT_NOTIFICATION.run(connection, values)


def save_content(connection: Connection, notification_id: str, content: Mapping[str, Any]) -> None:
    update = sa.update(t.notification_outbox).where(N.notification_id == notification_id)
    connection.execute(update.values(content=content))


def delete_old_notifications(connection: Connection, before: datetime, limit: int = 200) -> int:
    """Delete notifications older than `before` with their deliveries, unless one is still open. Returns the count."""
    is_open = sa.select(D.notification_id).where(D.notification_id == N.notification_id, D.status.in_(OPEN_STATUSES))
    old = sa.select(N.notification_id).where(N.created_at < before, ~is_open.exists())
    ids = list(connection.execute(old.order_by(N.created_at).limit(limit)).scalars())
    if ids:
        deliveries = sa.select(D.delivery_id).where(D.notification_id.in_(ids))
        connection.execute(sa.delete(t.delivery_attempts).where(A.delivery_id.in_(deliveries)))
        connection.execute(sa.delete(t.deliveries).where(D.notification_id.in_(ids)))
        connection.execute(sa.delete(t.notification_outbox).where(N.notification_id.in_(ids)))
    return len(ids)


# Deliveries
def insert_delivery(
    connection: Connection, notification_id: str, target: DeliveryTarget, now: datetime, fallback_of: str | None = None
) -> str | None:
    """Insert a delivery. Return its id, or None if the notification already has a delivery to this target."""
    existing = sa.select(D.delivery_id).where(
        D.notification_id == notification_id, D.channel == target.name, D.recipient == target.recipient
    )
    if connection.execute(existing).first() is not None:
        return None
    delivery_id = str(uuid4())
    values = {
        "delivery_id": delivery_id,
        "notification_id": notification_id,
        "channel_id": target.channel.channel_id if target.channel is not None else None,
        "channel": target.name,
        "channel_kind": target.kind,
        "recipient": target.recipient,
        "status": (DeliveryStatus.FAILED if target.problem else DeliveryStatus.QUEUED).value,
        "attempt_count": 0,
        "possible_duplicate": False,
        "response": target.problem,
        "fallback_of": fallback_of,
        "created_at": now,
        "due_at": target.due_at or now,
        "ended_at": now if target.problem else None,
    }
    connection.execute(sa.insert(t.deliveries).values(values))
    return delivery_id


def update_delivery(connection: Connection, delivery_id: str, **values: Any) -> None:
    connection.execute(sa.update(t.deliveries).where(D.delivery_id == delivery_id).values(values))


def close_delivery(
    connection: Connection, delivery_id: str, status: DeliveryStatus, response: str, now: datetime
) -> None:
    update_delivery(connection, delivery_id, status=status.value, response=response, ended_at=now)


def start_attempt(connection: Connection, delivery: Row, now: datetime) -> int:
    """Save the start of an attempt and return its number. An interrupted attempt may have been delivered."""
    number = delivery.attempt_count + 1
    was_interrupted = delivery.status == DeliveryStatus.SENDING.value
    if was_interrupted:
        end_attempt(connection, delivery.delivery_id, delivery.attempt_count, DeliveryOutcome.UNKNOWN, INTERRUPTED, now)
    values = {"delivery_id": delivery.delivery_id, "number": number, "started_at": now, "response": ""}
    connection.execute(sa.insert(t.delivery_attempts).values(values))
    update_delivery(
        connection,
        delivery.delivery_id,
        status=DeliveryStatus.SENDING.value,
        attempt_count=number,
        possible_duplicate=delivery.possible_duplicate or was_interrupted,
    )
    return number


def end_attempt(
    connection: Connection, delivery_id: str, number: int, outcome: DeliveryOutcome, response: str, now: datetime
) -> None:
    update = sa.update(t.delivery_attempts).where(A.delivery_id == delivery_id, A.number == number)
    connection.execute(update.values(outcome=outcome.value, response=response, ended_at=now))


# Channels
def insert_channel(connection: Connection, values: Mapping[str, Any]) -> None:
    connection.execute(sa.insert(t.channels).values(values))


def update_channel(connection: Connection, channel_id: str, values: Mapping[str, Any]) -> None:
    connection.execute(sa.update(t.channels).where(C.channel_id == channel_id).values(values))


def delete_channel(connection: Connection, channel_id: str, name: str) -> None:
    """Delete a channel, and remove it as the fallback of other channels."""
    connection.execute(sa.update(t.channels).where(C.fallback == name).values(fallback=None))
    connection.execute(sa.delete(t.channels).where(C.channel_id == channel_id))


# Preferences
def save_preferences(connection: Connection, user: str, values: Mapping[str, Any], now: datetime) -> None:
    preferences = t.notification_preferences
    connection.execute(sa.delete(preferences).where(preferences.c.user == user))
    connection.execute(sa.insert(preferences).values({**values, "user": user, "updated_at": now}))
