"""Queries of channels, notifications, deliveries and preferences."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import sqlalchemy as sa

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
from cairn.services.paging import Query, SortOrder, page
from cairn.store import Connection, Database
from cairn.store import tables as t
from cairn.store.errors import NotFound
from cairn.store.prepared_statements import PreparedQuery
from cairn.store.runs.run_rows import Row
from cairn.store.tables.notifications import ChannelKind, DeliveryOutcome, DeliveryStatus, NotificationKind

C, N, D, A = t.channels.c, t.notification_outbox.c, t.deliveries.c, t.delivery_attempts.c
OPEN_STATUSES = (DeliveryStatus.QUEUED.value, DeliveryStatus.SENDING.value)
_DELIVERIES: Query = sa.select(
    t.deliveries, N.kind, N.pipeline_id, N.run_id, N.execution_id, N.approval_id, N.content
).join_from(t.deliveries, t.notification_outbox, N.notification_id == D.notification_id)
_NEWEST = SortOrder((D.created_at, D.delivery_id), newest_first=True)
_ENABLED_CHANNEL = PreparedQuery(sa.select(C.channel_id).where(C.is_enabled == sa.true()).limit(1))


# Channels
def has_enabled_channel(connection: Connection) -> bool:
    return _ENABLED_CHANNEL.first(connection, {}) is not None


def enabled_channels(connection: Connection) -> Sequence[Row]:
    return connection.execute(sa.select(t.channels).where(C.is_enabled == sa.true()).order_by(C.name)).all()


def channel_or_none(connection: Connection, channel_id: str | None) -> Row | None:
    return connection.execute(sa.select(t.channels).where(C.channel_id == channel_id)).one_or_none()


def find_channel(connection: Connection, channel_id: str) -> Row:
    row = channel_or_none(connection, channel_id)
    if row is None:
        raise NotFound("channel", channel_id)
    return row


def channel_names(connection: Connection) -> Sequence[str]:
    return connection.execute(sa.select(C.name).order_by(C.name)).scalars().all()


def is_channel_name_taken(connection: Connection, name: str, channel_id: str) -> bool:
    """Whether another channel has this name, ignoring case."""
    same_name = sa.select(C.channel_id).where(sa.func.lower(C.name) == name.lower(), C.channel_id != channel_id)
    return connection.execute(same_name).first() is not None


def channel_id_by_name(connection: Connection, name: str) -> str | None:
    return connection.execute(sa.select(C.channel_id).where(C.name == name)).scalar_one_or_none()


def unknown_pipelines(connection: Connection, pipeline_ids: Collection[str]) -> list[str]:
    if not pipeline_ids:
        return []
    p = t.pipelines.c.pipeline_id
    known = set(connection.execute(sa.select(p).where(p.in_(pipeline_ids))).scalars())
    return [pipeline_id for pipeline_id in pipeline_ids if pipeline_id not in known]


def list_channels(connection: Connection, limit: int, cursor: str | None) -> ChannelPage:
    found = page(connection, sa.select(t.channels), SortOrder((C.name,)), limit, cursor)
    return ChannelPage(items=[_channel(row) for row in found.rows], next_cursor=found.next_cursor)


def get_channel(connection: Connection, channel_id: str) -> Channel:
    return _channel(find_channel(connection, channel_id))


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


# Notifications
def notification_or_none(connection: Connection, notification_id: str) -> Row | None:
    query = sa.select(t.notification_outbox).where(N.notification_id == notification_id)
    return connection.execute(query).one_or_none()


def find_notification(connection: Connection, notification_id: str) -> Row:
    return connection.execute(sa.select(t.notification_outbox).where(N.notification_id == notification_id)).one()


def is_decided(connection: Connection, approval_id: str) -> bool:
    query = sa.select(t.approvals.c.status).where(t.approvals.c.approval_id == approval_id)
    return connection.execute(query).scalar_one_or_none() != "pending"


def proposed_action(connection: Connection, approval_id: str) -> Row | None:
    a = t.actions.c
    query = sa.select(a.parameters, a.reasoning, a.risk_reasons, a.summary, a.outcome, a.result)
    return connection.execute(query.where(a.approval_id == approval_id)).one_or_none()


def evaluated_rules(connection: Connection, approval_id: str) -> tuple[Mapping[str, Any], ...]:
    query = sa.select(t.approvals.c.evaluated_rules).where(t.approvals.c.approval_id == approval_id)
    rules = connection.execute(query).scalar_one_or_none()
    return tuple(cast("list[Mapping[str, Any]]", rules or []))


# Deliveries
def find_delivery(connection: Connection, delivery_id: str) -> Row:
    return connection.execute(sa.select(t.deliveries).where(D.delivery_id == delivery_id)).one()


def open_deliveries(connection: Connection, notification_id: str) -> Sequence[Row]:
    query = sa.select(t.deliveries).where(D.notification_id == notification_id, D.status.in_(OPEN_STATUSES))
    return connection.execute(query.order_by(D.created_at, D.delivery_id)).all()


@dataclass(frozen=True, slots=True)
class DeliveryFilter:
    channel_id: str | None = None
    pipeline_id: str | None = None
    run_id: str | None = None
    approval_id: str | None = None
    statuses: tuple[DeliveryStatus, ...] = ()
    kinds: tuple[NotificationKind, ...] = ()


def list_deliveries(
    connection: Connection, delivery_filter: DeliveryFilter, limit: int, cursor: str | None
) -> DeliveryPage:
    equal = {
        D.channel_id: delivery_filter.channel_id,
        N.pipeline_id: delivery_filter.pipeline_id,
        N.run_id: delivery_filter.run_id,
        N.approval_id: delivery_filter.approval_id,
    }
    conditions = [column == value for column, value in equal.items() if value is not None]
    if delivery_filter.statuses:
        conditions.append(D.status.in_([status.value for status in delivery_filter.statuses]))
    if delivery_filter.kinds:
        conditions.append(N.kind.in_([kind.value for kind in delivery_filter.kinds]))
    found = page(connection, _DELIVERIES.where(*conditions), _NEWEST, limit, cursor)
    return DeliveryPage(items=[Delivery(**_delivery(row)) for row in found.rows], next_cursor=found.next_cursor)


def get_delivery(connection: Connection, delivery_id: str) -> DeliveryDetail:
    row = connection.execute(_DELIVERIES.where(D.delivery_id == delivery_id)).one_or_none()
    if row is None:
        raise NotFound("delivery", delivery_id)
    rows = connection.execute(sa.select(t.delivery_attempts).where(A.delivery_id == delivery_id).order_by(A.number))
    attempts = [
        DeliveryAttempt(
            number=attempt.number,
            started_at=attempt.started_at,
            ended_at=attempt.ended_at,
            outcome=DeliveryOutcome(attempt.outcome) if attempt.outcome is not None else None,
            response=attempt.response,
        )
        for attempt in rows
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


# Preferences
def preference_rows(connection: Connection, users: Iterable[str]) -> Sequence[Row]:
    preferences = t.notification_preferences
    return connection.execute(sa.select(preferences).where(preferences.c.user.in_(list(users)))).all()


def get_preferences(connection: Connection, user: str) -> Preferences:
    preferences = t.notification_preferences
    row = connection.execute(sa.select(preferences).where(preferences.c.user == user)).one_or_none()
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
        available_channels=[
            AvailableChannel(name=channel.name, kind=ChannelKind(channel.kind)) for channel in channels
        ],
    )


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
