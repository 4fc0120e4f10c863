"""Forms: every field type, and errors per field."""

from __future__ import annotations

import time
from typing import Any

import pytest

from cairn.definitions import Finding, InputField, form_validation
from cairn.definitions.json_schema.patterns import MAX_TEXT, check_pattern, matches
from tests.isolation import limit
from tests.mentions import mentions


def field(name: str = "x", **config: Any) -> InputField:
    return InputField.parse({"name": name, **config})


def errors_of(fields: list[InputField], values: Any) -> list[tuple[str, str]]:
    _, findings = form_validation.check(fields, values)
    return [(finding.path, finding.message) for finding in findings]


@pytest.mark.parametrize(
    ("type", "value"),
    [
        ("text", "größer 🚀"),
        ("multiline_text", "a\nb\n"),
        ("number", 12345678901234567890123),
        ("number", 0),
        ("number", 1.0),
        ("boolean", False),
        ("file", "0b9c6a1e-52a3-4c1d-8b7e-1f2a3b4c5d6e"),
    ],
)
def test_valid_answers_are_kept_exactly(type: str, value: Any) -> None:
    clean, findings = form_validation.check([field(type=type)], {"x": value})
    assert (clean, findings) == ({"x": value}, [])
    assert repr(clean["x"]) == repr(value)


@pytest.mark.parametrize(
    ("type", "value", "message"),
    [
        ("text", 1, mentions("1")),
        ("multiline_text", ["a"], mentions('["a"]')),
        ("number", "1", mentions('"1"')),
        ("number", True, mentions("true")),
        ("number", float("inf"), mentions("inf")),
        ("boolean", 1, mentions("1")),
        ("boolean", "true", mentions('"true"')),
        ("file", {"id": 1}, mentions('{"id":1}')),
    ],
)
def test_values_of_another_type_are_reported(type: str, value: Any, message: str) -> None:
    assert errors_of([field(type=type)], {"x": value}) == [("/x", message)]


def test_required_fields_and_defaults() -> None:
    fields = [
        field("a", label="What?"),
        field("b", required=False),
        field("c", default="given"),
        field("d", type="number", required=False, default=0),
        field("e", required=False),
        field("f", type="number", required=False),
        field("g", default=""),
        field("h", type="boolean", default=False),
    ]
    clean, findings = form_validation.check(fields, {"a": "", "b": None, "c": None, "e": "", "f": ""})
    assert clean == {"c": "given", "d": 0, "e": "", "h": False}
    assert findings == [Finding("/a", mentions("What?")), Finding("/g", mentions("g"))]


def test_unknown_fields_are_reported_and_no_answer_is_lost() -> None:
    clean, findings = form_validation.check([field("a"), field("b/c")], {"a": 5, "b/c": "kept", "z": 1})
    assert clean == {"a": 5, "b/c": "kept"}
    assert [(finding.path, finding.message) for finding in findings] == [
        ("/z", mentions("'z'", "'a'", "'b/c'")),
        ("/a", mentions("5")),
    ]
    assert errors_of([], {"z": 1}) == [("/z", mentions("'z'"))]
    assert errors_of([field("b/c")], {}) == [("/b~1c", mentions("b/c"))]


@pytest.mark.parametrize(
    ("config", "value", "is_valid"),
    [
        ({"validation": "[a-z]+"}, "abc", True),
        ({"validation": "[a-z]+"}, "abc1", False),
        ({"validation": "a|b"}, "ab", False),
        ({"validation": "[a-z]+"}, "abc\n", False),
        ({"validation": "^.{3,}$"}, "abcd", True),
        ({"validation": "(?i)abc"}, "ABC", True),
        ({"validation": ".{3}", "type": "multiline_text"}, "a\nb", True),
        ({"validation": ".{3}"}, "a\nb", False),
        ({"validation": "[0-9]+", "type": "number"}, 12345678901234567890123, True),
        ({"validation": "[0-9]+", "type": "number"}, 1.5, False),
        ({"validation": "true", "type": "boolean"}, True, True),
        ({"validation": "[a-z]+", "required": False}, "", True),
        ({"validation": {"minLength": 2}}, "ab", True),
        ({"validation": {"minLength": 2}}, "a", False),
        ({"validation": {"type": "integer", "maximum": 10}, "type": "number"}, 10, True),
        ({"validation": {"type": "integer", "maximum": 10}, "type": "number"}, 10**30, False),
    ],
)
def test_validation_is_a_full_match_or_a_schema(config: Any, value: Any, is_valid: bool) -> None:
    assert (errors_of([field(**config)], {"x": value}) == []) is is_valid


def test_values_that_do_not_match_are_reported() -> None:
    assert errors_of([field(validation="[a-z]+")], {"x": "A"}) == [("/x", mentions("[a-z]+", '"A"'))]
    assert errors_of([field(validation={"minLength": 2})], {"x": "a"}) == [("/x", mentions("2", "1"))]


def test_a_pattern_takes_bounded_time() -> None:
    started = time.perf_counter()
    assert not matches("(a+)+b", "a" * MAX_TEXT)
    assert not matches("(x+x+)+y", "x" * MAX_TEXT)
    assert time.perf_counter() - started < limit(1.0)
    message = mentions("10,000", "10,001")
    assert errors_of([field(validation=".*")], {"x": "a" * (MAX_TEXT + 1)}) == [("/x", message)]
    assert errors_of([field()], {"x": "a" * (MAX_TEXT + 1)}) == []


@pytest.mark.parametrize("pattern", ["(", "a)|(b", "(?=a)b", r"(a)\1", "(a{1000}){1000}", "(?x)a#"])
def test_patterns_of_unbounded_time_are_rejected(pattern: str) -> None:
    assert check_pattern(pattern)


@pytest.mark.parametrize("pattern", ["", "a+", "^.{0,2000}$", r"\d{2}-\d{2}", r"\p{L}+", "(?i)x"])
def test_ordinary_patterns_are_accepted(pattern: str) -> None:
    assert check_pattern(pattern) is None
