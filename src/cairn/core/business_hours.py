"""Business hours, in the local time of one time zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

SATURDAY = 5  # datetime.weekday(): Monday is 0


@dataclass(frozen=True, slots=True)
class HourRange:
    """Part of a day, in minutes since midnight. The end is excluded."""

    start: int
    end: int

    def __str__(self) -> str:
        return "-".join(f"{minutes // 60:02}:{minutes % 60:02}" for minutes in (self.start, self.end))


@dataclass(frozen=True, slots=True)
class BusinessHours:
    zone: str  # IANA name
    weekdays: HourRange | None = None  # None: closed
    weekend: HourRange | None = None

    def includes(self, at: datetime) -> bool:
        """Whether `at` is within business hours. Local time counts, also when the clocks change."""
        local = at.astimezone(ZoneInfo(self.zone))
        hours = self.weekend if local.weekday() >= SATURDAY else self.weekdays
        return hours is not None and hours.start <= local.hour * 60 + local.minute < hours.end
