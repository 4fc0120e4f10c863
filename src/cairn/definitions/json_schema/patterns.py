"""Regular expressions of form fields, which match the complete text in bounded time."""

from __future__ import annotations

from functools import lru_cache

import jsonschema_rs

from cairn.definitions.json_schema.validator import SchemaError, compile_schema

MAX_TEXT = 10_000  # characters; matching takes time proportional to the length of text and pattern


def check_pattern(pattern: str) -> str | None:
    """The error in a pattern, or None."""
    try:
        compile_schema({"pattern": pattern})
        _full_match(pattern)
    except SchemaError as error:
        return error.message
    return None


def matches(pattern: str, text: str, *, across_lines: bool = False) -> bool:
    """Whether the complete text matches. With `across_lines`, a dot also matches a line break."""
    return _full_match(pattern, "s" if across_lines else "").is_valid(text)


@lru_cache(maxsize=1024)
def _full_match(pattern: str, flags: str = "") -> jsonschema_rs.Validator:
    return compile_schema({"pattern": f"^(?{flags}:{pattern})$"})
