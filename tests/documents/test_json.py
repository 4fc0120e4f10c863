"""JSON is decoded and encoded without loss, and ambiguous input is rejected."""

from __future__ import annotations

import gc
import json
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, cast

import pytest
from hypothesis import given, settings

from cairn.documents import MAX_DEPTH, DocumentError, Value, canonical, decode_json, digest, encode_json
from tests.documents.values import exact, nested, values
from tests.mentions import mentions


def decoding_error(text: bytes | str, **limits: int) -> tuple[str, int | None, int | None]:
    with pytest.raises(DocumentError) as caught:
        decode_json(text, **limits)
    return caught.value.message, caught.value.line, caught.value.column


@settings(deadline=None)
@given(values)
def test_encoded_values_decode_to_the_same_value(value: Value) -> None:
    assert exact(decode_json(encode_json(value))) == exact(value)
    assert exact(decode_json(encode_json(value, indent=True))) == exact(value)
    assert exact(decode_json(canonical(value))) == exact(value)
    assert exact(json.loads(encode_json(value))) == exact(value)


@settings(deadline=None)
@given(values)
def test_canonical_form_ignores_order_and_layout(value: Value) -> None:
    reordered = cast("Value", json.loads(json.dumps(value), object_pairs_hook=lambda pairs: dict(reversed(pairs))))
    assert canonical(reordered) == canonical(value)
    assert canonical(decode_json(canonical(value))) == canonical(value)
    assert digest(reordered) == digest(value)


def test_canonical_form_by_example() -> None:
    value: Value = {"b": [1, 1.0, 1e2, -0.0, None, True], "a": "größer 🚀\n", "é": {}, "Z": 2**70}
    written = '{"Z":1180591620717411303424,"a":"größer 🚀\\n","b":[1,1.0,100.0,-0.0,null,true],"é":{}}'
    assert canonical(value) == written.encode()
    assert digest(value) == "400d9f74b100b883a83abb41b3cf16e1718b51f486ff6858b96ba0bf84664600"


def test_canonical_form_distinguishes_1_from_1_0() -> None:
    assert canonical(1) != canonical(1.0)
    assert canonical(decode_json("100.0")) == canonical(decode_json("1e2"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("-9223372036854775809", -9223372036854775809),
        ("1.0", 1.0),
        ("1E2", 100.0),
        ("1e-400", 0.0),
        ('"\\ud83d\\ude00"', "😀"),
        ('"\\u0000"', "\0"),
        (' \t\r\n{"a" : [ ] } ', {"a": []}),
        ("9" * 4300, int("9" * 4300)),
    ],
)
def test_types_survive_exactly(text: str, value: Value) -> None:
    assert exact(decode_json(text)) == exact(value)
    assert exact(decode_json(text.encode())) == exact(value)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('{"a": 1,\n "a": 2}', (mentions('"a"'), 2, 6)),
        ('{"a": 1, "\\u0061": 2}', (mentions('"a"'), 1, 19)),
        ('[{"größe 🚀": 1, "größe 🚀": 2}]', (mentions('"größe 🚀"'), 1, 27)),
        ("NaN", (mentions("JSON"), 1, 1)),
        ("[Infinity]", (mentions("JSON"), 1, 2)),
        ("-Infinity", (mentions("JSON"), 1, 2)),
        ("[1,\n 1e999]", (mentions("1e999"), 2, 2)),
        ('{"1e999": "g\xf0\x7f", "é": -1E+400}', (mentions("-1E+400"), 1, 23)),
        ("9" * 4301, (mentions("4300"), 1, 4301)),
        ('"\\ud800"', (mentions(), 1, 8)),
        ('"\\udc00"', (mentions(), 1, 7)),
        ("[1]\n x", (mentions(), 2, 2)),
        ("1 2", (mentions(), 1, 3)),
        ("[1,]", (mentions(), 1, 4)),
        ('"a\nb"', (mentions(), 2, 1)),
        ("", (mentions(), 1, 1)),
        ('{"a": ', (mentions(), 1, 6)),
        ("\ufeff{}", (mentions("UTF-8"), 1, 1)),
        ('"\ud800"', (mentions(), 1, 2)),
        ("// a\n1", (mentions("JSON"), 1, 1)),
        ("{'a': 1}", (mentions("JSON"), 1, 2)),
    ],
)
def test_ambiguous_input_is_rejected_with_its_position(text: str, error: tuple[str, int, int]) -> None:
    assert decoding_error(text) == error


