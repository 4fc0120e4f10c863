"""The `unixepoch` function that Cairn adds to SQLite libraries that lack its 'subsec' modifier."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from cairn.store import unixepoch

MOMENT = "2026-11-18 22:05:53.123"
SECONDS = 1795039553
WITHOUT_SUBSEC = [
    ((MOMENT,), SECONDS),
    ((MOMENT, "+1 day"), SECONDS + 86400),
    ((MOMENT, "start of day", "+90 seconds"), 1794960090),
    ((2461363.4207537383,), SECONDS),  # a Julian day
    ((1700000000, "unixepoch"), 1700000000),
    ((1700000000, "auto"), 1700000000),
    ((2461363.4207537383, "auto"), SECONDS),
    (("1969-12-31 23:59:58.5",), -2),
    (("0000-01-01",), -62167219200),
    (("9999-12-31 23:59:59.999",), 253402300799),
    (("not a time",), None),
    ((None,), None),
    ((MOMENT, None), None),
    ((MOMENT, "sideways"), None),
]
WITH_SUBSEC = [
    ((MOMENT, "subsec"), 1795039553.123),
    ((MOMENT, "SubSecond"), 1795039553.123),
    ((MOMENT, "subsec", "+1.5 seconds"), 1795039554.623),
    ((MOMENT, "+1 day", "subsec"), 1795125953.123),
    ((1700000000.25, "unixepoch", "subsec"), 1700000000.25),
    ((1700000000, "subsec", "unixepoch"), None),  # 'unixepoch' only directly after the value
    (("1969-12-31 23:59:58.5", "subsec"), -1.5),
    (("2026-11-18", "subsec"), 1794960000.0),
    (("not a time", "subsec"), None),
    ((None, "subsec"), None),
]


@pytest.fixture
def connection(monkeypatch: pytest.MonkeyPatch) -> Iterator[sqlite3.Connection]:
    """A connection whose library appears to be older than 3.42."""
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 40, 1))
    with closing(sqlite3.connect(":memory:")) as opened:
        unixepoch.add_to(opened)
        yield opened


def value(connection: sqlite3.Connection, *arguments: Any) -> Any:
    places = ", ".join("?" * len(arguments))
    return connection.execute(f"SELECT unixepoch({places})", arguments).fetchone()[0]


@pytest.mark.parametrize(("arguments", "expected"), [*WITHOUT_SUBSEC, *WITH_SUBSEC])
def test_a_given_time(connection: sqlite3.Connection, arguments: tuple[Any, ...], expected: float | None) -> None:
    found = value(connection, *arguments)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(("arguments", "expected"), [*WITHOUT_SUBSEC, *WITH_SUBSEC])
def test_the_built_in_function_agrees(arguments: tuple[Any, ...], expected: float | None) -> None:
    """For every argument that this Python's library supports."""
    if sqlite3.sqlite_version_info < (3, 42) and (arguments, expected) in WITH_SUBSEC:
        expected = None
    with closing(sqlite3.connect(":memory:")) as connection:
        found = value(connection, *arguments)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize("arguments", [(), ("now",), ("subsec",), ("now", "subsec"), ("SUBSECOND",)])
def test_the_current_time(connection: sqlite3.Connection, arguments: tuple[str, ...]) -> None:
    before = time.time_ns() // 1_000_000
    found = value(connection, *arguments)
    after = time.time_ns() // 1_000_000
    if arguments in {(), ("now",)}:
        assert isinstance(found, int)
        assert before // 1000 <= found <= after // 1000
    else:
        assert isinstance(found, float)
        assert before <= round(found * 1000) <= after


def test_a_statement_sees_one_time(connection: sqlite3.Connection) -> None:
    """As with the built-in function, all rows of one statement get the same time."""
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)"
    assert connection.execute(f"{numbers} SELECT count(DISTINCT unixepoch('subsec')) FROM n").fetchone() == (1,)


def test_a_library_with_subsec_keeps_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 42, 0))
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.create_function("unixepoch", -1, lambda *_: "its own")
        unixepoch.add_to(connection)
        assert value(connection, "subsec") == "its own"
