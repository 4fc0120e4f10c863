"""Check the delivery of notifications."""

from __future__ import annotations

from datetime import datetime, timedelta

from cairn.services.doctor import queries
from cairn.services.doctor.views import HealthCheck
from cairn.store import Database

RECENT = timedelta(days=1)
OVERDUE = timedelta(minutes=10)


def check_deliveries(database: Database, now: datetime) -> list[HealthCheck]:
    channel_count, failed, overdue = database.read(
        lambda c: (
            queries.count_enabled_channels(c),
            queries.failed_deliveries(c, now - RECENT),
            queries.count_overdue_deliveries(c, now - OVERDUE),
        )
    )
    if failed:
        detail = "; ".join(f"{channel}: {count} failed in the last 24 hours" for channel, count in failed)
        return [_warning(detail, "run cairn deliveries --status failed for the errors, and cairn channels test")]
    if overdue:
        return [_warning(f"{overdue} overdue", "start the server; if it is running, see its log")]
    channels = "1 channel" if channel_count == 1 else f"{channel_count} channels"
    detail = f"{channels} enabled" if channel_count else "no channel enabled"
    return [HealthCheck(name="notifications", status="ok", detail=detail, hint="")]


def _warning(detail: str, hint: str) -> HealthCheck:
    return HealthCheck(name="notifications", status="warning", detail=detail, hint=hint)
