"""Regular expressions of form fields: the whole text has to match, in bounded time."""

from __future__ import annotations

from functools import lru_cache

import jsonschema_rs

from cairn.definitions.json_schema.validator import SchemaError, compile_schema

MAX_TEXT = 10_000  # characters that a pattern is tried on: the time grows with them times the pattern's size


def check_pattern(pattern: str) -> str | None:
    """Why a pattern cannot be used, if so."""
    try:
        compile_schema({"pattern": pattern})
        _full_match(pattern)
    except SchemaError as error:
        return error.message
    return None


def matches(pattern: str, text: str, *, across_lines: bool = False) -> bool:
    """Does the whole text match? Across lines, a dot stands for a line break, too."""
    return _full_match(pattern, "s" if across_lines else "").is_valid(text)


@lru_cache(maxsize=1024)
def _full_match(pattern: str, flags: str = "") -> jsonschema_rs.Validator:
    return compile_schema({"pattern": f"^(?{flags}:{pattern})$"})
