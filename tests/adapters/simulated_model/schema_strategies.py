"""Random schemas, each built around a valid value."""

from __future__ import annotations

import re
from typing import Any, cast

from hypothesis import strategies as st

Json = dict[str, Any]
KEYS = st.sampled_from(["name", "total", "items", "notes", "is open", "ä/~", "$ref", "id"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-50, 50),
    st.integers(-(10**12), 10**12),
    st.sampled_from([0.5, -1.25, 3.75, 1e6, 0.001]),
    st.text("abc XYZ019-_ü", max_size=12),
    st.sampled_from(["2026-03-01", "a@example.com", "https://example.com/x", "0f0f0f0f-0000-4000-8000-000000000000"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)
FORMATS = {
    "2026-03-01": "date",
    "a@example.com": "email",
    "https://example.com/x": "uri",
    "0f0f0f0f-0000-4000-8000-000000000000": "uuid",
}
NEVER_VALID = [
    {"type": "null"},
    {"const": "never"},
    {"type": "string", "minLength": 500},
    {"type": "array", "minItems": 90},
]


@st.composite
def schemas_for(draw: st.DrawFn, value: Any, depth: int = 0) -> Any:
    """A schema that accepts the value."""
    if depth > 4 or draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from([True, {}, {"const": value}, {"enum": [value, "other", None]}]))
    schema = draw(_of_type(value, depth))
    for keyword in draw(st.lists(st.sampled_from(["allOf", "anyOf", "oneOf", "not", "if", "$ref"]), max_size=2)):
        schema = draw(_combined(keyword, schema, value, depth))
    return schema


@st.composite
def _combined(draw: st.DrawFn, keyword: str, schema: Any, value: Any, depth: int) -> Any:
    other = draw(st.sampled_from([candidate for candidate in NEVER_VALID if not _accepts(candidate, value)]))
    match keyword:
        case "allOf":
            return {"allOf": [schema, draw(schemas_for(value, depth + 1))]}
        case "anyOf":
            return {"anyOf": draw(st.permutations([other, schema]))}
        case "oneOf":
            return {"oneOf": draw(st.permutations([other, schema]))}
        case "not":
            return {"allOf": [schema], "not": other}
        case "if":
            return draw(
                st.sampled_from(
                    [{"if": schema, "then": True, "else": False}, {"if": other, "then": False, "else": schema}]
                )
            )
        case _:
            return {"$defs": {"it": schema}, "$ref": "#/$defs/it"} if depth == 0 else schema


def _accepts(schema: Json, value: Any) -> bool:
    return (value is None and schema == {"type": "null"}) or value == "never"


@st.composite
def _of_type(draw: st.DrawFn, value: Any, depth: int) -> Json:
    match value:
        case None:
            schema: Json = {"type": draw(st.sampled_from(["null", ["null", "integer"]]))}
        case bool():
            schema = {"type": "boolean"}
        case int() | float():
            schema = draw(_number(value))
        case str():
            schema = draw(_text(value))
        case list():
            schema = draw(_list(cast("list[Any]", value), depth))
        case _:
            schema = draw(_object(cast("Json", value), depth))
    if draw(st.integers(0, 4)) == 0:
        schema.pop("type", None)
    return schema


@st.composite
def _number(draw: st.DrawFn, value: float) -> Json:
    options: Json = {
        "minimum": value - draw(st.sampled_from([0, 1, 7])),
        "maximum": value + draw(st.sampled_from([0, 1, 7])),
        "exclusiveMinimum": value - 1,
        "exclusiveMaximum": value + 0.5,
    }
    if isinstance(value, int) and value:
        options["multipleOf"] = abs(value) if abs(value) < 1000 else 1
    type_ = "integer" if isinstance(value, int) else "number"
    return {"type": type_, **_some(draw, options)}


@st.composite
def _text(draw: st.DrawFn, value: str) -> Json:
    options: Json = {
        "minLength": max(len(value) - draw(st.sampled_from([0, 3])), 0),
        "maxLength": len(value) + draw(st.sampled_from([0, 5])),
        "pattern": draw(
            st.sampled_from([f"^{re.escape(value)}$", f"^.{{{len(value)},}}$", f"^[^€]{{0,{len(value)}}}$", "", "^.*$"])
        ),
    }
    if value in FORMATS:
        options["format"] = FORMATS[value]
    return {"type": "string", **_some(draw, options)}


@st.composite
def _list(draw: st.DrawFn, value: list[Any], depth: int) -> Json:
    options: Json = {"minItems": len(value), "maxItems": len(value) + draw(st.sampled_from([0, 2]))}
    if len({repr(item) for item in value}) == len(value) and not any(isinstance(item, bool | float) for item in value):
        options["uniqueItems"] = True
    if value:
        options["contains"] = draw(schemas_for(value[0], depth + 1))
        if draw(st.booleans()):
            options["prefixItems"] = [draw(schemas_for(item, depth + 1)) for item in value]
        else:
            options["items"] = {"anyOf": [draw(schemas_for(item, depth + 1)) for item in value]}
    return {"type": "array", **_some(draw, options)}


@st.composite
def _object(draw: st.DrawFn, value: Json, depth: int) -> Json:
    options: Json = {
        "required": list(value),
        "minProperties": len(value),
        "maxProperties": len(value) + draw(st.sampled_from([0, 2])),
        "propertyNames": {"maxLength": 20},
        "dependentRequired": {key: list(value) for key in value},
    }
    inner = {key: draw(schemas_for(member, depth + 1)) for key, member in value.items()}
    schema = {"type": "object", "properties": inner, **_some(draw, options)}
    if draw(st.booleans()):
        schema[draw(st.sampled_from(["additionalProperties", "unevaluatedProperties"]))] = False
    return schema


def _some(draw: st.DrawFn, options: Json) -> Json:
    return {key: options[key] for key in draw(st.lists(st.sampled_from([*options]), unique=True, max_size=3))}


@st.composite
def schemas(draw: st.DrawFn) -> tuple[Any, Any]:
    """A schema and the valid value that it was built around."""
    value = draw(VALUES)
    return draw(schemas_for(value)), value
