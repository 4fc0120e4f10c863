"""A JSON Schema as a part of another one: what it refers to inside of itself is still found."""

from __future__ import annotations

from typing import Any, cast

_DEFINITIONS = ("$defs", "definitions")


def embed(schema: dict[str, Any], key: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The schema as it stands under `properties/{key}`, and the definitions that have to stand at the top."""
    inner = {name: value for name, value in schema.items() if name not in _DEFINITIONS}
    hoisted = {
        f"{key}-{name}": _moved(definition, key)
        for place in _DEFINITIONS
        for name, definition in _object(schema.get(place)).items()
    }
    return cast("dict[str, Any]", _moved(inner, key)), hoisted


def _moved(value: Any, key: str) -> Any:
    match value:
        case {"$ref": str() as reference}:
            rest = {name: _moved(other, key) for name, other in _object(value).items() if name != "$ref"}
            return {"$ref": _reference(reference, key), **rest}
        case dict():
            return {name: _moved(other, key) for name, other in _object(cast("Any", value)).items()}
        case list():
            return [_moved(other, key) for other in cast("list[Any]", value)]
        case _:
            return value


def _reference(reference: str, key: str) -> str:
    for place in _DEFINITIONS:
        if reference.startswith(start := f"#/{place}/"):
            return f"#/$defs/{key}-{reference.removeprefix(start)}"
    return f"#/properties/{key}{reference.removeprefix('#')}" if reference.startswith("#") else reference


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
