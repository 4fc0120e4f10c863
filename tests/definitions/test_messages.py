"""What people read when a document is ill formed (P3, P8): what was expected, what came, what to do."""

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

CHECKPOINT = authoring_schema()["$defs"]["Checkpoint"]
TOO_LONG = "expected at most 1 character; here there are 2"


def told(*checkpoints: Any, **fields: Any) -> list[tuple[str, str]]:
    return [(finding.path, finding.message) for finding in check(pipeline(*checkpoints, **fields))]


def test_an_unknown_key_is_told_with_what_may_be_meant() -> None:
    assert told({"key": "a", "promt": "x", "prompt": "y"}) == [
        ("/checkpoints/0", "there is no key `promt` here: did you mean `prompt`?")
    ]
    assert told(steps=[], config={"speed": 1}) == [
        ("/config", "there is no key `speed` here; there are auto_advance, timeout_config"),
        ("", f"there is no key `steps` here; there are {', '.join(sorted(authoring_schema()['properties']))}"),
    ]


def test_a_checkpoint_that_nobody_does_is_told_so() -> None:
    message = "nothing says who carries it out: add `agent`, `prompt`, `script`, `function`, `form` or `execution`"
    assert told({"key": "a"}) == [("/checkpoints/0", message)]


def test_d67_a_run_that_is_over_its_time_always_fails() -> None:
    message = "a run that is over its time always fails: leave on_timeout out, or write fail_run; here it is "
    timeout = {"timeout_minutes": 5, "on_timeout": "pause_pipeline"}
    place = "/config/timeout_config/on_timeout"
    assert told(config={"timeout_config": timeout}) == [(place, f'{message}"pause_pipeline"')]


def test_d65_a_second_pass_is_a_restart() -> None:
    message = "a second pass is a restart: with require_second_pass, max_restarts is at least 1; here it is 0"
    policy = {"require_second_pass": True, "max_restarts": 0}
    assert told(restart_policy=policy) == [("/restart_policy/max_restarts", message)]


def test_findings_stand_at_their_line_and_column() -> None:
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
        (3, 10, f'{authoring_schema()["$defs"]["Key"]["errorMessage"]}; here it is "A"'),
        (4, 13, "expected a text, but here it is a number: 7"),
        (5, 5, f"there is no key `colour` here; there are {', '.join(sorted(CHECKPOINT['properties']))}"),
        (6, 33, "`script_config` does not belong here: mode agentic goes with agent_config and no other config"),
        (6, 48, "`script_path` is missing: add it"),
        (7, 21, 'expected one of "json", "md", "mmd", "txt", "py", "html", "csv"; here it is "exe"'),
        (7, 28, "`format` is missing: add it"),
        (8, 14, "`approve` is start, complete, both, but here it is 'maybe'"),
        (9, 13, "there is no checkpoint 'nobody'"),
    ]


