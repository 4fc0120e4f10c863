"""Schemas are compared by required properties and types. A mismatch that is not certain is a warning."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.definitions.json_schema.compatibility import Presence, SchemaView, compare
from tests.mentions import mentions

CERTAIN, POSSIBLE, UNKNOWN, NEVER = Presence.CERTAIN, Presence.POSSIBLE, Presence.UNKNOWN, Presence.NEVER
OPEN = {"properties": {"b": True}}


@pytest.mark.parametrize(
    ("schema", "step", "presence"),
    [
        (True, "a", UNKNOWN),
        (False, "a", NEVER),
        ({}, "a", UNKNOWN),
        ({"type": "object"}, "a", UNKNOWN),
        ({"type": "string"}, "a", NEVER),
        ({"enum": ["x", None]}, "a", NEVER),
        ({"const": {}}, "a", UNKNOWN),
        ({"properties": {"a": True}, "required": ["a"]}, "a", CERTAIN),
        ({"type": "object", "properties": {"a": True}, "required": ["a"]}, "a", CERTAIN),
        ({"type": ["object", "null"], "properties": {"a": True}, "required": ["a"]}, "a", POSSIBLE),
        ({"properties": {"a": True}}, "a", POSSIBLE),
        ({"properties": {"a": {"default": 1}}}, "a", POSSIBLE),
        (OPEN, "a", NEVER),
        (OPEN | {"additionalProperties": True}, "a", UNKNOWN),
        (OPEN | {"additionalProperties": {}}, "a", UNKNOWN),
        (OPEN | {"additionalProperties": {"type": "string"}}, "a", POSSIBLE),
        (OPEN | {"additionalProperties": False}, "a", NEVER),
        (OPEN | {"patternProperties": {"^a": True}}, "a", UNKNOWN),
        (OPEN | {"allOf": [{"properties": {"a": True}}]}, "a", UNKNOWN),
        ({"additionalProperties": False}, "a", NEVER),
        ({"$ref": "#/$defs/x", "$defs": {"x": {"properties": {"a": True}, "required": ["a"]}}}, "a", CERTAIN),
        ({"$ref": "#/$defs/x", "$defs": {"x": True}}, "a", UNKNOWN),
        ({"$ref": "#/nowhere"}, "a", UNKNOWN),
        ({"$ref": "#anchor"}, "a", UNKNOWN),
        ({"$ref": "#"}, "a", UNKNOWN),
        (True, 0, UNKNOWN),
        ({"type": "array"}, 0, POSSIBLE),
        ({"type": "object"}, 0, NEVER),
        ({"type": "array", "minItems": 2}, 1, CERTAIN),
        ({"type": "array", "minItems": 2}, 2, POSSIBLE),
        ({"minItems": 2}, 0, POSSIBLE),
        ({"type": "array", "maxItems": 2}, 2, NEVER),
        ({"type": "array", "prefixItems": [True], "items": False}, 0, POSSIBLE),
        ({"type": "array", "prefixItems": [True], "items": False}, 1, NEVER),
    ],
)
def test_the_presence_of_a_step_in_a_schema(schema: Any, step: str | int, presence: Presence) -> None:
    assert SchemaView.of(schema).step(step)[0] is presence


def test_steps_can_be_chained() -> None:
    view = SchemaView.of(
        {"properties": {"a": {"items": {"type": "string"}}}, "additionalProperties": {"type": "number"}}
    )
    assert view.member("a")[1].item(3)[1].types == {"string"}
    assert view.member("b")[1].types == {"number", "integer"}
    filled = SchemaView.of({"properties": {"a": {"properties": {"b": {"default": 1}}}}}, fills=True)
    assert filled.member("a")[1].member("b")[0] is CERTAIN


@pytest.mark.parametrize(
    ("source", "target", "messages"),
    [
        ({"type": "integer"}, {"type": "number"}, []),
        ({"type": "number"}, {"type": "integer"}, [mentions("warning: ", "x", "number", "integer")]),
        ({"type": "string"}, {"type": "number"}, [mentions("error: ", "x", "string", "number")]),
        ({"enum": [1, "a"]}, {"type": "string"}, [mentions("warning: ", "x", "integer or string")]),
        ({"const": True}, {"type": "boolean"}, []),
        ({"const": True}, {"enum": [1]}, [mentions("error: ", "x", "boolean", "integer")]),
        (True, {"type": "string"}, [mentions("warning: ", "x", "string")]),
        ({"type": "string"}, True, []),
        ({"type": "string"}, {"properties": {"a": True}, "required": ["a"]}, []),
        (
            True,
            {"required": ["a"]},
            [mentions("warning: ", "x.a")],
        ),
        (
            {"properties": {"a": {"type": "string"}}},
            {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}},
            [mentions("error: ", "x.a", "string", "number")],
        ),
    ],
)
def test_a_source_is_compared_with_its_target(source: Any, target: Any, messages: list[str]) -> None:
    found = compare(SchemaView.of(source), SchemaView.of(target), "x")
    assert [f"{severity.value}: {message}" for severity, message in found] == messages


def test_a_schema_may_refer_to_itself() -> None:
    tree: Any = {"type": "object", "properties": {"child": {"$ref": "#"}}, "required": ["child"]}
    assert list(compare(SchemaView.of(tree), SchemaView.of(tree), "x")) == []
