"""Make untrusted text safe to store and to display."""

from __future__ import annotations

import re
import unicodedata
from typing import Any, cast

MAX_LINE = 200  # characters
# Controls, format characters such as changes of direction, surrogates, private use, unassigned.
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


def sanitize(text: str) -> str:
    """Replace characters that a database can't store: NUL and lone surrogates."""
    return text.encode(errors="replace").decode().replace("\0", "\ufffd")


def sanitize_value(value: Any) -> Any:
    """The JSON value with its texts sanitized."""
    match value:
        case str():
            return sanitize(value)
        case list():
            return [sanitize_value(item) for item in cast("list[Any]", value)]
        case dict():
            return {sanitize(str(k)): sanitize_value(v) for k, v in cast("dict[Any, Any]", value).items()}
        case _:
            return value


def single_line(text: str, limit: int = MAX_LINE) -> str:
    """One line without invisible characters, cut to `limit` characters."""
    visible = (" " if c.isspace() else c for c in text if c.isspace() or unicodedata.category(c) not in _INVISIBLE)
    line = " ".join("".join(visible).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def visible(text: str) -> str:
    """The text with escapes for characters that could mislead people: invisible ones, and letters of another script.

    Line breaks and tabs stay. In a word that mixes Latin letters with similar ones of other scripts, the others become
    escapes.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible_word(word) for word in _WORDS.split(text))


_WORDS = re.compile(r"(\W+)")
_SIMILAR_SCRIPTS = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC")


def _visible_word(word: str) -> str:
    has_latin = any("a" <= c <= "z" or "A" <= c <= "Z" for c in word)
    return "".join(_escape(c) if _is_misleading(c, has_latin=has_latin) else c for c in word)


def _is_misleading(c: str, *, has_latin: bool) -> bool:
    if c.isascii():
        return not (c.isprintable() or c in "\n\t")
    if unicodedata.category(c) in _INVISIBLE or (c.isspace() and c != "\u00a0") or c in _FILLERS:
        return True
    return has_latin and unicodedata.name(c, "").startswith(_SIMILAR_SCRIPTS)


_FILLERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")  # letters and symbols that look like a space


def _escape(c: str) -> str:
    return f"\\u{{{ord(c):x}}}"