def test_a_finding_without_a_line_names_its_path() -> None:
    assert str(Finding("/a/0", "is wrong")) == "/a/0: is wrong"
    assert str(Finding("", "is wrong")) == "the document: is wrong"


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        ({"type": "integer"}, 1.5, "expected a whole number, but here it is a number: 1.5"),
        ({"type": ["string", "null"]}, [], "expected null or a text, but here it is a list: []"),
        ({"type": "boolean"}, None, "expected true or false, but here it is null: null"),
        ({"type": "object"}, True, "expected an object, but here it is true or false: true"),
        ({"enum": ["a", 1]}, "b", 'expected one of "a", 1; here it is "b"'),
        ({"const": {"a": 1}}, {}, 'expected {"a":1}; here it is {}'),
        ({"pattern": "^a+$"}, "b", 'expected a text that matches ^a+$; here it is "b"'),
        ({"format": "date"}, "soon", 'expected a valid date; here it is "soon"'),
        ({"minimum": 2}, 1, "expected at least 2; here it is 1"),
        ({"exclusiveMinimum": 2}, 2, "expected more than 2; here it is 2"),
        ({"maximum": 2}, 10**30, f"expected at most 2; here it is {10**30}"),
        ({"exclusiveMaximum": 2}, 2.0, "expected less than 2; here it is 2.0"),
        ({"minLength": 2}, "é", "expected at least 2 characters; here there are 1"),
        ({"maxLength": 2}, "abc", "expected at most 2 characters; here there are 3"),
        ({"minItems": 1}, [], "expected at least 1 item; here there are 0"),
        ({"maxItems": 1}, [1, 2], "expected at most 1 item; here there are 2"),
        ({"minProperties": 1}, {}, "expected at least 1 key; here there are 0"),
        ({"maxProperties": 0}, {"a": 1}, "expected at most 0 keys; here there are 1"),
        ({"uniqueItems": True}, [1, 1], "no item may stand twice; here they are [1,1]"),
        ({"multipleOf": 2}, 3, "3 is not a multiple of 2"),
        ({"required": ["a"]}, {}, "`a` is missing: add it"),
        ({"additionalProperties": False}, {"a": 1}, "nothing is possible here; here it is 1"),
        ({"additionalProperties": False, "properties": {"b": True}}, {"a": 1}, "there is no key `a` here; there are b"),
        ({"unevaluatedProperties": False}, {"a": 1}, "there is no key `a` here"),
        (
            {"propertyNames": {"maxLength": 1}},
            {"ab": 1},
            'the key "ab" is not possible here: expected at most 1 character; here there are 2',
        ),
        ({"anyOf": [{"type": "string"}, {"minimum": 5}]}, 1, "expected a text, or expected at least 5; here it is 1"),
        ({"oneOf": [{"type": "string"}, False]}, 1, "expected a text, or nothing is possible here; here it is 1"),
        (False, 1, "nothing is possible here; here it is 1"),
        ({"pattern": "^a$", "errorMessage": "write a"}, "b", 'write a; here it is "b"'),
        ({"maxLength": 1}, "x" * 200, "expected at most 1 character; here there are 200"),
        ({"enum": [1]}, "x" * 200, f'expected one of 1; here it is "{"x" * 76}…'),
    ],
)
def test_p8_a_schema_failure_says_what_was_expected_and_what_came(schema: Any, value: Any, message: str) -> None:
    assert check_value(schema, value) == [SchemaViolation("", message)]


def test_p8_a_schema_failure_says_where_each_time() -> None:
    schema: Any = {
        "properties": {"a/b": {"items": {"type": "integer"}}, "c": {"not": {}}, "d": False},
        "$defs": {"unused": {"type": "string"}},
    }
    assert check_value(schema, {"a/b": [1, "x", None], "d": 1}) == [
        SchemaViolation("/a~1b/1", 'expected a whole number, but here it is a text: "x"'),
        SchemaViolation("/a~1b/2", "expected a whole number, but here it is null: null"),
        SchemaViolation("/d", "`d` does not belong here"),
    ]
    assert check_value(schema, {"a/b": [10**40]}) == []


@pytest.mark.parametrize(
    ("schema", "path", "part"),
    [
        ({"type": "objekt"}, "/type", "this JSON Schema cannot be used"),
        ({"properties": {"a": {"pattern": "(?=a)b"}}}, "/properties/a/pattern", "it looks around or back"),
        ({"pattern": "(a{1000}){1000}"}, "/pattern", "it is too large"),
        ({"$ref": "https://example.org/schema"}, "", "https://example.org/schema is not fetched"),
        ({"$ref": "#/$defs/none"}, "", "does not exist"),
        ({"$schema": "urn:unknown"}, "", "urn:unknown"),
    ],
)
def test_a_schema_that_cannot_be_used_says_why(schema: Any, path: str, part: str) -> None:
    with pytest.raises(SchemaError) as caught:
        compile_schema(schema)
    assert caught.value.path == path
    assert part in caught.value.message


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
