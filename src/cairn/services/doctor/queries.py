"""Queries that only the doctor needs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from cairn.services.notifications.queries import OPEN_STATUSES
from cairn.store import Connection
from cairn.store import tables as t
from cairn.store.tables.notifications import DeliveryStatus

_D = t.deliveries.c


def pipeline_ids(connection: Connection) -> frozenset[str]:
    """All pipelines, including deleted ones."""
    return frozenset(connection.execute(sa.select(t.pipelines.c.pipeline_id)).scalars())


def count_enabled_channels(connection: Connection) -> int:
    query = sa.select(sa.func.count()).select_from(t.channels).where(t.channels.c.is_enabled == sa.true())
    return connection.execute(query).scalar_one()


def failed_deliveries(connection: Connection, since: datetime) -> Sequence[tuple[str, int]]:
    """The number of failed deliveries by channel."""
    query = (
        sa.select(_D.channel, sa.func.count())
        .where(_D.created_at > since)
        .where(_D.status.in_([DeliveryStatus.FAILED.value, DeliveryStatus.UNKNOWN.value]))
        .group_by(_D.channel)
        .order_by(_D.channel)
    )
    return [(channel, count) for channel, count in connection.execute(query)]


def count_overdue_deliveries(connection: Connection, due_before: datetime) -> int:
    query = sa.select(sa.func.count()).where(_D.status.in_(OPEN_STATUSES), _D.due_at < due_before)
    return connection.execute(query).scalar_one()
