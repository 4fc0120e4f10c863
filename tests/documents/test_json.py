"""JSON is decoded and encoded without loss, and ambiguous input is refused."""

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


def refusal(text: bytes | str, **limits: int) -> tuple[str, int | None, int | None]:
    with pytest.raises(DocumentError) as caught:
        decode_json(text, **limits)
    return caught.value.message, caught.value.line, caught.value.column


@settings(deadline=None)
@given(values)
def test_written_values_are_read_back_exactly(value: Value) -> None:
    assert exact(decode_json(encode_json(value))) == exact(value)
    assert exact(decode_json(encode_json(value, indent=True))) == exact(value)
    assert exact(decode_json(canonical(value))) == exact(value)
    assert exact(json.loads(encode_json(value))) == exact(value)


@settings(deadline=None)
@given(values)
def test_canonical_form_is_one_spelling_whatever_the_order_and_layout(value: Value) -> None:
    turned = cast("Value", json.loads(json.dumps(value), object_pairs_hook=lambda pairs: dict(reversed(pairs))))
    assert canonical(turned) == canonical(value)
    assert canonical(decode_json(canonical(value))) == canonical(value)
    assert digest(turned) == digest(value)


def test_canonical_form_by_example() -> None:
    value: Value = {"b": [1, 1.0, 1e2, -0.0, None, True], "a": "größer 🚀\n", "é": {}, "Z": 2**70}
    written = '{"Z":1180591620717411303424,"a":"größer 🚀\\n","b":[1,1.0,100.0,-0.0,null,true],"é":{}}'
    assert canonical(value) == written.encode()
    assert digest(value) == "400d9f74b100b883a83abb41b3cf16e1718b51f486ff6858b96ba0bf84664600"


def test_canonical_form_tells_one_from_one_point_zero() -> None:
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
    ("text", "told"),
    [
        ('{"a": 1,\n "a": 2}', ('the key "a" stands twice in one object', 2, 6)),
        ('{"a": 1, "\\u0061": 2}', ('the key "a" stands twice in one object', 1, 19)),
        ('[{"größe 🚀": 1, "größe 🚀": 2}]', ('the key "größe 🚀" stands twice in one object', 1, 27)),
        ("NaN", ("this is not JSON: expected value", 1, 1)),
        ("[Infinity]", ("this is not JSON: expected value", 1, 2)),
        ("-Infinity", ("this is not JSON: invalid number", 1, 2)),
        ("[1,\n 1e999]", ("1e999 is too large for a floating-point number", 2, 2)),
        ('{"1e999": "g\xf0\x7f", "é": -1E+400}', ("-1E+400 is too large for a floating-point number", 1, 23)),
        ("9" * 4301, ("this number has more than 4300 digits", 1, 4301)),
        ('"\\ud800"', ("half of a surrogate pair is not a character", 1, 8)),
        ('"\\udc00"', ("half of a surrogate pair is not a character", 1, 7)),
        ("[1]\n x", ("the document has ended here; nothing may follow it", 2, 2)),
        ("1 2", ("the document has ended here; nothing may follow it", 1, 3)),
        ("[1,]", ("a comma has to be followed by another value", 1, 4)),
        ('"a\nb"', ("control characters in a text have to be escaped, a line break as \\n", 2, 1)),
        ("", ("the document breaks off here", 1, 1)),
        ('{"a": ', ("the document breaks off here", 1, 6)),
        ("\ufeff{}", ("the document begins with a byte order mark; save it as UTF-8 without one", 1, 1)),
        ('"\ud800"', ("half of a surrogate pair is not a character", 1, 2)),
        ("// a\n1", ("this is not JSON: expected value", 1, 1)),
        ("{'a': 1}", ("this is not JSON: key must be a string", 1, 2)),
    ],
)
def test_what_is_doubtful_is_refused_with_its_place(text: str, told: tuple[str, int, int]) -> None:
    assert refusal(text) == told


def test_invalid_utf_8_is_refused() -> None:
    assert refusal(b'["\xff"]') == ("this is not UTF-8", 1, 3)
    assert refusal(b'"\xed\xa0\x80"') == ("this is not UTF-8", 1, 2)


