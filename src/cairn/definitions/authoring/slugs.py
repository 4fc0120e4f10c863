"""Derive keys and slugs from names, and names from keys."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection

RESERVED = frozenset({"input"})  # refers to the run's input in input mappings
_SLUG_CATEGORIES = frozenset({"Ll", "Lm", "Lo", "Nd"})
_SLUG_LENGTH = 60
_KEY_LENGTH = 63


def slug(name: str, *, empty: str = "checkpoint") -> str:
    """Keep lowercase letters and digits of any script, and replace everything between them with one underscore."""
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).lower())
    words = "".join(letter if unicodedata.category(letter) in _SLUG_CATEGORIES else " " for letter in text)
    return "_".join(words.split())[:_SLUG_LENGTH].strip("_") or empty


def key_for(name: str, taken: Collection[str]) -> str:
    """An unused key for the name. It starts with a letter and can end with a number, such as `_2`."""
    base = slug(name)
    if not base[0].isalpha():
        base = f"checkpoint_{base}"[:_SLUG_LENGTH].rstrip("_")
    return _unique(base, "_", taken, _KEY_LENGTH)


def name_for(key: str, taken: Collection[str]) -> str:
    """A name for the key that is not taken: `Business analysis` for `business-analysis`."""
    words = key.replace("_", " ").replace("-", " ").strip() or key
    return _unique(words[0].upper() + words[1:], " ", taken, 200)


def _unique(base: str, separator: str, taken: Collection[str], length: int) -> str:
    found, number = base, 1
    while found in taken or found in RESERVED:
        number += 1
        suffix = f"{separator}{number}"
        found = base[: length - len(suffix)] + suffix
    return found
