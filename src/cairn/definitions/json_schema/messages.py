"""What a JSON Schema finds, in words for people: what was expected, what came, what to do."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, NamedTuple, cast

from jsonschema_rs import ValidationError, ValidationErrorKind

from cairn.definitions.frozen_model import JsonSchema
from cairn.documents import DocumentError, Value, encode_json

Kind = ValidationErrorKind

_META = "json-schema.org"
_TYPES = {
    "object": "an object",
    "array": "a list",
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "null",
}
# Kinds of errors that a schema's own `errorMessage` speaks of.
_KINDS_WITH_OWN_MESSAGE = (
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
    key: str | None = None  # the key in the object that it is about


def explain(error: ValidationError, schema: JsonSchema) -> Iterator[SchemaMessage]:
    """One message for each thing that the error is about."""
    where = _parent_schema(error, schema)
    match error.kind:
        case Kind.AdditionalProperties(unexpected) | Kind.UnevaluatedProperties(unexpected):
            known = sorted(where.get("properties", {}))
            yield from (SchemaMessage(_unknown_key(key, known), key) for key in unexpected)
        case Kind.Required(property):
            yield SchemaMessage(f"`{property}` is missing: add it")
        case Kind.FalseSchema():
            yield SchemaMessage(_not_allowed(error, schema))
        case kind if isinstance(kind, _KINDS_WITH_OWN_MESSAGE) and "errorMessage" in where:
            yield SchemaMessage(f"{where['errorMessage']}; here it is {preview(error.instance)}")
        case _:
            said = _expected(error)
            is_schema = _META in (error.absolute_keyword_location or "")
            yield SchemaMessage(f"this is no JSON Schema: {said}" if is_schema else said)


def expectation(text: str) -> str:
    """Of a message, what was expected, without what came."""
    for end in ("; here ", ", but here "):
        text = text.partition(end)[0]
    return text.removeprefix("expected ")


def preview(value: object) -> str:
    """A value as JSON, cut to what fits into a sentence."""
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


def _expected(error: ValidationError) -> str:
    came = f"; here it is {preview(error.instance)}"
    match error.kind:
        case Kind.Type(types):
            wanted = " or ".join(_TYPES.get(name, name) for name in types)
            got = _TYPES[type_name(error.instance)]
            return f"expected {wanted}, but here it is {got}: {preview(error.instance)}"
        case Kind.Enum(options):
            return f"expected one of {', '.join(map(preview, options))}{came}"
        case Kind.Constant(expected):
            return f"expected {preview(expected)}{came}"
        case Kind.Pattern(pattern):
            return f"expected a text that matches {pattern}{came}"
        case Kind.Format(name):
            return f"expected a valid {name}{came}"
        case Kind.AnyOf(context) | Kind.OneOfNotValid(context):
            return f"{_choices(context)}{came}"
        case Kind.FalseSchema():
            return f"nothing is possible here{came}"
        case Kind.PropertyNames(inner):
            return f"the key {preview(inner.instance)} is not possible here: {_expected(inner)}"
        case _:
            return _bounds(error) or error.message


def _bounds(error: ValidationError) -> str | None:
    """Limits of numbers, lengths and counts."""
    number, size = preview(error.instance), len(cast("Any", error.instance)) if _has_size(error.instance) else 0
    match error.kind:
        case Kind.Minimum(limit):
            return f"expected at least {limit}; here it is {number}"
        case Kind.ExclusiveMinimum(limit):
            return f"expected more than {limit}; here it is {number}"
        case Kind.Maximum(limit):
            return f"expected at most {limit}; here it is {number}"
        case Kind.ExclusiveMaximum(limit):
            return f"expected less than {limit}; here it is {number}"
        case Kind.MinLength(limit):
            return f"expected at least {_count(limit, 'character')}; here there are {size}"
        case Kind.MaxLength(limit):
            return f"expected at most {_count(limit, 'character')}; here there are {size}"
        case Kind.MinItems(limit):
            return f"expected at least {_count(limit, 'item')}; here there are {size}"
        case Kind.MaxItems(limit):
            return f"expected at most {_count(limit, 'item')}; here there are {size}"
        case Kind.MinProperties(limit):
            return f"expected at least {_count(limit, 'key')}; here there are {size}"
        case Kind.MaxProperties(limit):
            return f"expected at most {_count(limit, 'key')}; here there are {size}"
        case Kind.UniqueItems():
            return f"no item may stand twice; here they are {number}"
        case _:
            return None


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _has_size(value: object) -> bool:
    return isinstance(value, str | list | dict)


def _choices(context: list[list[ValidationError]]) -> str:
    ways = [_expected(errors[0]).partition("; here")[0].partition(", but here")[0] for errors in context if errors]
    return ", or ".join(dict.fromkeys(ways)) or "nothing that is possible here fits"


def _unknown_key(key: str, known: list[str]) -> str:
    if close := get_close_matches(key, known, n=1):
        return f"there is no key `{key}` here: did you mean `{close[0]}`?"
    return f"there is no key `{key}` here" + (f"; there are {', '.join(known)}" if known else "")


def _not_allowed(error: ValidationError, schema: JsonSchema) -> str:
    """A false schema: the condition around it says why."""
    key = error.instance_path[-1] if error.instance_path else None
    found: Any = schema
    why = ""
    for part in error.schema_path:
        found = _item(found, part)
        if isinstance(found, dict):
            why = str(cast("dict[str, Any]", found).get("$comment", why))
    if key is None:
        return f"nothing is possible here; here it is {preview(error.instance)}"
    return f"`{key}` does not belong here" + (f": {why}" if why else "")


def _parent_schema(error: ValidationError, schema: JsonSchema) -> dict[str, Any]:
    """The part of the schema that the failed keyword stands in."""
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
