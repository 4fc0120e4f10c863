"""Read holidays: a list of dates, or the text of an ICS calendar with one event per holiday."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cairn.documents import Value

MAX_BYTES = 256 * 1024
MAX_EVENTS = 1000
MAX_DAYS = 366  # of one event
MAX_HOLIDAYS = 100_000  # days of all events
YEARS = range(1900, 2200)
RECURRING_YEARS = 60  # of an event that is repeated every year
_DAY = timedelta(days=1)
_PROPERTY = re.compile(r"([A-Za-z0-9-]+)((?:;[^:\";]*(?:\"[^\"]*\"[^:\";]*)*)*):(.*)", re.DOTALL)
_WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_NTH = re.compile(r"([+-]?[1-5])(MO|TU|WE|TH|FR|SA|SU)")


class HolidayError(ValueError):
    """The holidays can't be read. `path` is a JSON pointer into them."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.path = path


class Holidays(NamedTuple):
    days: frozenset[date] = frozenset()
    known_until: date | None = None  # None: without an end


@dataclass(frozen=True, slots=True)
class _Event:
    start: date
    end: date  # excluded
    is_cancelled: bool
    rule: dict[str, str]  # of the recurrence

    @property
    def is_endless(self) -> bool:
        return bool(self.rule) and self.rule.keys().isdisjoint(("COUNT", "UNTIL"))


def read_holidays(value: Value, zone: str) -> Holidays:
    """The holidays in the time zone. Raises HolidayError."""
    if isinstance(value, str):
        return _of_calendar(value, zone)
    if not isinstance(value, list):
        return Holidays()
    return Holidays(frozenset(_listed(position, item) for position, item in enumerate(value)))


def _listed(position: int, value: Value) -> date:
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        raise HolidayError(f"{value!r} is not a date", f"/{position}") from None


def _of_calendar(text: str, zone: str) -> Holidays:
    """A calendar ends with the year of its last event, because it doesn't know later holidays."""
    if len(text.encode()) > MAX_BYTES:
        raise HolidayError(f"expected at most {MAX_BYTES // 1024} KB, but got {len(text.encode()) // 1024} KB")
    days: set[date] = set()
    last_year = 0
    events = 0
    for event in _events(text, zone):
        events += 1
        if events > MAX_EVENTS:
            raise HolidayError(f"expected at most {MAX_EVENTS} events")
        if event.is_cancelled:
            continue
        length = (event.end - event.start).days
        for start in _occurrences(event):
            days.update(start + position * _DAY for position in range(length))
            if not event.is_endless:
                last_year = max(last_year, start.year)
            if len(days) > MAX_HOLIDAYS:
                raise HolidayError(f"expected at most {MAX_HOLIDAYS:,} days")
    if not events:
        raise HolidayError("the calendar has no events")
    return Holidays(frozenset(days), date(last_year, 12, 31) if last_year else None)


def _events(text: str, zone: str) -> Iterator[_Event]:
    """The events, without the components inside of them, such as reminders."""
    path: list[str] = []
    properties: dict[str, tuple[str, str]] = {}
    for name, parameters, value in _properties(text):
        match name:
            case "BEGIN":
                path.append(value.upper())
                if path == ["VCALENDAR", "VEVENT"]:
                    properties = {}
            case "END":
                if not path or path[-1] != value.upper():
                    raise HolidayError(f"END:{value[:40]} has no matching BEGIN")
                if path == ["VCALENDAR", "VEVENT"]:
                    yield _event(properties, zone)
                path.pop()
            case _ if path == ["VCALENDAR", "VEVENT"]:
                properties.setdefault(name, (parameters, value))
            case _:
                pass
    if path:
        raise HolidayError(f"BEGIN:{path[-1][:40]} has no matching END")


def _properties(text: str) -> Iterator[tuple[str, str, str]]:
    """Name, parameters and value of each line. A line that begins with a space continues the one before."""
    unfolded = re.sub(r"\r?\n[ \t]", "", text.strip())
    for line in unfolded.splitlines():
        if line.strip():
            found = _PROPERTY.fullmatch(line.strip())
            if found is None:
                raise HolidayError(f"{line[:40]!r} is not a valid line of a calendar")
            yield found[1].upper(), found[2], found[3].strip()


def _event(properties: dict[str, tuple[str, str]], zone: str) -> _Event:
    if "DTSTART" not in properties:
        raise HolidayError("an event has no DTSTART")
    if "RDATE" in properties:
        raise HolidayError("RDATE is not supported: write an event for each date")
    start, _ = _moment(*properties["DTSTART"], zone)
    end = start + _DAY
    if "DTEND" in properties:
        until, ends_in_day = _moment(*properties["DTEND"], zone)
        end = max(until + _DAY if ends_in_day else until, start + _DAY)
    elif "DURATION" in properties:
        end = start + _duration(properties["DURATION"][1])
    if not 0 < (end - start).days <= MAX_DAYS:
        raise HolidayError(f"the event on {start} lasts {(end - start).days} days")
    is_cancelled = properties.get("STATUS", ("", ""))[1].upper() == "CANCELLED"
    return _Event(start, end, is_cancelled, _recurrence(properties.get("RRULE", ("", ""))[1]))


