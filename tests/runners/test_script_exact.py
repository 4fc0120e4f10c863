"""The script process imports nothing of Cairn, and encodes and refuses the same values."""

from __future__ import annotations

import math
from typing import Any

import pytest

from cairn.documents import DocumentError, decode_json, encode_json
from cairn.runners.processes.child import exact_json


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -(2**70),
        pytest.param(10**4299, id="as many digits as may be"),
        1 / 7,
        -0.0,
        1e300,
        "größer 🚀 \0 \u2028",
        [],
        {},
        {"a": [{"b": (1, 2.5, None)}], "": "empty key"},
        nested(200),
    ],
)
def test_what_both_write_is_read_as_the_same(value: Any) -> None:
    assert decode_json(exact_json.encode(value), max_bytes=10**6) == decode_json(encode_json(value), max_bytes=10**6)


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        {"a": [1, -math.inf]},
        pytest.param(10**4300, id="too many digits"),
        {"a~/b": [object()]},
        {"a": {1: 2}},
        {"a": {"\ud800": 1}},
        ["fine", "\udfff"],
        {"s": {1, 2}},
        b"bytes",
        nested(201),
    ],
)
def test_what_one_refuses_the_other_refuses_in_the_same_words_at_the_same_place(value: Any) -> None:
    with pytest.raises(exact_json.Unwritable) as theirs:
        exact_json.encode(value)
    with pytest.raises(DocumentError) as ours:
        encode_json(value)
    assert (str(theirs.value), theirs.value.path) == (ours.value.message, ours.value.path or "")
