"""Compile JSON Schemas, each once, and check values against them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple, NoReturn, cast

import jsonschema_rs

from cairn.definitions.frozen_model import JsonSchema
from cairn.definitions.json_schema.messages import expectation, explain, preview
from cairn.documents import Value, canonical, decode_json
from cairn.documents.pointers import join

# This engine takes linear time, so it supports neither look-around nor back references. The size limit bounds the
# constant factor: 5 MB allow `^.{0,2000}$`, but not `^(a{0,100}){0,300}$`, which is slow.
PATTERNS = jsonschema_rs.RegexOptions(size_limit=5_000_000)


class SchemaViolation(NamedTuple):
    path: str  # JSON pointer into the value
    message: str


class SchemaError(ValueError):
    """A JSON Schema is invalid or not supported. `path` points to the part."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


def compile_schema(schema: JsonSchema) -> jsonschema_rs.Validator:
    """Return a validator that checks formats, fetches no other schemas and takes bounded time. Raises SchemaError."""
    return _compile(canonical(cast("Value", schema)))


def check_value(schema: JsonSchema, value: Value) -> list[SchemaViolation]:
    """All violations of the schema in the value."""
    violations = iter_violations(compile_schema(schema), schema, value)
    return [SchemaViolation(*violation) for violation in dict.fromkeys(violations)]


def iter_violations(validator: jsonschema_rs.Validator, schema: JsonSchema, value: Value) -> Iterator[tuple[str, str]]:
    for error in validator.iter_errors(value):
        for message in explain(error, schema):
            yield join(error.instance_path), message.text


class SchemaViolationDetail(NamedTuple):
    """A violation with the expected and the actual value as separate texts."""

    path: str
    message: str
    expected: str
    actual: str


def iter_violation_details(
    validator: jsonschema_rs.Validator, schema: JsonSchema, value: Value
) -> Iterator[SchemaViolationDetail]:
    for error in validator.iter_errors(value):
        for message in explain(error, schema):
            yield SchemaViolationDetail(
                join(error.instance_path), message.text, expectation(message.text), preview(error.instance)
            )


def fill_defaults(schema: JsonSchema, value: Value) -> Value:
    """The value, with the schema's defaults for missing properties."""
    if not isinstance(schema, dict) or not isinstance(value, dict):
        return value
    filled = dict(value)
    properties: dict[str, Any] = schema.get("properties", {})
    for name, inner in properties.items():
        if name in filled:
            filled[name] = fill_defaults(inner, filled[name])
        elif isinstance(inner, dict) and "default" in inner:
            filled[name] = cast("Value", inner["default"])
    return filled


def reject_fetch(uri: str) -> NoReturn:
    raise ValueError(f"remote schemas are not supported: include {uri} in this schema")


@lru_cache(maxsize=1024)
def _compile(schema: bytes) -> jsonschema_rs.Validator:
    document = cast("Any", decode_json(schema))
    try:
        return jsonschema_rs.validator_for(
            document, validate_formats=True, retriever=reject_fetch, pattern_options=PATTERNS
        )
    except jsonschema_rs.ValidationError as error:
        raise SchemaError(join(error.instance_path), _schema_error_message(error)) from None


def _schema_error_message(error: jsonschema_rs.ValidationError) -> str:
    if error.instance_path and error.instance_path[-1] == "pattern":
        return (
            f"invalid pattern {error.instance!r}: expected a regular expression that is not too large, "
            "without look-around and back references"
        )
    return f"invalid JSON Schema: {error.message}"
