"""Business hours, in the local time of one time zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

SATURDAY = 5  # datetime.weekday(): Monday is 0
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class HourRange:
    """Hours that begin on one day, in minutes since midnight. The end is excluded, and may be on the next day."""

    start: int
    end: int

    def __str__(self) -> str:
        return "-".join(f"{minutes // 60:02}:{minutes % 60:02}" for minutes in (self.start, self.end))

    @property
    def crosses_midnight(self) -> bool:
        return self.end <= self.start


@dataclass(frozen=True, slots=True)
class BusinessHours:
    """Hours by the day on which they begin. Hours that begin on a holiday, or after `known_until`, are closed."""

    zone: str  # IANA name
    weekdays: HourRange | None = None  # None: closed
    weekend: HourRange | None = None
    holidays: frozenset[date] = frozenset()
    known_until: date | None = None  # the last day for which a calendar's holidays are known

    def includes(self, at: datetime) -> bool:
        """Whether `at` is within business hours. Local time counts, also when the clocks change."""
        local = at.astimezone(ZoneInfo(self.zone))
        today, minute = local.date(), local.hour * 60 + local.minute
        hours, earlier = self._beginning_on(today), self._beginning_on(today - _DAY)
        if earlier is not None and earlier.crosses_midnight and minute < earlier.end:
            return True
        if hours is None or minute < hours.start:
            return False
        return hours.crosses_midnight or minute < hours.end

    def _beginning_on(self, day: date) -> HourRange | None:
        if day in self.holidays or (self.known_until is not None and day > self.known_until):
            return None
        return self.weekend if day.weekday() >= SATURDAY else self.weekdays
