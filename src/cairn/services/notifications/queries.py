"""Channels, the log of deliveries, and one's own wishes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from cairn.services.notifications.channels import find
from cairn.services.notifications.views import (
    AvailableChannel,
    Channel,
    ChannelPage,
    Delivery,
    DeliveryAttempt,
    DeliveryDetail,
    DeliveryPage,
    Preferences,
    QuietHours,
)
from cairn.services.paging import Query, Row, SortOrder, page
from cairn.store import Connection, Database
from cairn.store import tables as t
from cairn.store.errors import NotFound
from cairn.store.tables.notifications import ChannelKind, DeliveryOutcome, DeliveryStatus, NotificationKind

C, N, D, T = t.channels.c, t.notification_outbox.c, t.deliveries.c, t.delivery_attempts.c
_DELIVERIES: Query = sa.select(
    t.deliveries, N.kind, N.pipeline_id, N.run_id, N.execution_id, N.approval_id, N.content
).join_from(t.deliveries, t.notification_outbox, N.notification_id == D.notification_id)
_NEWEST = SortOrder((D.created_at, D.delivery_id), newest_first=True)


def list_channels(connection: Connection, limit: int, cursor: str | None) -> ChannelPage:
    found = page(connection, sa.select(t.channels), SortOrder((C.name,)), limit, cursor)
    return ChannelPage(items=[_channel(row) for row in found.rows], next_cursor=found.next_cursor)


def get_channel(connection: Connection, channel_id: str) -> Channel:
    return _channel(find(connection, channel_id))


def _channel(row: Row) -> Channel:
    return Channel(
        channel_id=row.channel_id,
        name=row.name,
        kind=ChannelKind(row.kind),
        is_enabled=row.is_enabled,
        include_details=row.include_details,
        notification_kinds=[NotificationKind(kind) for kind in row.notification_kinds],
        pipelines=row.pipelines,
        recipients=row.recipients,
        host=row.host,
        fallback=row.fallback,
        revision=row.revision,
        created_at=row.created_at,
        created_by=row.created_by,
        updated_at=row.updated_at,
    )


def list_deliveries(connection: Connection, wanted: DeliveryFilter, limit: int, cursor: str | None) -> DeliveryPage:
    equal = {
        D.channel_id: wanted.channel_id,
        N.pipeline_id: wanted.pipeline_id,
        N.run_id: wanted.run_id,
        N.approval_id: wanted.approval_id,
    }
    conditions = [column == value for column, value in equal.items() if value is not None]
    if wanted.statuses:
        conditions.append(D.status.in_([status.value for status in wanted.statuses]))
    if wanted.kinds:
        conditions.append(N.kind.in_([kind.value for kind in wanted.kinds]))
    found = page(connection, _DELIVERIES.where(*conditions), _NEWEST, limit, cursor)
    return DeliveryPage(items=[Delivery(**_delivery(row)) for row in found.rows], next_cursor=found.next_cursor)


def get_delivery(connection: Connection, delivery_id: str) -> DeliveryDetail:
    row = connection.execute(_DELIVERIES.where(D.delivery_id == delivery_id)).one_or_none()
    if row is None:
        raise NotFound("delivery", delivery_id)
    rows = connection.execute(sa.select(t.delivery_attempts).where(T.delivery_id == delivery_id).order_by(T.number))
    attempts = [
        DeliveryAttempt(
            number=one.number,
            started_at=one.started_at,
            ended_at=one.ended_at,
            outcome=DeliveryOutcome(one.outcome) if one.outcome is not None else None,
            response=one.response,
        )
        for one in rows
    ]
    return DeliveryDetail(**_delivery(row), content=row.content, attempts=attempts)


def _delivery(row: Row) -> dict[str, Any]:
    return {
        "delivery_id": row.delivery_id,
        "notification_id": row.notification_id,
        "kind": NotificationKind(row.kind),
        "channel_id": row.channel_id,
        "channel": row.channel,
        "channel_kind": row.channel_kind,
        "recipient": row.recipient,
        "status": DeliveryStatus(row.status),
        "attempt_count": row.attempt_count,
        "possible_duplicate": row.possible_duplicate,
        "response": row.response,
        "fallback_of": row.fallback_of,
        "pipeline_id": row.pipeline_id,
        "run_id": row.run_id,
        "execution_id": row.execution_id,
        "approval_id": row.approval_id,
        "created_at": row.created_at,
        "due_at": row.due_at,
        "ended_at": row.ended_at,
    }


def get_preferences(connection: Connection, user: str) -> Preferences:
    p = t.notification_preferences
    row = connection.execute(sa.select(p).where(p.c.user == user)).one_or_none()
    personal = sa.select(C.name, C.kind).where(C.kind == ChannelKind.EMAIL.value, C.is_enabled == sa.true())
    channels = connection.execute(personal.order_by(C.name))
    kinds = None
    if row is not None and row.notification_kinds is not None:
        kinds = [NotificationKind(kind) for kind in row.notification_kinds]
    return Preferences(
        user=user,
        channels=row.channels if row is not None else None,
        notification_kinds=kinds,
        quiet_hours=QuietHours(**row.quiet_hours) if row is not None and row.quiet_hours else None,
        available_channels=[AvailableChannel(name=one.name, kind=ChannelKind(one.kind)) for one in channels],
    )


@dataclass(frozen=True, slots=True)
class DeliveryFilter:
    channel_id: str | None = None
    pipeline_id: str | None = None
    run_id: str | None = None
    approval_id: str | None = None
    statuses: tuple[DeliveryStatus, ...] = ()
    kinds: tuple[NotificationKind, ...] = ()


class NotificationQueries:
    """Each method reads one snapshot of the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_channels(self, limit: int, cursor: str | None) -> ChannelPage:
        return self._database.read(lambda c: list_channels(c, limit, cursor))

    def get_channel(self, channel_id: str) -> Channel:
        return self._database.read(lambda c: get_channel(c, channel_id))

    def list_deliveries(self, delivery_filter: DeliveryFilter, limit: int, cursor: str | None) -> DeliveryPage:
        return self._database.read(lambda c: list_deliveries(c, delivery_filter, limit, cursor))

    def get_delivery(self, delivery_id: str) -> DeliveryDetail:
        return self._database.read(lambda c: get_delivery(c, delivery_id))

    def get_preferences(self, user: str) -> Preferences:
        return self._database.read(lambda c: get_preferences(c, user))
