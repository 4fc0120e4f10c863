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
D, T = t.deliveries.c, t.delivery_tries.c
CUT_OFF = "The server stopped meanwhile."
OPEN = (DeliveryStatus.WAITING.value, DeliveryStatus.SENDING.value)


def make(
    connection: Connection, notice_id: str, to: DeliveryTarget, now: datetime, fallback_of: str | None = None
) -> str | None:
    """Its id; None where the same has been made already."""
    is_made = sa.select(D.delivery_id).where(
        D.notice_id == notice_id, D.channel == to.name, D.recipient == to.recipient
    )
    if connection.execute(is_made).first() is not None:
        return None
    delivery_id = str(uuid4())
    values = {
        "delivery_id": delivery_id,
        "notice_id": notice_id,
        "channel_id": to.channel.channel_id if to.channel is not None else None,
        "channel": to.name,
        "channel_kind": to.kind,
        "recipient": to.recipient,
        "status": (DeliveryStatus.FAILED if to.problem else DeliveryStatus.WAITING).value,
        "tries": 0,
        "may_be_repeated": False,
        "told": to.problem,
        "fallback_of": fallback_of,
        "made_at": now,
        "due_at": to.due_at or now,
        "ended_at": now if to.problem else None,
    }
    connection.execute(sa.insert(t.deliveries).values(values))
    return delivery_id


def find(connection: Connection, delivery_id: str) -> Row:
    return connection.execute(sa.select(t.deliveries).where(D.delivery_id == delivery_id)).one()


def open_of(connection: Connection, notice_id: str) -> list[Row]:
    query = sa.select(t.deliveries).where(D.notice_id == notice_id, D.status.in_(OPEN))
    return list(connection.execute(query.order_by(D.made_at, D.delivery_id)))


def begin_try(connection: Connection, row: Row, now: datetime) -> int:
    """Its number. A try that was under way when the process died may have arrived."""
    number = row.tries + 1
    cut_off = row.status == DeliveryStatus.SENDING.value
    if cut_off:
        end_try(connection, row.delivery_id, row.tries, DeliveryOutcome.UNKNOWN, CUT_OFF, now)
    values = {"delivery_id": row.delivery_id, "number": number, "began_at": now, "told": ""}
    connection.execute(sa.insert(t.delivery_tries).values(values))
    update(
        connection,
        row.delivery_id,
        status=DeliveryStatus.SENDING.value,
        tries=number,
        may_be_repeated=row.may_be_repeated or cut_off,
    )
    return number


def end_try(
    connection: Connection, delivery_id: str, number: int, outcome: DeliveryOutcome, told: str, now: datetime
) -> None:
    ended = sa.update(t.delivery_tries).where(T.delivery_id == delivery_id, T.number == number)
    connection.execute(ended.values(outcome=outcome.value, told=told, ended_at=now))


def update(connection: Connection, delivery_id: str, **values: Any) -> None:
    connection.execute(sa.update(t.deliveries).where(D.delivery_id == delivery_id).values(values))


def close(connection: Connection, delivery_id: str, status: DeliveryStatus, told: str, now: datetime) -> None:
    update(connection, delivery_id, status=status.value, told=told, ended_at=now)


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
    n = t.notices.c
    is_open = sa.select(D.notice_id).where(D.notice_id == n.notice_id, D.status.in_(OPEN)).exists()
    old = sa.select(n.notice_id).where(n.noted_at < before, ~is_open).order_by(n.noted_at).limit(limit)
    ids = list(connection.execute(old).scalars())
    if ids:
        own = sa.select(D.delivery_id).where(D.notice_id.in_(ids))
        connection.execute(sa.delete(t.delivery_tries).where(T.delivery_id.in_(own)))
        connection.execute(sa.delete(t.deliveries).where(D.notice_id.in_(ids)))
        connection.execute(sa.delete(t.notices).where(n.notice_id.in_(ids)))
    return len(ids)
