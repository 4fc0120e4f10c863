"""Whether what people are told reaches them."""

from __future__ import annotations

from datetime import datetime, timedelta

import sqlalchemy as sa

from cairn.services.doctor.views import HealthCheck
from cairn.store import Connection, Database
from cairn.store import tables as t
from cairn.store.tables.notifications import DeliveryStatus

LATELY = timedelta(days=1)
OVERDUE = timedelta(minutes=10)
D = t.deliveries.c


def deliveries(database: Database, now: datetime) -> list[HealthCheck]:
    def look(connection: Connection) -> tuple[int, list[tuple[str, int]], int]:
        in_use = sa.select(sa.func.count()).select_from(t.channels).where(t.channels.c.is_enabled == sa.true())
        lost = (
            sa.select(D.channel, sa.func.count())
            .where(D.created_at > now - LATELY)
            .where(D.status.in_([DeliveryStatus.FAILED.value, DeliveryStatus.UNKNOWN.value]))
            .group_by(D.channel)
            .order_by(D.channel)
        )
        late = sa.select(sa.func.count()).where(
            D.status.in_([DeliveryStatus.QUEUED.value, DeliveryStatus.SENDING.value]), D.due_at < now - OVERDUE
        )
        failed = [(channel, count) for channel, count in connection.execute(lost)]
        return connection.execute(in_use).scalar_one(), failed, connection.execute(late).scalar_one()

    in_use, failed, late = database.read(look)
    if failed:
        detail = "; ".join(f"{channel}: {count} did not arrive in the last day" for channel, count in failed)
        return [_warning(detail, "cairn deliveries --status failed says why; cairn channels test tries a channel out")]
    if late:
        return [_warning(f"{late} should have left by now", "a running server sends them; if it does not, see its log")]
    count = "1 channel" if in_use == 1 else f"{in_use} channels"
    detail = f"{count} in use" if in_use else "no channel is in use: nobody is told anything outside"
    return [HealthCheck(name="notifications", status="ok", detail=detail, hint="")]


def _warning(detail: str, hint: str) -> HealthCheck:
    return HealthCheck(name="notifications", status="warning", detail=detail, hint=hint)
