"""Make untrusted text safe to store and to display."""

from __future__ import annotations

import unicodedata

MAX_LINE = 200  # characters
# Controls, format characters such as changes of direction, surrogates, private use, unassigned.
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


def sanitize(text: str) -> str:
    """Replace characters that a database can't store: NUL and lone surrogates."""
    return text.encode(errors="replace").decode().replace("\0", "\ufffd")


def single_line(text: str, limit: int = MAX_LINE) -> str:
    """One line without invisible characters, cut to `limit` characters."""
    visible = (" " if c.isspace() else c for c in text if c.isspace() or unicodedata.category(c) not in _INVISIBLE)
    line = " ".join("".join(visible).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
