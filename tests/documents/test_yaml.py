"""YAML 1.2 (core schema) is decoded strictly, with positions, and encoded without loss."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from cairn.documents import (
    MAX_DEPTH,
    DocumentError,
    SourceMap,
    SourcePosition,
    Value,
    decode_json,
    decode_yaml,
    encode_json,
    encode_yaml,
)
from tests.documents.values import exact, nested, values
from tests.effort import examples
from tests.mentions import mentions


def decode(text: bytes | str) -> Value:
    return decode_yaml(text)[0]


def decoding_error(text: bytes | str, **limits: int) -> tuple[str, int | None, int | None]:
    with pytest.raises(DocumentError) as caught:
        decode_yaml(text, **limits)
    return caught.value.message, caught.value.line, caught.value.column


@settings(max_examples=examples(150), deadline=None)
@given(values)
def test_encoded_values_decode_to_the_same_value(value: Value) -> None:
    assert exact(decode(encode_yaml(value))) == exact(value)


def test_json_is_yaml() -> None:
    text = '{"a": [1, 2.0, true, null, "x", 12345678901234567890123], "b": {"c": "\\ud83d\\ude00 \\n é"}}'
    assert exact(decode(text)) == exact(decode_json(text))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Off", "Off"),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("2026-01-01", "2026-01-01"),
        ("2026-01-01T09:00:00Z", "2026-01-01T09:00:00Z"),
        ("12:30:45", "12:30:45"),
        ("1_000", "1_000"),
        ("0b11", "0b11"),
        ("null", None),
        ("~", None),
        ("", None),
        ("# only a remark", None),
        ("True", True),
        ("FALSE", False),
        ("tRUE", "tRUE"),
        ("-12", -12),
        ("007", 7),
        ("0o17", 15),
        ("0x1F", 31),
        ("12345678901234567890123", 12345678901234567890123),
        ("1.0", 1.0),
        ("1.", 1.0),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("-1.5E-2", -0.015),
        ("'1'", "1"),
        ('"true"', "true"),
        ("|\n  1\n", "1\n"),
        ("<<: {a: 1}\nb: 2", {"<<": {"a": 1}, "b": 2}),
        ("=", "="),
        ("a: b:c", {"a": "b:c"}),
        ("\ufeffa: 1", {"a": 1}),
        ("%YAML 1.2\n---\na: 1\n", {"a": 1}),
        ('"\\ud83d\\ude00"', "😀"),
        ('"\\u2028"', "\u2028"),
    ],
)
def test_scalars_mean_what_yaml_1_2_says(text: str, value: Value) -> None:
    assert exact(decode(text)) == exact(value)
    assert exact(decode(text.encode())) == exact(value)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a: 1\nb: 2\na: 3", (mentions("'a'", "1"), 3, 1)),
        (
            "x:\n  - &here 1",
            (mentions("&here"), 2, 5),
        ),
        ("a: *here", (mentions("*here"), 1, 4)),
        ("*a : 1", (mentions("*a"), 1, 1)),
        ("a: !!python/object:os.system x", (mentions("python/object:os.system"), 1, 4)),
        ("!t {}", (mentions("!t"), 1, 1)),
        ("1: a", (mentions("1"), 1, 1)),
        ("? true\n: a", (mentions("true"), 1, 3)),
        ("{: a}", (mentions(), 1, 3)),
        ("? [a]\n: b", (mentions(), 1, 3)),
        ("a: .nan", (mentions(".nan"), 1, 4)),
        ("- -.INF", (mentions("-.INF"), 1, 3)),
        ("a: 1e999", (mentions("1e999"), 1, 4)),
        ("a: " + "9" * 4301, (mentions("4300"), 1, 4)),
        ("a: 1\n---\nb: 2", (mentions(), 2, 1)),
        ("%YAML 1.1\n---\na: 1", (mentions("1.2", "%YAML"), 2, 1)),
        ("a:\n  - b\n c: 1", (mentions("YAML"), 3, 2)),
        ("a: [1,", (mentions("YAML"), 1, 7)),
        ('a: "x', (mentions("YAML"), 1, 6)),
        ("a:\n\t- b", (mentions("YAML", "'\\t'"), 2, 1)),
        ("a: x\x07", (mentions("U+0007"), 1, 5)),
        ("a: b\nc: x\u2028", (mentions("U+2028"), 2, 5)),
        ('a: "\\ud800"', (mentions(), 1, 4)),
        ("a: \ud800", (mentions("U+D800"), 1, 4)),
    ],
)
def test_unsupported_yaml_is_rejected_with_its_position(text: str, error: tuple[str, int, int]) -> None:
    assert decoding_error(text) == error


def test_invalid_utf_8_is_rejected() -> None:
    assert decoding_error(b"a: 1\nb: \xff") == (mentions("UTF-8"), 2, 4)


def test_size_and_depth_are_limited() -> None:
    assert decoding_error("a" * 11, max_bytes=10) == (mentions("11", "10"), None, None)
    assert decoding_error(b"a" * 11, max_bytes=10)[0] == mentions("11", "10")
    assert decode("[" * MAX_DEPTH + "1" + "]" * MAX_DEPTH) == nested(MAX_DEPTH)
    limit_error = mentions("200")
    assert decoding_error("[" * (MAX_DEPTH + 1), max_depth=1000) == (limit_error, 1, 201)
    assert decoding_error("- " * 5000)[0] == limit_error
    assert decoding_error("a:\n - b: []", max_depth=3) == (mentions("3"), 2, 7)
    assert decode_yaml("a:\n - b: 1", max_depth=3)[0] == {"a": [{"b": 1}]}


def test_an_alias_bomb_is_rejected_at_once() -> None:
    pairs = zip("abcdefgh", "bcdefghi", strict=True)
    bomb = "a: &a [x, x, x]\n" + "".join(f"{n}: &{n} [*{m}, *{m}, *{m}]\n" for m, n in pairs)
    assert decoding_error(bomb)[0] == mentions("&a")


def test_every_value_has_a_position() -> None:
    text = "name: Hello\nsteps:\n  - key: a/b\n    tags: [x, y]\n  - ~\nempty: {}\n"
    value, positions = decode_yaml(text)
    assert value == {"name": "Hello", "steps": [{"key": "a/b", "tags": ["x", "y"]}, None], "empty": {}}
    assert positions == SourceMap(
        values={
            "": SourcePosition(1, 1),
            "/name": SourcePosition(1, 7),
            "/steps": SourcePosition(3, 3),
            "/steps/0": SourcePosition(3, 5),
            "/steps/0/key": SourcePosition(3, 10),
            "/steps/0/tags": SourcePosition(4, 11),
            "/steps/0/tags/0": SourcePosition(4, 12),
            "/steps/0/tags/1": SourcePosition(4, 15),
            "/steps/1": SourcePosition(5, 5),
            "/empty": SourcePosition(6, 8),
        },
        keys={
            "/name": SourcePosition(1, 1),
            "/steps": SourcePosition(2, 1),
            "/steps/0/key": SourcePosition(3, 5),
            "/steps/0/tags": SourcePosition(4, 5),
            "/empty": SourcePosition(6, 1),
        },
    )


def test_a_missing_value_has_the_position_of_the_value_around_it() -> None:
    _, positions = decode_yaml("a:\n  b: 1\n")
    assert positions.value("/a/b") == SourcePosition(2, 6)
    assert positions.value("/a/missing/deeper") == SourcePosition(2, 3)
    assert positions.key("/a/b") == SourcePosition(2, 3)
    assert positions.key("/a/missing") == SourcePosition(2, 3)
    assert SourceMap().value("/a") is None
    assert decode_yaml("")[1] == SourceMap(values={"": SourcePosition(1, 1)})


def test_encoded_yaml_is_readable() -> None:
    value: Any = {
        "title": "Summarise the run's input",
        "prompt": "First line.\n\n  Indented.\n",
        "kept": "no end\nof line",
        "more": "ends\ntwice\n\n",
        "lead": " begins\nwith space",
        "number": "12",
        "link": "see: https://example.org",
        "flow": {"a": 1, "b": [], "c": "x, y"},
        "list": ["a b", "c"],
        "objects": [{"name": "a", "of": ["x"]}, {"name": "b"}, [], [[1], {"deep": "a\nb"}], "two\nlines"],
        "long": ["a long text that does not fit beside another one on one line"] * 2,
        "odd\nkey": None,
    }
    assert encode_yaml(value) == (
        "title: Summarise the run's input\n"
        "prompt: |\n  First line.\n\n    Indented.\n"
        "kept: |-\n  no end\n  of line\n"
        "more: |+\n  ends\n  twice\n\n"
        "lead: |2-\n   begins\n  with space\n"
        'number: "12"\n'
        'link: "see: https://example.org"\n'
        "flow:\n  a: 1\n  b: []\n  c: x, y\n"
        "list: [a b, c]\n"
        "objects:\n"
        "  - name: a\n    of: [x]\n"
        "  - name: b\n"
        "  - []\n"
        "  - - [1]\n    - deep: |-\n        a\n        b\n"
        "  - |-\n    two\n    lines\n"
        "long:\n"
        "  - a long text that does not fit beside another one on one line\n"
        "  - a long text that does not fit beside another one on one line\n"
        '"odd\\nkey": null\n'
    )


def test_values_that_json_cannot_represent_are_rejected() -> None:
    with pytest.raises(DocumentError):
        encode_yaml(float("nan"))


def test_long_texts_are_encoded_quickly() -> None:
    for text in ("a" * 100_000 + "\0", "a b " * 50_000 + "\0", "a?" * 50_000, "a: " * 50_000):
        assert decode(encode_yaml(text)) == text


def test_yaml_and_json_give_the_same_value() -> None:
    assert encode_json(decode("b: 1\na: [x]")) == b'{"b":1,"a":["x"]}'


@pytest.mark.parametrize("text", ["a\nb", "a\nb\n", " a\n\n b\n\n", "plain", "12", ""])
def test_a_string_is_a_document(text: str) -> None:
    assert decode(encode_yaml(text)) == text
