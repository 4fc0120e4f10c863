"""JSON Schemas, compiled once, and what they say of a value in words for people."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple, NoReturn, cast

import jsonschema_rs

from cairn.definitions.frozen_model import JsonSchema
from cairn.definitions.json_schema.messages import expectation, explain, preview
from cairn.documents import Value, canonical, decode_json
from cairn.documents.pointers import join

# The linear engine: its time grows with the text, never exponentially. It knows no look-around and no back references.
# The size bounds the factor: at 5 MB `^.{0,2000}$` is taken and `^(a{0,100}){0,300}$`, slow by repetition, is not.
PATTERNS = jsonschema_rs.RegexOptions(size_limit=5_000_000)


class SchemaViolation(NamedTuple):
    """What a value lacks, and where in it."""

    path: str
    message: str


class SchemaError(ValueError):
    """A JSON Schema that cannot be used. `path` is the place in it."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


def compile_schema(schema: JsonSchema) -> jsonschema_rs.Validator:
    """Make a validator that asserts formats, fetches nothing and takes bounded time; SchemaError if it cannot be."""
    return _compile(canonical(cast("Value", schema)))


def check_value(schema: JsonSchema, value: Value) -> list[SchemaViolation]:
    """Everything in which the value does not fit: what was expected, what came, and where."""
    return [SchemaViolation(*fault) for fault in dict.fromkeys(iter_violations(compile_schema(schema), schema, value))]


def iter_violations(validator: jsonschema_rs.Validator, schema: JsonSchema, value: Value) -> Iterator[tuple[str, str]]:
    for error in validator.iter_errors(value):
        for message in explain(error, schema):
            yield join(error.instance_path), message.text


class SchemaViolationDetail(NamedTuple):
    """A fault, with what was expected and what came apart."""

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
    """The value with the defaults that the schema gives for properties that are missing."""
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
    raise ValueError(f"a schema stands for itself: {uri} is not fetched")


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
            f"the pattern {error.instance!r} cannot be used: it is not a regular expression, or it is too large, "
            "or it looks around or back, which takes unbounded time"
        )
    return f"this JSON Schema cannot be used: {error.message}"
