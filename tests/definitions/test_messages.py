"""Findings of malformed documents mention what was expected and what was found."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.definitions import (
    Finding,
    SchemaError,
    SchemaViolation,
    authoring_schema,
    check,
    check_value,
    compile_schema,
    fill_defaults,
)
from cairn.documents import decode_yaml
from tests.definitions.corpus import pipeline
from tests.mentions import mentions

CHECKPOINT = authoring_schema()["$defs"]["Checkpoint"]


def errors_of(*checkpoints: Any, **fields: Any) -> list[tuple[str, str]]:
    return [(finding.path, finding.message) for finding in check(pipeline(*checkpoints, **fields))]


def test_an_unknown_key_is_reported_with_a_suggestion() -> None:
    assert errors_of({"key": "a", "promt": "x", "prompt": "y"}) == [("/checkpoints/0", mentions("`promt`", "`prompt`"))]
    assert errors_of(steps=[], config={"speed": 1}) == [
        ("/config", mentions("`speed`", "auto_advance, timeout_config")),
        ("", mentions("`steps`", ", ".join(sorted(authoring_schema()["properties"])))),
    ]


def test_a_checkpoint_without_a_mode_is_reported() -> None:
    message = mentions("`agent`", "`prompt`", "`script`", "`function`", "`form`", "`execution`")
    assert errors_of({"key": "a"}) == [("/checkpoints/0", message)]


def test_a_run_timeout_can_only_fail_the_run() -> None:

    timeout = {"timeout_minutes": 5, "on_timeout": "pause_pipeline"}
    pointer = "/config/timeout_config/on_timeout"
    assert errors_of(config={"timeout_config": timeout}) == [(pointer, mentions("fail_run", '"pause_pipeline"'))]


def test_a_required_second_pass_needs_a_restart() -> None:
    message = mentions("require_second_pass", "1", "0")
    policy = {"require_second_pass": True, "max_restarts": 0}
    assert errors_of(restart_policy=policy) == [("/restart_policy/max_restarts", message)]


def test_findings_have_their_line_and_column() -> None:
    text = """\
pipeline_name: P
checkpoints:
  - key: A
    prompt: 7
    colour: red
    execution: { mode: agentic, script_config: {} }
    outputs: [x.md, y.exe, z]
    approve: maybe
    needs: [nobody]