def test_invalid_utf_8_is_rejected() -> None:
    assert decoding_error(b'["\xff"]') == (mentions("UTF-8"), 1, 3)
    assert decoding_error(b'"\xed\xa0\x80"') == (mentions("UTF-8"), 1, 2)


def test_size_is_checked_before_decoding() -> None:
    assert decoding_error(b"x" * 11, max_bytes=10) == (mentions("11", "10"), None, None)
    assert decode_json(b"1" * 10, max_bytes=10) == 1111111111
    assert decoding_error('"é"', max_bytes=3)[0] == mentions("4", "3")


@pytest.mark.parametrize("of", ["list", "object"])
def test_depth_is_limited(of: str) -> None:
    too_deep = mentions(MAX_DEPTH)
    assert decode_json(encode_json(nested(MAX_DEPTH, of=of))) == nested(MAX_DEPTH, of=of)
    assert decoding_error(json.dumps(nested(MAX_DEPTH + 1, of=of)))[0] == too_deep
    assert decoding_error("[" * 100_000)[0] == too_deep
    assert decode_json(encode_json(nested(3, of=of)), max_depth=3) == nested(3, of=of)
    limit_error = mentions("3")
    assert decoding_error(encode_json(nested(4, of=of)), max_depth=3)[0] == limit_error
    assert decoding_error(json.dumps(nested(MAX_DEPTH + 1)), max_depth=1000)[0] == too_deep


def test_decoding_a_large_document_restores_the_garbage_collector() -> None:
    text = encode_json([{"a": number} for number in range(50_000)])
    for is_on in (True, False):
        (gc.enable if is_on else gc.disable)()
        try:
            assert decode_json(text) == [{"a": number} for number in range(50_000)]
            assert decoding_error(text + b"x")[0] == mentions()
            assert gc.isenabled() is is_on
        finally:
            gc.enable()


class Colour(StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "path", "message"),
    [
        ({"a": [1, float("nan")]}, "/a/1", mentions("nan")),
        ([None, float("-inf")], "/1", mentions("-inf")),
        ({"a/b": {1: 2}}, "/a~1b", mentions("1")),
        ({"a": {"\ud800": 1}}, "/a", mentions("'\\ud800'")),
        (["\ud800"], "/0", mentions()),
        ({"a": {1, 2}}, "/a", mentions("set")),
        ([b"x"], "/0", mentions("bytes")),
        ([datetime.now(UTC)], "/0", mentions("datetime")),
        ([10**4300], "/0", mentions("4300")),
        (nested(MAX_DEPTH + 1), None, mentions("200")),
        ([Colour.RED, None, float("inf")], "/2", mentions("inf")),
    ],
)
def test_values_that_json_cannot_represent_are_rejected(value: Any, path: str | None, message: str) -> None:
    for encode in (encode_json, canonical, digest):
        with pytest.raises(DocumentError) as caught:
            encode(value)
        assert (caught.value.path, caught.value.message) == (path, message)


def test_a_circular_value_is_rejected() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(DocumentError, match=r"\b200\b"):
        encode_json(value)


def test_tuples_and_enums_are_encoded_as_lists_and_strings() -> None:
    value = cast("Any", {"a": (1, 2), "b": Colour.RED, "c": None, "d": (2**70, Colour.RED)})
    assert encode_json(value) == b'{"a":[1,2],"b":"red","c":null,"d":[1180591620717411303424,"red"]}'


def test_indented_json() -> None:
    assert encode_json({"b": [1, 2**70], "a": {}}, indent=True) == (
        b'{\n  "b": [\n    1,\n    1180591620717411303424\n  ],\n  "a": {}\n}'
    )


def test_an_error_says_where_it_is() -> None:
    assert str(DocumentError("what is wrong", 3, 5)) == mentions("3", "5", "what is wrong")
    assert str(DocumentError("what is wrong", path="/a/0")) == mentions("/a/0", "what is wrong")
    assert str(DocumentError("what is wrong")) == "what is wrong"
