"""Messages in tests: what a message has to mention, and nothing about how it is worded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

QUOTES = "'\"`“”"


@dataclass(frozen=True, eq=False)
class _Mentions:
    values: tuple[str, ...]

    def __eq__(self, message: object) -> bool:
        return isinstance(message, str) and message != "" and all(_stands_in(value, message) for value in self.values)

    __hash__ = object.__hash__


def mentions(*values: object) -> Any:
    """Equal to every message that contains all of these; without values, to every message that is not empty.

    A value in quotes has to stand in quotes, of whichever kind. Words and numbers have to stand alone.
    """
    return _Mentions(tuple(map(str, values)))


def _stands_in(value: str, message: str) -> bool:
    if len(value) > 2 and value[0] in QUOTES and value[-1] in QUOTES:
        return re.search(f"[{QUOTES}]{re.escape(value[1:-1])}[{QUOTES}]", message) is not None
    before, after = (r"(?<!\w)" if value[:1].isalnum() else ""), (r"(?!\w)" if value[-1:].isalnum() else "")
    return re.search(f"{before}{re.escape(value)}{after}", message) is not None


@dataclass(frozen=True, eq=False)
class _Listing:
    lines: tuple[Any, ...]

    def __eq__(self, message: object) -> bool:
        return isinstance(message, str) and message.splitlines()[1:] == list(self.lines)

    __hash__ = object.__hash__


def listing(*lines: Any) -> Any:
    """Equal to every message that has exactly these lines below its first one."""
    return _Listing(lines)