"""
    document, positions = decode_yaml(text)
    assert [(finding.line, finding.column, finding.message) for finding in check(document, positions=positions)] == [
        (3, 10, mentions(authoring_schema()["$defs"]["Key"]["errorMessage"], '"A"')),
        (4, 13, mentions("7")),
        (5, 5, mentions("`colour`", ", ".join(sorted(CHECKPOINT["properties"])))),
        (6, 33, mentions("`script_config`", "agent_config")),
        (6, 48, mentions("`script_path`")),
        (7, 21, mentions('"json", "md", "mmd", "txt", "py", "html", "csv"', '"exe"')),
        (7, 28, mentions("`format`")),
        (8, 14, mentions('"start", "complete", "both"', '"maybe"')),
        (9, 13, mentions("'nobody'")),
    ]


def test_a_finding_without_a_line_names_its_path() -> None:
    assert str(Finding("/a/0", "is wrong")) == "/a/0: is wrong"
    assert str(Finding("", "is wrong")).endswith(": is wrong")


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        ({"type": "integer"}, 1.5, mentions("1.5")),
        ({"type": ["string", "null"]}, [], mentions("[]")),
        ({"type": "boolean"}, None, mentions("null")),
        ({"type": "object"}, True, mentions("true")),
        ({"enum": ["a", 1]}, "b", mentions('"a"', "1", '"b"')),
        ({"const": {"a": 1}}, {}, mentions('{"a":1}', "{}")),
        ({"pattern": "^a+$"}, "b", mentions('"b"')),
        ({"format": "date"}, "soon", mentions("date", '"soon"')),
        ({"minimum": 2}, 1, mentions("2", "1")),
        ({"exclusiveMinimum": 2}, 2, mentions("2")),
        ({"maximum": 2}, 10**30, mentions("2", 10**30)),
        ({"exclusiveMaximum": 2}, 2.0, mentions("2", "2.0")),
        ({"minLength": 2}, "é", mentions("2", "1")),
        ({"maxLength": 2}, "abc", mentions("2", "3")),
        ({"minItems": 1}, [], mentions("1", "0")),
        ({"maxItems": 1}, [1, 2], mentions("1", "2")),
        ({"minProperties": 1}, {}, mentions("1", "0")),
        ({"maxProperties": 0}, {"a": 1}, mentions("0", "1")),
        ({"uniqueItems": True}, [1, 1], mentions("1,1")),
        ({"multipleOf": 2}, 3, mentions("3", "2")),
        ({"required": ["a"]}, {}, mentions("`a`")),
        ({"additionalProperties": False}, {"a": 1}, mentions("1")),
        ({"additionalProperties": False, "properties": {"b": True}}, {"a": 1}, mentions("`a`", "b")),
        ({"unevaluatedProperties": False}, {"a": 1}, mentions("`a`")),
        (
            {"propertyNames": {"maxLength": 1}},
            {"ab": 1},
            mentions('"ab"', "1", "2"),
        ),
        ({"anyOf": [{"type": "string"}, {"minimum": 5}]}, 1, mentions("5", "1")),
        ({"oneOf": [{"type": "string"}, False]}, 1, mentions("1")),
        (False, 1, mentions("1")),
        ({"pattern": "^a$", "errorMessage": "write a"}, "b", mentions("write a", '"b"')),
        ({"maxLength": 1}, "x" * 200, mentions("1", "200")),
        ({"enum": [1]}, "x" * 200, mentions("1", "x" * 76)),
    ],
)
def test_a_schema_error_mentions_the_limit_and_the_value(schema: Any, value: Any, message: str) -> None:
    assert check_value(schema, value) == [SchemaViolation("", message)]


def test_each_schema_error_has_its_path() -> None:
    schema: Any = {
        "properties": {"a/b": {"items": {"type": "integer"}}, "c": {"not": {}}, "d": False},
        "$defs": {"unused": {"type": "string"}},
    }
    assert check_value(schema, {"a/b": [1, "x", None], "d": 1}) == [
        SchemaViolation("/a~1b/1", mentions('"x"')),
        SchemaViolation("/a~1b/2", mentions("null")),
        SchemaViolation("/d", mentions("`d`")),
    ]
    assert check_value(schema, {"a/b": [10**40]}) == []


@pytest.mark.parametrize(
    ("schema", "path", "part"),
    [
        ({"type": "objekt"}, "/type", mentions('"objekt"')),
        ({"properties": {"a": {"pattern": "(?=a)b"}}}, "/properties/a/pattern", mentions('"(?=a)b"')),
        ({"pattern": "(a{1000}){1000}"}, "/pattern", mentions('"(a{1000}){1000}"')),
        ({"$ref": "https://example.org/schema"}, "", mentions("https://example.org/schema")),
        ({"$ref": "#/$defs/none"}, "", mentions("/$defs/none")),
        ({"$schema": "urn:unknown"}, "", mentions("urn:unknown")),
    ],
)
def test_an_unusable_schema_is_rejected_with_a_reason(schema: Any, path: str, part: str) -> None:
    with pytest.raises(SchemaError) as caught:
        compile_schema(schema)
    assert caught.value.path == path
    assert caught.value.message == part


def test_defaults_of_a_schema_are_filled_in() -> None:
    schema: Any = {
        "properties": {
            "a": {"default": 1},
            "b": {"properties": {"c": {"default": "x"}}},
            "d": True,
            "e": {"default": []},
        }
    }
    assert fill_defaults(schema, {"b": {}, "e": None}) == {"a": 1, "b": {"c": "x"}, "e": None}
    assert fill_defaults(schema, [1]) == [1]
    assert fill_defaults(True, {"a": 2}) == {"a": 2}
