"""Deliveries as rows: what each try was, written before and after it, so that a crash between shows."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import uuid4

import sqlalchemy as sa

from cairn.services.notifications.routing import DeliveryTarget, RoutedChannel
from cairn.store import Connection
from cairn.store import tables as t
from cairn.store.tables.notifications import DeliveryOutcome, DeliveryStatus

Row = sa.Row[tuple[Any, ...]]
D, T = t.deliveries.c, t.delivery_attempts.c
CUT_OFF = "The server stopped meanwhile."
OPEN = (DeliveryStatus.WAITING.value, DeliveryStatus.SENDING.value)


def make(
    connection: Connection, notification_id: str, to: DeliveryTarget, now: datetime, fallback_of: str | None = None
) -> str | None:
    """Its id; None where the same has been made already."""
    is_made = sa.select(D.delivery_id).where(
        D.notification_id == notification_id, D.channel == to.name, D.recipient == to.recipient
    )
    if connection.execute(is_made).first() is not None:
        return None
    delivery_id = str(uuid4())
    values = {
        "delivery_id": delivery_id,
        "notification_id": notification_id,
        "channel_id": to.channel.channel_id if to.channel is not None else None,
        "channel": to.name,
        "channel_kind": to.kind,
        "recipient": to.recipient,
        "status": (DeliveryStatus.FAILED if to.problem else DeliveryStatus.WAITING).value,
        "attempt_count": 0,
        "possible_duplicate": False,
        "response": to.problem,
        "fallback_of": fallback_of,
        "created_at": now,
        "due_at": to.due_at or now,
        "ended_at": now if to.problem else None,
    }
    connection.execute(sa.insert(t.deliveries).values(values))
    return delivery_id


def find(connection: Connection, delivery_id: str) -> Row:
    return connection.execute(sa.select(t.deliveries).where(D.delivery_id == delivery_id)).one()


def notification_of(connection: Connection, row: Row) -> Row:
    own = t.notification_outbox.c.notification_id == row.notification_id
    return connection.execute(sa.select(t.notification_outbox).where(own)).one()


def open_of(connection: Connection, notification_id: str) -> list[Row]:
    query = sa.select(t.deliveries).where(D.notification_id == notification_id, D.status.in_(OPEN))
    return list(connection.execute(query.order_by(D.created_at, D.delivery_id)))


def begin_try(connection: Connection, row: Row, now: datetime) -> int:
    """Its number. A try that was under way when the process died may have arrived."""
    number = row.attempt_count + 1
    cut_off = row.status == DeliveryStatus.SENDING.value
    if cut_off:
        end_try(connection, row.delivery_id, row.attempt_count, DeliveryOutcome.UNKNOWN, CUT_OFF, now)
    values = {"delivery_id": row.delivery_id, "number": number, "started_at": now, "response": ""}
    connection.execute(sa.insert(t.delivery_attempts).values(values))
    update(
        connection,
        row.delivery_id,
        status=DeliveryStatus.SENDING.value,
        attempt_count=number,
        possible_duplicate=row.possible_duplicate or cut_off,
    )
    return number


def end_try(
    connection: Connection, delivery_id: str, number: int, outcome: DeliveryOutcome, told: str, now: datetime
) -> None:
    ended = sa.update(t.delivery_attempts).where(T.delivery_id == delivery_id, T.number == number)
    connection.execute(ended.values(outcome=outcome.value, response=told, ended_at=now))


def update(connection: Connection, delivery_id: str, **values: Any) -> None:
    connection.execute(sa.update(t.deliveries).where(D.delivery_id == delivery_id).values(values))


def close(connection: Connection, delivery_id: str, status: DeliveryStatus, told: str, now: datetime) -> None:
    update(connection, delivery_id, status=status.value, response=told, ended_at=now)


def channel_of(connection: Connection, row: Row) -> Row | None:
    """None if it has been removed."""
    return connection.execute(sa.select(t.channels).where(t.channels.c.channel_id == row.channel_id)).one_or_none()


def is_decided(connection: Connection, approval_id: str) -> bool:
    query = sa.select(t.approvals.c.status).where(t.approvals.c.approval_id == approval_id)
    return connection.execute(query).scalar_one_or_none() != "pending"


def direct(channel: RoutedChannel, recipient: str = "") -> DeliveryTarget:
    return DeliveryTarget(channel, channel.name, channel.kind.value, recipient)


def sweep(connection: Connection, before: datetime, limit: int = 200) -> int:
    """Remove some notices from before that time with all that was delivered of them; the answer is how many."""
    n = t.notification_outbox.c
    is_open = sa.select(D.notification_id).where(D.notification_id == n.notification_id, D.status.in_(OPEN)).exists()
    old = sa.select(n.notification_id).where(n.created_at < before, ~is_open).order_by(n.created_at).limit(limit)
    ids = list(connection.execute(old).scalars())
    if ids:
        own = sa.select(D.delivery_id).where(D.notification_id.in_(ids))
        connection.execute(sa.delete(t.delivery_attempts).where(T.delivery_id.in_(own)))
        connection.execute(sa.delete(t.deliveries).where(D.notification_id.in_(ids)))
        connection.execute(sa.delete(t.notification_outbox).where(n.notification_id.in_(ids)))
    return len(ids)
