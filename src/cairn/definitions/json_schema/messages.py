"""Turn JSON Schema errors into readable messages with the expected value, the actual value and a hint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any, NamedTuple, cast

from jsonschema_rs import ValidationError, ValidationErrorKind

from cairn.definitions.frozen_model import JsonSchema
from cairn.documents import DocumentError, Value, encode_json

Kind = ValidationErrorKind

_META = "json-schema.org"  # in the location of errors in schemas that are part of a document
_BUT_GOT = ", but got "
_TYPES = {
    "object": "an object",
    "array": "a list",
    "string": "a string",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "null",
}
# A schema's `errorMessage` replaces the messages of these kinds of errors.
_REPLACEABLE_KINDS = (
    Kind.Pattern,
    Kind.Format,
    Kind.MinLength,
    Kind.MaxLength,
    Kind.Minimum,
    Kind.Maximum,
    Kind.ExclusiveMinimum,
    Kind.MinProperties,
    Kind.Enum,
    Kind.AnyOf,
    Kind.OneOfNotValid,
    Kind.OneOfMultipleValid,
)


class SchemaMessage(NamedTuple):
    text: str
    key: str | None = None  # the key, if the key is invalid, not its value


def explain(error: ValidationError, schema: JsonSchema) -> Iterator[SchemaMessage]:
    """One message for each problem in the error."""
    parent = _parent_schema(error, schema)
    match error.kind:
        case Kind.AdditionalProperties(unexpected) | Kind.UnevaluatedProperties(unexpected):
            known = sorted(parent.get("properties", {}))
            yield from (SchemaMessage(_unknown_key(key, known), key) for key in unexpected)
        case Kind.Required(property):
            yield SchemaMessage(f"`{property}` is required: add it")
        case Kind.FalseSchema():
            yield SchemaMessage(_not_allowed(error, schema))
        case kind if isinstance(kind, _REPLACEABLE_KINDS) and "errorMessage" in parent:
            yield SchemaMessage(f"{parent['errorMessage']}{_BUT_GOT}{preview(error.instance)}")
        case _:
            message = _message(error)
            is_schema = _META in (error.absolute_keyword_location or "")
            yield SchemaMessage(f"invalid JSON Schema: {message}" if is_schema else message)


def expectation(text: str) -> str:
    """The expected value, extracted from a message."""
    return text.partition(_BUT_GOT)[0].removeprefix("expected ")


def preview(value: object) -> str:
    """A value as JSON, shortened to fit into a sentence."""
    try:
        text = encode_json(cast("Value", value)).decode()
    except DocumentError:
        text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"


def type_name(value: object) -> str:
    match value:
        case bool():
            return "boolean"
        case None:
            return "null"
        case str():
            return "string"
        case int() | float():
            return "number"
        case list():
            return "array"
        case _:
            return "object"


def _message(error: ValidationError) -> str:
    but_got = f"{_BUT_GOT}{preview(error.instance)}"
    match error.kind:
        case Kind.Type(types):
            expected = _join_with_or([_TYPES.get(name, name) for name in types])
            actual = "" if error.instance is None else f"{_TYPES[type_name(error.instance)]}: "
            return f"expected {expected}{_BUT_GOT}{actual}{preview(error.instance)}"
        case Kind.Enum(options):
            return f"expected {one_of(map(preview, options))}{but_got}"
        case Kind.Constant(expected):
            return f"expected {preview(expected)}{but_got}"
        case Kind.Pattern(pattern):
            return f"expected a string that matches {pattern}{but_got}"
        case Kind.Format(name):
            return f"expected a valid {name}{but_got}"
        case Kind.AnyOf(context) | Kind.OneOfNotValid(context):
            return f"{_alternatives(context)}{but_got}"
        case Kind.FalseSchema():
            return f"no value is allowed here{but_got}"
        case Kind.PropertyNames(inner):
            return f"the key {preview(inner.instance)} is not allowed here: {_message(inner)}"
        case _:
            return _limit_message(error) or error.message


def _limit_message(error: ValidationError) -> str | None:
    """The message for a limit of a number, length or count."""
    number, size = preview(error.instance), len(cast("Any", error.instance)) if _has_size(error.instance) else 0
    match error.kind:
        case Kind.Minimum(limit):
            return f"expected at least {limit}{_BUT_GOT}{number}"
        case Kind.ExclusiveMinimum(limit):
            return f"expected more than {limit}{_BUT_GOT}{number}"
        case Kind.Maximum(limit):
            return f"expected at most {limit}{_BUT_GOT}{number}"
        case Kind.ExclusiveMaximum(limit):
            return f"expected less than {limit}{_BUT_GOT}{number}"
        case Kind.MinLength(limit):
            return f"expected at least {_count(limit, 'character')}{_BUT_GOT}{size}"
        case Kind.MaxLength(limit):
            return f"expected at most {_count(limit, 'character')}{_BUT_GOT}{size}"
        case Kind.MinItems(limit):
            return f"expected at least {_count(limit, 'item')}{_BUT_GOT}{size}"
        case Kind.MaxItems(limit):
            return f"expected at most {_count(limit, 'item')}{_BUT_GOT}{size}"
        case Kind.MinProperties(limit):
            return f"expected at least {_count(limit, 'key')}{_BUT_GOT}{size}"
        case Kind.MaxProperties(limit):
            return f"expected at most {_count(limit, 'key')}{_BUT_GOT}{size}"
        case Kind.UniqueItems():
            return f"expected no duplicates{_BUT_GOT}{number}"
        case _:
            return None


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _join_with_or(options: list[str]) -> str:
    return " or ".join(filter(None, (", ".join(options[:-1]), options[-1])))


def one_of(options: Iterable[str]) -> str:
    listed = list(options)
    return listed[0] if len(listed) == 1 else f"one of {', '.join(listed)}"


def _has_size(value: object) -> bool:
    return isinstance(value, str | list | dict)


def _alternatives(context: list[list[ValidationError]]) -> str:
    options = [expectation(_message(errors[0])) for errors in context if errors]
    return f"expected {', or '.join(dict.fromkeys(options)) or 'another value'}"


def _unknown_key(key: str, known: list[str]) -> str:
    if close := get_close_matches(key, known, n=1):
        return f"unknown key `{key}`: did you mean `{close[0]}`?"
    return f"unknown key `{key}`" + (f": use {one_of(known)}" if known else ": remove it")


def _not_allowed(error: ValidationError, schema: JsonSchema) -> str:
    """The message for a false schema, with the reason from the condition around it."""
    key = error.instance_path[-1] if error.instance_path else None
    found: Any = schema
    reason = ""
    for part in error.schema_path:
        found = _item(found, part)
        if isinstance(found, dict):
            reason = str(cast("dict[str, Any]", found).get("$comment", reason))
    if key is None:
        return f"no value is allowed here{_BUT_GOT}{preview(error.instance)}"
    return f"`{key}` is not allowed here" + (f": {reason}" if reason else "")


def _parent_schema(error: ValidationError, schema: JsonSchema) -> dict[str, Any]:
    """The part of the schema that contains the failed keyword."""
    if _META in (error.absolute_keyword_location or ""):
        return {}
    found: Any = schema
    for part in error.schema_path[:-1]:
        found = _item(found, part)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _item(holder: Any, part: str | int) -> Any:
    try:
        return holder[part]
    except (KeyError, IndexError, TypeError):
        return None
