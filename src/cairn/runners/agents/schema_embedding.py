"""Embed one JSON Schema in another and keep its internal references valid."""

from __future__ import annotations

from typing import Any, cast

_DEFINITIONS = ("$defs", "definitions")


def embed(schema: dict[str, Any], key: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The schema for `properties/{key}`, and its definitions for the `$defs` of the outer schema."""
    inner = {name: value for name, value in schema.items() if name not in _DEFINITIONS}
    definitions = {
        f"{key}-{name}": _rewrite(definition, key)
        for keyword in _DEFINITIONS
        for name, definition in _object(schema.get(keyword)).items()
    }
    return cast("dict[str, Any]", _rewrite(inner, key)), definitions


def _rewrite(value: Any, key: str) -> Any:
    """The value with its references changed to their new locations."""
    match value:
        case {"$ref": str() as reference}:
            rest = {name: _rewrite(other, key) for name, other in _object(value).items() if name != "$ref"}
            return {"$ref": _reference(reference, key), **rest}
        case dict():
            return {name: _rewrite(other, key) for name, other in _object(cast("Any", value)).items()}
        case list():
            return [_rewrite(other, key) for other in cast("list[Any]", value)]
        case _:
            return value


def _reference(reference: str, key: str) -> str:
    for keyword in _DEFINITIONS:
        if reference.startswith(start := f"#/{keyword}/"):
            return f"#/$defs/{key}-{reference.removeprefix(start)}"
    return f"#/properties/{key}{reference.removeprefix('#')}" if reference.startswith("#") else reference


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
