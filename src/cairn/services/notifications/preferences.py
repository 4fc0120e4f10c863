"""What each person wants to be told, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, time
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import sqlalchemy as sa

from cairn.ports import Clock
from cairn.services.errors import InvalidInput
from cairn.store import Connection, Database
from cairn.store import tables as t
from cairn.store.tables.notifications import NotificationKind

P = t.notification_preferences


class NotificationPreferences:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def set(
        self,
        user: str,
        channels: Sequence[str] | None,
        kinds: Sequence[NotificationKind] | None,
        quiet: Mapping[str, str] | None,
    ) -> None:
        """All of them at once; None is no wish."""
        if quiet is not None:
            _check(quiet)
        values: dict[str, Any] = {
            "channels": list(channels) if channels is not None else None,
            "notification_kinds": [kind.value for kind in kinds] if kinds is not None else None,
            "quiet_hours": dict(quiet) if quiet is not None else None,
        }
        now = self._clock.now()
        await self._database.transact(lambda c: _write(c, user, values, now))


def _write(connection: Connection, user: str, values: Mapping[str, Any], now: datetime) -> None:
    connection.execute(sa.delete(P).where(P.c.user == user))
    connection.execute(sa.insert(P).values({**values, "user": user, "updated_at": now}))


def _check(quiet: Mapping[str, str]) -> None:
    errors: list[tuple[str, str]] = []
    for name in ("start", "end"):
        try:
            if time.fromisoformat(quiet[name]).tzinfo is not None:
                errors.append((f"/quiet_hours/{name}", "A time of day without a zone, such as 22:00."))
        except ValueError:
            errors.append((f"/quiet_hours/{name}", "A time of day, such as 22:00."))
    try:
        ZoneInfo(quiet["time_zone"])
    except (ZoneInfoNotFoundError, ValueError, OSError):
        errors.append(("/quiet_hours/time_zone", "A time zone, such as Europe/Berlin."))
    if not errors and quiet["start"] == quiet["end"]:
        errors.append(("/quiet_hours", "Quiet hours begin and end at different times."))
    if errors:
        raise InvalidInput(errors)
