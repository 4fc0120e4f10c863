"""Holidays of business hours: a list of dates, or an ICS calendar."""

from __future__ import annotations

from datetime import UTC, date, datetime
from textwrap import indent
from typing import Any

import pytest

from cairn.core.business_hours import BusinessHours
from cairn.definitions.rules import holidays, load
from cairn.definitions.rules.holidays import MAX_EVENTS, HolidayError, Holidays, read_holidays
from tests.definitions.test_rules import findings
from tests.mentions import mentions

BERLIN = "Europe/Berlin"


def event(*lines: str) -> str:
    return "\r\n".join(("BEGIN:VEVENT", *lines, "END:VEVENT")) + "\r\n"


def calendar(*events: str) -> str:
    return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n" + "".join(events) + "END:VCALENDAR\r\n"


def day(text: str) -> date:
    return date.fromisoformat(text)


def read(*events: str) -> Holidays:
    return read_holidays(calendar(*events), BERLIN)


CHRISTMAS = event("DTSTART;VALUE=DATE:20261225", "SUMMARY:Christmas")
EVENTS: dict[str, tuple[str, list[str]]] = {
    "a day": (CHRISTMAS, ["2026-12-25"]),
    "a day with an end": (event("DTSTART;VALUE=DATE:20261225", "DTEND;VALUE=DATE:20261226"), ["2026-12-25"]),
    "several days": (
        event("DTSTART;VALUE=DATE:20261230", "DTEND;VALUE=DATE:20270102"),
        ["2026-12-30", "2026-12-31", "2027-01-01"],
    ),
    "a duration": (event("DTSTART;VALUE=DATE:20261225", "DURATION:P2D"), ["2026-12-25", "2026-12-26"]),
    "an end on the same day": (event("DTSTART;VALUE=DATE:20261225", "DTEND;VALUE=DATE:20261225"), ["2026-12-25"]),
    "a part of a day": (event("DTSTART:20261224T140000", "DTEND:20261224T180000"), ["2026-12-24"]),
    "over midnight": (event("DTSTART:20261224T140000", "DTEND:20261225T100000"), ["2026-12-24", "2026-12-25"]),
    "in UTC": (event("DTSTART:20261224T233000Z"), ["2026-12-25"]),
    "in another zone": (event("DTSTART;TZID=America/New_York:20261224T200000"), ["2026-12-25"]),
    "folded lines": (event("DTSTART;VALUE=DATE:2026\r\n 1225", "SUMMARY:Christ\r\n\tmas"), ["2026-12-25"]),
    "with a reminder": (
        event("DTSTART;VALUE=DATE:20261225", "BEGIN:VALARM", "DTSTART:20200101T000000", "END:VALARM"),
        ["2026-12-25"],
    ),
    "cancelled": (CHRISTMAS + event("DTSTART;VALUE=DATE:20261226", "STATUS:CANCELLED"), ["2026-12-25"]),
    "three years": (
        event("DTSTART;VALUE=DATE:20240501", "RRULE:FREQ=YEARLY;COUNT=3"),
        ["2024-05-01", "2025-05-01", "2026-05-01"],
    ),
    "until": (event("DTSTART;VALUE=DATE:20240501", "RRULE:FREQ=YEARLY;UNTIL=20250601"), ["2024-05-01", "2025-05-01"]),
    "the fourth Thursday": (
        event("DTSTART;VALUE=DATE:20251127", "RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH;COUNT=2"),
        ["2025-11-27", "2026-11-26"],
    ),
    "the last Monday": (
        event("DTSTART;VALUE=DATE:20250526", "RRULE:FREQ=YEARLY;BYMONTH=5;BYDAY=-1MO;COUNT=2"),
        ["2025-05-26", "2026-05-25"],
    ),
    "leap days": (
        event("DTSTART;VALUE=DATE:20240229", "RRULE:FREQ=YEARLY;COUNT=2"),
        ["2024-02-29", "2028-02-29"],
    ),
}


@pytest.mark.parametrize("case", EVENTS)
def test_events_are_holidays(case: str) -> None:
    text, days = EVENTS[case]
    found = read(text)
    assert found.days == set(map(day, days))
    assert found.known_until == date(max(found.days).year if case != "several days" else 2026, 12, 31)


def test_a_calendar_without_an_end_is_known_for_good() -> None:
    endless = event("DTSTART;VALUE=DATE:20240501", "RRULE:FREQ=YEARLY")
    assert read(endless).known_until is None
    assert day("2070-05-01") in read(endless).days
    assert read(endless, CHRISTMAS).known_until == day("2026-12-31")


