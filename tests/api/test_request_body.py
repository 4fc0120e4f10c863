"""Request bodies are limited while they are read and decoded strictly."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from cairn.api.problems import ErrorLocation, RequestRejected
from cairn.api.request_body import BoundedRequest
from cairn.services.errors import TooLarge
from tests.mentions import mentions


def incoming(*chunks: bytes, media_type: str = "application/json", length: int | None = None) -> BoundedRequest:
    headers = [(b"content-type", media_type.encode())]
    if length is not None:
        headers.append((b"content-length", str(length).encode()))
    left = list(chunks)

    async def receive() -> dict[str, Any]:
        body = left.pop(0) if left else b""
        return {"type": "http.request", "body": body, "more_body": bool(left)}

    return BoundedRequest({"type": "http", "method": "POST", "path": "/", "headers": headers}, receive)


async def test_numbers_keep_all_digits() -> None:
    assert await incoming(b'{"a": 123456789012345678901234567890, ', b'"b": 1.0}').json() == {
        "a": 123456789012345678901234567890,
        "b": 1.0,
    }


@pytest.mark.parametrize(
    ("body", "position"),
    [
        (b'{\n "a": nope}', (2, 8)),
        (b'{"a": 1, "a": 2}', (1, 12)),
        (b'{"a": NaN}', (1, 7)),
        (b"", (1, 1)),
    ],
)
async def test_invalid_json_is_located(body: bytes, position: tuple[int, int]) -> None:
    with pytest.raises(RequestRejected) as caught:
        await incoming(body).json()
    [error] = caught.value.errors
    assert caught.value.kind == "invalid-body"
    assert error.line == position[0]
    assert error.column is not None


async def test_a_depth_bomb_is_rejected() -> None:
    with pytest.raises(RequestRejected) as caught:
        await incoming(b"[" * 100_000).json()
    assert caught.value.kind == "invalid-body"
    assert caught.value.errors[0].message == mentions("200")


async def test_a_too_large_content_length_is_rejected_before_reading() -> None:
    request = incoming(b"x" * 20, length=20)
    with pytest.raises(TooLarge):
        await request.read(10)


async def test_a_body_over_the_limit_is_rejected_while_it_is_received() -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 1
            yield b"x" * 6

    request = incoming()
    request.stream = endless  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(TooLarge):
        await request.read(10)
    assert sent == 2


async def test_yaml_is_decoded_with_locations() -> None:
    written = await incoming(b"pipeline_name: x\ncheckpoints: []\n", media_type="application/yaml").document()
    assert written.value == {"pipeline_name": "x", "checkpoints": []}
    assert written.positions is not None
    mark = written.positions.value("/checkpoints")
    assert mark is not None
    assert (mark.line, mark.column) == (2, 14)


async def test_errors_in_yaml_have_a_location() -> None:
    with pytest.raises(RequestRejected) as caught:
        await incoming(b"a: [1,\nb: 2", media_type="text/yaml").document()
    assert caught.value.kind == "invalid-body"
    assert caught.value.errors[0].line == 2


async def test_an_unsupported_media_type_is_named() -> None:
    with pytest.raises(RequestRejected) as caught:
        await incoming(b"a,b", media_type="text/csv").check_json()
    assert (caught.value.kind, caught.value.detail) == (
        "unsupported-media-type",
        mentions("text/csv", "application/json"),
    )
    with pytest.raises(RequestRejected) as caught:
        await incoming(b"{}", media_type="").check_json()
    assert (caught.value.kind, caught.value.detail) == ("unsupported-media-type", mentions("Content-Type"))


async def test_an_empty_body_is_none() -> None:
    await incoming(b"", media_type="").check_json()


def test_error_locations_compare_by_value() -> None:
    assert ErrorLocation(path="/a", message="b") == ErrorLocation(path="/a", message="b")
