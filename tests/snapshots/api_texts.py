"""The texts of the OpenAPI document, and the descriptions of settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from cairn.api.app import describe
from cairn.config import Settings

Json = dict[str, Any]


def openapi() -> str:
    spec = describe().openapi()
    info = spec["info"]
    parts = ["# API", "\n".join(f"{key}: {info[key]}" for key in ("title", "summary", "description") if key in info)]
    parts += [f"tag {tag['name']}: {tag['description']}" for tag in spec["tags"]]
    parts.append("# Operations")
    for path, methods in spec["paths"].items():
        for method, operation in methods.items():
            parts.append("\n".join([f"## {method.upper()} {path}", *_operation(operation)]))
    parts.append("# Shapes")
    for name, schema in sorted(spec["components"]["schemas"].items()):
        if lines := list(_described(schema, "")):
            parts.append("\n".join([f"## {name}", *lines]))
    return "\n\n".join(parts) + "\n"


def _operation(operation: Json) -> Iterator[str]:
    yield operation.get("summary", "")
    yield from operation.get("description", "").splitlines()
    for parameter in operation.get("parameters", ()):
        description = parameter.get("description") or parameter.get("schema", {}).get("description")
        if description:
            yield f"- {parameter['in']} {parameter['name']}: {description}"
    body = operation.get("requestBody", {})
    if description := body.get("description"):
        yield f"- body: {description}"
    for kind, media in body.get("content", {}).items():
        yield from _described(media.get("schema", {}), f"body {kind}")
    for status, response in operation.get("responses", {}).items():
        yield f"- {status}: {response['description']}"


def _described(schema: Json, path: str) -> Iterator[str]:
    """The descriptions in a schema, with their paths."""
    if description := schema.get("description"):
        yield f"- {path}: {description}" if path else str(description)
    for name, inner in schema.get("properties", {}).items():
        yield from _described(inner, f"{path}.{name}" if path else name)
    for key in ("items", "additionalProperties"):
        if isinstance(inner := schema.get(key), dict):
            yield from _described(cast("Json", inner), f"{path}[]")
    for key in ("anyOf", "oneOf", "allOf"):
        for inner in schema.get(key, ()):
            yield from _described(inner, path)


def settings() -> str:
    schema = Settings.model_json_schema()
    parts = ["# Settings", *_described(schema, "")]
    for name, inner in sorted(schema["$defs"].items()):
        parts += ["", f"## {name}", *_described(inner, "")]
    return "\n".join(parts) + "\n"