def _moment(parameters: str, value: str, zone: str) -> tuple[date, bool]:
    """The day in the time zone, and whether the day has already begun at this moment."""
    try:
        is_day = len(value) == 8
        at = datetime.strptime(value.removesuffix("Z"), "%Y%m%d" if is_day else "%Y%m%dT%H%M%S")  # noqa: DTZ007
    except ValueError:
        raise HolidayError(f"{value[:40]!r} is not a date") from None
    if at.year not in YEARS:
        raise HolidayError(f"expected a year from {YEARS[0]} to {YEARS[-1]}, but got {at.year}")
    if is_day:
        return at.date(), False
    local = at.replace(tzinfo=UTC if value.endswith("Z") else _zone(parameters, zone)).astimezone(ZoneInfo(zone))
    return local.date(), (local.hour, local.minute, local.second) != (0, 0, 0)


def _zone(parameters: str, default: str) -> ZoneInfo:
    found = re.search(r";TZID=\"?([^;\"]+)", parameters, re.IGNORECASE)
    name = found[1] if found else default
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise HolidayError(f"unknown time zone {name[:60]!r}") from None


def _duration(text: str) -> timedelta:
    found = re.fullmatch(r"P(?:(\d{1,2})W|(\d{1,3})D)", text.strip())
    if found is None:
        raise HolidayError(f"expected a duration in days or weeks, such as P1D, but got {text[:40]!r}")
    return timedelta(weeks=int(found[1])) if found[1] else timedelta(days=int(found[2]))


# Recurrences
def _recurrence(text: str) -> dict[str, str]:
    if not text:
        return {}
    rule: dict[str, str] = {}
    for part in text.upper().split(";"):
        name, separator, value = part.partition("=")
        if not separator:
            raise HolidayError(f"{part[:40]!r} is not a valid part of a recurrence")
        rule[name] = value
    unknown = sorted(set(rule) - {"FREQ", "INTERVAL", "COUNT", "UNTIL", "BYMONTH", "BYMONTHDAY", "BYDAY", "WKST"})
    if rule.get("FREQ") != "YEARLY" or rule.get("INTERVAL", "1") != "1" or unknown:
        raise HolidayError(f"RRULE:{text[:60]} is not supported: only events that are repeated every year are")
    return rule


def _occurrences(event: _Event) -> Iterator[date]:
    rule = event.rule
    if not rule:
        yield event.start
        return
    count = _number(rule["COUNT"], 1, 10_000) if "COUNT" in rule else RECURRING_YEARS
    until = _moment("", rule["UNTIL"], "UTC")[0] if "UNTIL" in rule else date.max
    found = 0
    for year in range(event.start.year, event.start.year + RECURRING_YEARS):
        day = _in_year(event, year)
        if day is None or day < event.start:
            continue
        if day > until or found == count:
            return
        found += 1
        yield day


def _in_year(event: _Event, year: int) -> date | None:
    """The day in one year. None if there is no such day, such as 29 February."""
    rule = event.rule
    month = _number(rule["BYMONTH"], 1, 12) if "BYMONTH" in rule else event.start.month
    if "BYDAY" in rule:
        found = _NTH.fullmatch(rule["BYDAY"])
        if found is None or "BYMONTHDAY" in rule or "BYMONTH" not in rule:
            raise HolidayError(f"BYDAY={rule['BYDAY'][:20]} is not supported: write a day such as 4TH with BYMONTH")
        return _nth_weekday(year, month, int(found[1]), _WEEKDAYS.index(found[2]))
    day = _number(rule["BYMONTHDAY"], 1, 31) if "BYMONTHDAY" in rule else event.start.day
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _nth_weekday(year: int, month: int, number: int, weekday: int) -> date | None:
    first = date(year, month, 1)
    following = date(year + month // 12, month % 12 + 1, 1)
    days = [first + position * _DAY for position in range((following - first).days)]
    matching = [day for day in days if day.weekday() == weekday]
    position = number - 1 if number > 0 else len(matching) + number
    return matching[position] if 0 <= position < len(matching) else None


def _number(text: str, low: int, high: int) -> int:
    if not text.isdecimal() or not low <= int(text) <= high:
        raise HolidayError(f"expected a number from {low} to {high} in a recurrence, but got {text[:20]!r}")
    return int(text)