INVALID = {
    "no events": calendar(),
    "no calendar": "BEGIN:VEVENT\r\nEND:VEVENT\r\n",
    "not closed": "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART:20261225\r\n",
    "closed twice": calendar(CHRISTMAS) + "END:VCALENDAR\r\n",
    "no start": calendar(event("SUMMARY:x")),
    "no date": calendar(event("DTSTART;VALUE=DATE:20261325")),
    "a year out of range": calendar(event("DTSTART;VALUE=DATE:00010101")),
    "an unknown zone": calendar(event("DTSTART;TZID=Mars/Base:20261225T000000")),
    "no line": calendar("what is this\r\n"),
    "two years long": calendar(event("DTSTART;VALUE=DATE:20240101", "DTEND;VALUE=DATE:20260101")),
    "every week": calendar(event("DTSTART;VALUE=DATE:20240101", "RRULE:FREQ=WEEKLY")),
    "every second year": calendar(event("DTSTART;VALUE=DATE:20240101", "RRULE:FREQ=YEARLY;INTERVAL=2")),
    "any Monday": calendar(event("DTSTART;VALUE=DATE:20240101", "RRULE:FREQ=YEARLY;BYMONTH=1;BYDAY=MO")),
    "more dates": calendar(event("DTSTART;VALUE=DATE:20240101", "RDATE:20250101")),
    "too many events": calendar(CHRISTMAS * (MAX_EVENTS + 1)),
    "too large": calendar(event("DTSTART;VALUE=DATE:20240101", "SUMMARY:" + "x" * 300_000)),
}


@pytest.mark.parametrize("case", INVALID)
def test_a_calendar_that_cannot_be_read_is_rejected(case: str) -> None:
    with pytest.raises(HolidayError):
        read_holidays(INVALID[case], BERLIN)


def test_a_calendar_has_a_limited_number_of_days(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holidays, "MAX_HOLIDAYS", 100)
    with pytest.raises(HolidayError):
        read(event("DTSTART;VALUE=DATE:20240101", "DTEND;VALUE=DATE:20240601", "RRULE:FREQ=YEARLY"))


# ---- in rules ----------------------------------------------------------------------------------------------
def document(days: str, hours: str = 'monday_friday: "22:00-06:00"') -> str:
    return (
        "auto_approval:\n  enabled: true\n  global_settings:\n    business_hours_only: true\n    business_hours:\n"
        f"      timezone: {BERLIN}\n      {hours}\n      holidays: {days}\n"
    )


def hours_of(text: str) -> BusinessHours:
    hours = load(text).rulebook.hours
    assert hours is not None
    return hours


def is_open(hours: BusinessHours, local: str) -> bool:
    return hours.includes(datetime.fromisoformat(f"{local}+01:00").astimezone(UTC))


def test_a_holiday_closes_the_hours_that_begin_on_it() -> None:
    """Friday, 25 December 2026, with hours from 22:00 to 06:00."""
    hours = hours_of(document("[2026-12-25, '2027-01-01']"))
    assert hours.holidays == {day("2026-12-25"), day("2027-01-01")}
    assert is_open(hours, "2026-12-24T23:00")
    assert is_open(hours, "2026-12-25T05:59")  # began on Thursday
    assert not is_open(hours, "2026-12-25T22:00")
    assert not is_open(hours, "2026-12-26T02:00")  # began on Friday
    assert is_open(hours, "2026-12-28T22:00")


def test_a_calendar_is_written_as_a_text() -> None:
    text = "|\n" + indent(calendar(CHRISTMAS).replace("\r\n", "\n"), " " * 8)
    loaded = load(document(text))
    hours = hours_of(document(text))
    assert (hours.holidays, hours.known_until) == ({day("2026-12-25")}, day("2026-12-31"))
    assert not is_open(hours, "2027-01-04T23:00")  # the calendar has ended
    assert [(each.path.rpartition("/")[2], each.message) for each in loaded.warnings] == [("holidays", mentions(2026))]


@pytest.mark.parametrize(
    ("days", "path", "message"),
    [
        ("[2026-02-30]", "/0", mentions("2026-02-30")),
        ("[christmas]", "/0", mentions("christmas")),
        ("https://example.com/holidays.ics", "", mentions("2026-12-25", 256)),
        ('"BEGIN:VCALENDAR\\nEND:VCALENDAR"', "", mentions()),
        ("5", "", mentions(5)),
    ],
)
def test_other_holidays_are_rejected(days: str, path: str, message: Any) -> None:
    found = findings(document(days))
    prefix = "/auto_approval/global_settings/business_hours/holidays"
    assert [(each.path, each.message) for each in found] == [(prefix + path, message)]
