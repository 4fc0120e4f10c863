"""Match messages by the values that they contain, independent of their wording."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

QUOTES = "'\"`“”"


@dataclass(frozen=True, eq=False)
class _Mentions:
    values: tuple[str, ...]

    def __eq__(self, message: object) -> bool:
        return isinstance(message, str) and message != "" and all(_contains(value, message) for value in self.values)

    __hash__ = object.__hash__


def mentions(*values: object) -> Any:
    """Equal any message that contains all of these values; without values, any message that isn't empty.

    A quoted value has to appear in quotes of any kind. Words and numbers have to be complete.
    """
    return _Mentions(tuple(map(str, values)))


def _contains(value: str, message: str) -> bool:
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
    """Equal any message that has exactly these lines after its first line."""
    return _Listing(lines)
