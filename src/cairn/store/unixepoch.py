"""SQLite's `unixepoch` with its modifier 'subsec', for libraries older than 3.42.

On Python 3.12 and newer, the job engine uses `unixepoch('subsec')` in its statements and in the defaults of its tables.
The defaults stay in the data folder, so every connection needs the function, whatever the version of Python.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from typing import Any

_FIRST_WITH_SUBSEC = (3, 42)
_SUBSEC = ("subsec", "subsecond")
_DAY = 86_400_000  # milliseconds
_EPOCH = 2_440_587.5  # 1970-01-01 as a Julian day


def add_to(connection: sqlite3.Connection) -> None:
    """Replace the built-in function if it is too old."""
    if sqlite3.sqlite_version_info >= _FIRST_WITH_SUBSEC:
        return
    # Deterministic, like the built-in function: all calls in one statement return the same time.
    connection.create_function("unixepoch", -1, _unixepoch, deterministic=True)
    # Some builds of SQLite only allow built-in functions in column defaults.
    connection.execute("PRAGMA trusted_schema=ON").close()


def _unixepoch(*arguments: Any) -> float | None:
    if arguments == ("subsec",):
        return time.time_ns() // 1_000_000 / 1000
    is_subsec = [isinstance(argument, str) and argument.lower() in _SUBSEC for argument in arguments]
    # As the time value, 'subsec' means "now". As a modifier, replace it with one that has no effect.
    supported = [
        argument if not is_modifier else "+0 days" if position else "now"
        for position, (argument, is_modifier) in enumerate(zip(arguments, is_subsec, strict=True))
    ]
    with closing(sqlite3.connect(":memory:")) as other:
        parameters = ", ".join("?" * len(supported))
        (day,) = other.execute(f"SELECT julianday({parameters})", supported).fetchone()
    if day is None:
        return None
    milliseconds = round((day - _EPOCH) * _DAY)
    return milliseconds / 1000 if any(is_subsec) else milliseconds // 1000
