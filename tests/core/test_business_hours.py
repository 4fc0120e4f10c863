"""Business hours follow local time, including on days when the clocks change."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from cairn.core.business_hours import BusinessHours, HourRange

NINE_TO_FIVE = HourRange(9 * 60, 17 * 60)
NEW_YORK = BusinessHours("America/New_York", NINE_TO_FIVE)
BERLIN = BusinessHours("Europe/Berlin", NINE_TO_FIVE, HourRange(0, 24 * 60))
KIRITIMATI = BusinessHours("Pacific/Kiritimati", NINE_TO_FIVE)  # 14 hours ahead
NIGHTS = BusinessHours("Europe/Berlin", None, HourRange(2 * 60, 3 * 60))


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("hours", "at", "is_open"),
    [
        # New York, winter: UTC-5
        (NEW_YORK, "2026-03-06 13:59:59", False),
        (NEW_YORK, "2026-03-06 14:00", True),
        (NEW_YORK, "2026-03-06 21:59", True),
        (NEW_YORK, "2026-03-06 22:00", False),
        # the weekend when daylight saving time starts, then Monday: UTC-4
        (NEW_YORK, "2026-03-08 15:00", False),
        (NEW_YORK, "2026-03-09 12:59", False),
        (NEW_YORK, "2026-03-09 13:00", True),
        (NEW_YORK, "2026-03-09 21:00", False),
        # daylight saving time ends on the first of November
        (NEW_YORK, "2026-10-30 13:00", True),
        (NEW_YORK, "2026-11-02 13:00", False),
        (NEW_YORK, "2026-11-02 14:00", True),
        # it is still Sunday in New York when it is Monday in UTC
        (NEW_YORK, "2026-03-09 02:00", False),
        # ... and already Monday on Kiritimati when it is Sunday in UTC
        (KIRITIMATI, "2026-03-08 19:00", True),
        (KIRITIMATI, "2026-03-09 03:00", False),
        # Berlin, the hour that does not exist: 01:59 is followed by 03:00
        (NIGHTS, "2026-03-29 00:59:59", False),
        (NIGHTS, "2026-03-29 01:00", False),
        # ... and the hour that occurs twice
        (NIGHTS, "2026-10-25 00:00", True),
        (NIGHTS, "2026-10-25 01:00", True),
        (NIGHTS, "2026-10-25 02:00", False),
        # all of a weekend day, to its last minute
        (BERLIN, "2026-03-29 21:59", True),
        (BERLIN, "2026-03-29 22:00", False),
    ],
)
def test_business_hours_are_open_or_closed(hours: BusinessHours, at: str, is_open: bool) -> None:
    assert hours.includes(utc(at)) is is_open


NIGHT = HourRange(22 * 60, 6 * 60)
NIGHT_SHIFT = BusinessHours("UTC", NIGHT)  # begins Monday to Friday
WEEKEND_NIGHT = BusinessHours("UTC", NINE_TO_FIVE, NIGHT)
HOLIDAY = BusinessHours("Europe/Berlin", NIGHT, HourRange(0, 24 * 60), frozenset({date(2026, 12, 24)}))
KNOWN = BusinessHours("UTC", NIGHT, NIGHT, known_until=date(2026, 12, 31))


@pytest.mark.parametrize(
    ("hours", "at", "is_open"),
    [
        # 2026-03-06 is a Friday. The night that begins on it ends on Saturday.
        (NIGHT_SHIFT, "2026-03-06 21:59", False),
        (NIGHT_SHIFT, "2026-03-06 22:00", True),
        (NIGHT_SHIFT, "2026-03-07 05:59", True),
        (NIGHT_SHIFT, "2026-03-07 06:00", False),
        (NIGHT_SHIFT, "2026-03-07 23:00", False),
        (NIGHT_SHIFT, "2026-03-09 02:00", False),  # Monday, but the night would have begun on Sunday
        (NIGHT_SHIFT, "2026-03-09 22:00", True),
        (WEEKEND_NIGHT, "2026-03-06 23:00", False),
        (WEEKEND_NIGHT, "2026-03-08 23:00", True),
        (WEEKEND_NIGHT, "2026-03-09 05:00", True),  # of Sunday's night
        (WEEKEND_NIGHT, "2026-03-09 08:00", False),
        (WEEKEND_NIGHT, "2026-03-09 09:00", True),
        # Thursday, the 24th of December, in Berlin: UTC+1
        (HOLIDAY, "2026-12-24 01:00", True),  # of Wednesday's night
        (HOLIDAY, "2026-12-24 21:30", False),
        (HOLIDAY, "2026-12-25 02:00", False),  # the night of the holiday
        (HOLIDAY, "2026-12-25 21:30", True),
        # The holidays of the next year are not known.
        (KNOWN, "2026-12-31 23:00", True),
        (KNOWN, "2027-01-01 03:00", True),
        (KNOWN, "2027-01-01 23:00", False),
    ],
)
def test_hours_and_holidays_belong_to_the_day_on_which_they_begin(hours: BusinessHours, at: str, is_open: bool) -> None:
    assert hours.includes(utc(at)) is is_open


def test_a_time_span_is_formatted_as_written() -> None:
    assert [str(NINE_TO_FIVE), str(HourRange(0, 24 * 60))] == ["09:00-17:00", "00:00-24:00"]
