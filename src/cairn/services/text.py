"""Texts of others as one plain line."""

from __future__ import annotations

import unicodedata

LONGEST = 200  # characters of one value
UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})  # controls, changes of direction, halves of characters


def clean(text: str, most: int = LONGEST) -> str:
    """One line without characters that steer, such as line breaks, controls and changes of direction."""
    kept = "".join(" " if c.isspace() else c for c in text if c.isspace() or unicodedata.category(c) not in UNSEEN)
    line = " ".join(kept.split())
    return line if len(line) <= most else line[: most - 1] + "…"
