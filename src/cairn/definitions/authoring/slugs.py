"""Names that people write, and the keys and slugs made from them."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection

RESERVED = frozenset({"input"})  # the root of the run's input in an input mapping
_KEPT = frozenset({"Ll", "Lm", "Lo", "Nd"})
_SLUG_LENGTH = 60
_KEY_LENGTH = 63


def slug(name: str, *, empty: str = "checkpoint") -> str:
    """Lower-case letters and digits of any script; everything between them becomes one underscore."""
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).lower())
    kept = "".join(letter if unicodedata.category(letter) in _KEPT else " " for letter in text)
    return "_".join(kept.split())[:_SLUG_LENGTH].strip("_") or empty


def key_for(name: str, taken: Collection[str]) -> str:
    """The slug of a name as a key that is not taken: it begins with a letter, and `_2` tells it apart."""
    base = slug(name)
    if not base[0].isalpha():
        base = f"checkpoint_{base}"[:_SLUG_LENGTH].rstrip("_")
    return _unique(base, "_", taken, _KEY_LENGTH)


def name_for(key: str, taken: Collection[str]) -> str:
    """A name made from a key: `business-analysis` is called `Business analysis`."""
    words = key.replace("_", " ").replace("-", " ").strip() or key
    return _unique(words[0].upper() + words[1:], " ", taken, 200)


def _unique(base: str, joint: str, taken: Collection[str], length: int) -> str:
    found, number = base, 1
    while found in taken or found in RESERVED:
        number += 1
        suffix = f"{joint}{number}"
        found = base[: length - len(suffix)] + suffix
    return found
