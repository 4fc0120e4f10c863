"""The JSON encoder of the script process agrees with the server's encoder."""

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
        pytest.param(10**4299, id="most digits allowed"),
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
def test_both_encoders_encode_the_same_values(value: Any) -> None:
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
def test_both_encoders_reject_the_same_values_with_the_same_message_and_path(value: Any) -> None:
    with pytest.raises(exact_json.NotSerializable) as script_error:
        exact_json.encode(value)
    with pytest.raises(DocumentError) as server_error:
        encode_json(value)
    assert (str(script_error.value), script_error.value.path) == (
        server_error.value.message,
        server_error.value.path or "",
    )
