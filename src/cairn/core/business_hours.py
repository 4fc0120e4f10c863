"""Business hours: by the clock on the wall of one time zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

SATURDAY = 5  # of the days that count from Monday, 0


@dataclass(frozen=True, slots=True)
class HourRange:
    """A part of a day, in minutes since midnight; the end is no longer in it."""

    begin: int
    end: int

    def __str__(self) -> str:
        return "-".join(f"{minutes // 60:02}:{minutes % 60:02}" for minutes in (self.begin, self.end))


@dataclass(frozen=True, slots=True)
class BusinessHours:
    zone: str  # IANA name
    weekdays: HourRange | None = None  # None: closed
    weekend: HourRange | None = None

    def includes(self, at: datetime) -> bool:
        """Whether it is open then. Where the clock is put forward or back, what it shows counts."""
        local = at.astimezone(ZoneInfo(self.zone))
        span = self.weekend if local.weekday() >= SATURDAY else self.weekdays
        return span is not None and span.begin <= local.hour * 60 + local.minute < span.end