def test_size_is_bounded_before_anything_is_read() -> None:
    assert refusal(b"x" * 11, max_bytes=10) == ("the document has 11 bytes; at most 10 are taken", None, None)
    assert decode_json(b"1" * 10, max_bytes=10) == 1111111111
    assert refusal('"é"', max_bytes=3)[0] == "the document has 4 bytes; at most 3 are taken"


@pytest.mark.parametrize("of", ["list", "object"])
def test_depth_is_bounded(of: str) -> None:
    too_deep = f"more than {MAX_DEPTH} lists and objects stand inside one another"
    assert decode_json(encode_json(nested(MAX_DEPTH, of=of))) == nested(MAX_DEPTH, of=of)
    assert refusal(json.dumps(nested(MAX_DEPTH + 1, of=of)))[0] == too_deep
    assert refusal("[" * 100_000)[0] == too_deep
    assert decode_json(encode_json(nested(3, of=of)), max_depth=3) == nested(3, of=of)
    told = "more than 3 lists and objects stand inside one another"
    assert refusal(encode_json(nested(4, of=of)), max_depth=3)[0] == told
    assert refusal(json.dumps(nested(MAX_DEPTH + 1)), max_depth=1000)[0] == too_deep


def test_reading_much_leaves_the_collector_as_it_was() -> None:
    text = encode_json([{"a": at} for at in range(50_000)])
    for is_on in (True, False):
        (gc.enable if is_on else gc.disable)()
        try:
            assert decode_json(text) == [{"a": at} for at in range(50_000)]
            assert refusal(text + b"x")[0] == "the document has ended here; nothing may follow it"
            assert gc.isenabled() is is_on
        finally:
            gc.enable()


class Colour(StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "path", "message"),
    [
        ({"a": [1, float("nan")]}, "/a/1", "nan is not a number that JSON can hold"),
        ([None, float("-inf")], "/1", "-inf is not a number that JSON can hold"),
        ({"a/b": {1: 2}}, "/a~1b", "the key 1 is not a text"),
        ({"a": {"\ud800": 1}}, "/a", "the key '\\ud800' holds half of a surrogate pair, which is not a character"),
        (["\ud800"], "/0", "this text holds half of a surrogate pair, which is not a character"),
        ({"a": {1, 2}}, "/a", "JSON has no set"),
        ([b"x"], "/0", "JSON has no bytes"),
        ([datetime.now(UTC)], "/0", "JSON has no datetime"),
        ([10**4300], "/0", "this integer has more than 4300 digits"),
        (nested(MAX_DEPTH + 1), None, "more than 200 lists and objects stand inside one another"),
        ([Colour.RED, None, float("inf")], "/2", "inf is not a number that JSON can hold"),
    ],
)
def test_what_json_cannot_hold_is_refused_with_its_path(value: Any, path: str | None, message: str) -> None:
    for write in (encode_json, canonical, digest):
        with pytest.raises(DocumentError) as caught:
            write(value)
        assert (caught.value.path, caught.value.message) == (path, message)


def test_a_value_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(DocumentError, match="more than 200"):
        encode_json(value)


def test_plain_types_of_python_are_written_as_what_they_are() -> None:
    value = cast("Any", {"a": (1, 2), "b": Colour.RED, "c": None, "d": (2**70, Colour.RED)})
    assert encode_json(value) == b'{"a":[1,2],"b":"red","c":null,"d":[1180591620717411303424,"red"]}'


def test_indented_is_the_same_value_for_people() -> None:
    assert encode_json({"b": [1, 2**70], "a": {}}, indent=True) == (
        b'{\n  "b": [\n    1,\n    1180591620717411303424\n  ],\n  "a": {}\n}'
    )


def test_an_error_reads_as_a_sentence() -> None:
    assert str(DocumentError("what is wrong", 3, 5)) == "line 3, column 5: what is wrong"
    assert str(DocumentError("what is wrong", path="/a/0")) == "/a/0: what is wrong"
    assert str(DocumentError("what is wrong")) == "what is wrong"
