"""Save the notification preferences of users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import time
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cairn.ports import Clock
from cairn.services.errors import InvalidInput
from cairn.services.notifications.queries import channel_names
from cairn.services.notifications.records import save_preferences
from cairn.store import Connection, Database
from cairn.store.tables.notifications import ChannelKind, NotificationKind


class NotificationPreferences:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def set(
        self,
        user: str,
        channels: Sequence[str] | None,
        notification_kinds: Sequence[NotificationKind] | None,
        quiet_hours: Mapping[str, str] | None,
    ) -> None:
        """Replace all preferences of a user. None means no restriction."""
        if quiet_hours is not None:
            _check_quiet_hours(quiet_hours)
        kinds = [kind.value for kind in notification_kinds] if notification_kinds is not None else None
        values: dict[str, Any] = {
            "channels": list(channels) if channels is not None else None,
            "notification_kinds": kinds,
            "quiet_hours": dict(quiet_hours) if quiet_hours is not None else None,
        }
        now = self._clock.now()

        def save(connection: Connection) -> None:
            _check_channels(connection, channels or ())
            save_preferences(connection, user, values, now)

        await self._database.transact(save)


def _check_channels(connection: Connection, channels: Sequence[str]) -> None:
    known = {*ChannelKind, *(channel_names(connection) if channels else ())}
    errors = [
        (f"/channels/{index}", f"No channel is named {name!r}. Choose another one, or a kind such as email.")
        for index, name in enumerate(channels)
        if name not in known
    ]
    if errors:
        raise InvalidInput(errors)


def _check_quiet_hours(hours: Mapping[str, str]) -> None:
    errors: list[tuple[str, str]] = []
    for name in ("start", "end"):
        try:
            if time.fromisoformat(hours[name]).tzinfo is not None:
                errors.append((f"/quiet_hours/{name}", "Enter a time without a UTC offset, such as 22:00."))
        except ValueError:
            errors.append((f"/quiet_hours/{name}", "Enter a time, such as 22:00."))
    try:
        ZoneInfo(hours["time_zone"])
    except (ZoneInfoNotFoundError, ValueError, OSError):
        errors.append(("/quiet_hours/time_zone", "Enter a time zone, such as Europe/Berlin."))
    if not errors and hours["start"] == hours["end"]:
        errors.append(("/quiet_hours", "Quiet hours must start and end at different times."))
    if errors:
        raise InvalidInput(errors)
