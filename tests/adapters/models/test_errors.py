"""Provider errors are classified, and their messages never contain a key."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from cairn.ports.models import ModelError
from cairn.ports.models import ModelErrorKind as Kind
from tests.adapters.models.fake_provider import FakeProvider
from tests.adapters.models.replies import OVERLOADED, Answer, ClosedConnection, ErrorReply, NoReply, Reply, too_many
from tests.adapters.models.requests import CHAT, CLAUDE, GPT, KEY, NAMES, open_catalogue, streamed, unstreamed
from tests.isolation import limit
from tests.mentions import mentions

ERRORS: list[tuple[Reply, Kind, tuple[str, ...]]] = [
    (too_many("7"), Kind.RATE_LIMIT, ("429", "7 s")),
    (OVERLOADED, Kind.OVERLOAD, ("529",)),
    (ErrorReply(503), Kind.OVERLOAD, ("503",)),
    (ErrorReply(500), Kind.OVERLOAD, ("500",)),
    (ErrorReply(502, raw=b"<html>no</html>"), Kind.OVERLOAD, ("502",)),
    (ClosedConnection(), Kind.NETWORK, ()),
    (NoReply(), Kind.TIMEOUT, ()),
    (Answer("Late.", initial_delay=2.0), Kind.TIMEOUT, ()),
    (
        ErrorReply(401, message=f"Incorrect API key provided: {KEY}."),
        Kind.AUTHENTICATION,
        ("401",),
    ),
    (ErrorReply(403), Kind.AUTHENTICATION, ("403",)),
    (ErrorReply(402), Kind.QUOTA, ()),
    (ErrorReply(404), Kind.NOT_FOUND, ("404",)),
    (ErrorReply(413), Kind.CONTEXT_TOO_LONG, ()),
    (
        ErrorReply(400, message="prompt is too long: 210000 tokens > 200000 maximum"),
        Kind.CONTEXT_TOO_LONG,
        ("prompt is too long: 210000 tokens > 200000 maximum",),
    ),
    (
        ErrorReply(400, message=f"tools.0: {'x' * 500} with {KEY}"),
        Kind.REJECTED,
        ("400", f"tools.0: {'x' * 290}…"),
    ),
    (
        ErrorReply(422, message=f"no such field: {KEY}"),
        Kind.REJECTED,
        ("422", "no such field: •••"),
    ),
]
STREAM_ERRORS: list[tuple[Reply, Kind, tuple[str, ...]]] = [
    (Answer("Half a word", disconnect_after=4), Kind.NETWORK, ()),
    (Answer("Half a word", invalid_json_after=3), Kind.NETWORK, ()),
    (Answer("Half a word", overload_after=4), Kind.OVERLOAD, ()),
]


async def error_of(call: Any) -> ModelError:
    with pytest.raises(ModelError) as raised:
        await call
    return raised.value


@pytest.mark.parametrize("name", NAMES)
async def test_each_error_is_classified(provider: FakeProvider, name: str) -> None:
    async with open_catalogue(provider, max_attempts=1, timeout=0.3) as models:
        for reply, kind, words in (*ERRORS, *STREAM_ERRORS):
            provider.enqueue(reply)
            error = await error_of(streamed(models.choose(name)))
            assert (error.kind, str(error)) == (kind, mentions(name, *words))
            assert error.model == name
            assert KEY not in str(error)
            assert KEY not in repr(error)
            assert str(models.explain(error, name)) == str(error)
        assert provider.replies == provider.replies.__class__()


async def test_unstreamed_errors_are_classified_the_same_way(provider: FakeProvider) -> None:
    async with open_catalogue(provider, max_attempts=1, timeout=0.3) as models:
        for reply, kind, words in ERRORS:
            provider.enqueue(reply)
            error = await error_of(unstreamed(models.choose(CLAUDE)))
            assert (error.kind, str(error)) == (kind, mentions(CLAUDE, *words))
        for reply in (Answer("x", disconnect_after=1), Answer("x", invalid_json_after=1)):
            provider.enqueue(reply)
            assert (await error_of(unstreamed(models.choose(CHAT)))).kind is Kind.NETWORK


@pytest.mark.parametrize("name", [CLAUDE, GPT])
async def test_a_stream_without_a_finish_reason_is_incomplete(provider: FakeProvider, name: str) -> None:
    """A proxy can close the connection properly in the middle of an answer."""
    async with open_catalogue(provider, max_attempts=1) as models:
        provider.enqueue(Answer("Half a word and more", end_after=6))
        error = await error_of(streamed(models.choose(name)))
    assert (error.kind, str(error)) == (Kind.NETWORK, mentions(name))


@pytest.mark.parametrize("name", NAMES)
async def test_a_refusal_is_returned_with_its_usage(provider: FakeProvider, name: str) -> None:
    """A refusal is not retried and uses no fallback. The model test reports it as an error."""
    async with open_catalogue(provider, fallbacks=(GPT, CLAUDE)) as models:
        provider.enqueue(
            Answer("I ca", finish_reason="refusal", input_tokens=30, output_tokens=2),
            Answer("", finish_reason="refusal"),
        )
        response = await streamed(models.choose(name))
        assert (response.finish_reason, response.text) == ("content_filter", "I ca")
        assert (response.usage.input_tokens, response.usage.output_tokens) == (30, 2)
        tested = await models.test(name)
    assert tested.error is not None
    assert (tested.error.kind, len(provider.requests)) == (Kind.REFUSAL, 2)


async def test_provider_specific_errors_are_classified(provider: FakeProvider) -> None:
    async with open_catalogue(provider, max_attempts=1) as models:
        for name, reply, kind in (
            (
                CLAUDE,
                ErrorReply(400, message="Your credit balance is too low to access the Anthropic API."),
                Kind.QUOTA,
            ),
            (GPT, ErrorReply(429, "insufficient_quota", code="insufficient_quota"), Kind.QUOTA),
            (GPT, ErrorReply(400, code="context_length_exceeded"), Kind.CONTEXT_TOO_LONG),
            (
                CHAT,
                ErrorReply(400, message="the request exceeds the available context size, try to increase it"),
                Kind.CONTEXT_TOO_LONG,
            ),
        ):
            provider.enqueue(reply)
            assert (await error_of(streamed(models.choose(name)))).kind is kind
    from pydantic_ai import exceptions

    for error, kind in (
        (exceptions.UsageLimitExceeded("The next request would exceed the request_limit of 50"), Kind.BAD_ANSWER),
        (exceptions.UnexpectedModelBehavior("Exceeded maximum output retries (1)"), Kind.BAD_ANSWER),
        (exceptions.IncompleteToolCall("Model token limit"), Kind.BAD_ANSWER),
        (exceptions.ContentFilterError("filtered"), Kind.REFUSAL),
        (exceptions.UserError("no such tool"), Kind.NOT_CONFIGURED),
        (exceptions.ModelHTTPError(408, "m"), Kind.TIMEOUT),
        (ExceptionGroup("several", [ValueError("x"), exceptions.ContentFilterError("filtered")]), Kind.REFUSAL),
    ):
        found = models.explain(error, CLAUDE)
        assert found is not None
        assert (found.kind, str(found).startswith(f"{CLAUDE}: ")) == (kind, True)
    assert models.explain(ValueError("mine"), CLAUDE) is None
    assert models.explain(ExceptionGroup("mine", [ValueError("mine")]), CLAUDE) is None


async def test_an_unreachable_server_is_a_network_error() -> None:
    async with open_catalogue(FakeProvider(port=9), max_attempts=1) as models:
        error = await error_of(streamed(models.choose(CHAT)))
    assert error.kind is Kind.NETWORK
    assert str(error) == mentions(CHAT, "Connection refused", "base_url")


async def test_cancelling_closes_the_connection_within_a_second(provider: FakeProvider) -> None:
    """This includes waiting for the first byte."""
    async with open_catalogue(provider) as models:
        for reply in (Answer("word " * 500, chunk_delay=0.02), NoReply()):
            provider.enqueue(reply)
            call = asyncio.ensure_future(streamed(models.choose(CLAUDE)))
            await provider.wait_until(requests=len(provider.disconnects) + 1)
            await asyncio.sleep(0.1)
            started = time.monotonic()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await provider.wait_until(disconnects=len(provider.requests))
            assert time.monotonic() - started < limit(1.0)


def test_transient_errors_are_known() -> None:
    transient = {kind for kind in Kind if ModelError(kind, "").is_transient}
    assert transient == {Kind.RATE_LIMIT, Kind.OVERLOAD, Kind.NETWORK, Kind.TIMEOUT}
    assert json.dumps(Kind.RATE_LIMIT) == '"rate_limit"'
