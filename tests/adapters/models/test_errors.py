"""Provider errors are told apart on the real wire, and their messages never contain a key."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from cairn.ports.models import ModelError
from cairn.ports.models import ModelErrorKind as Kind
from tests.adapters.models.fake_provider import FakeProvider
from tests.adapters.models.replies import OVERLOADED, Fails, Gone, Hangs, Reply, Says, too_many
from tests.adapters.models.requests import CHAT, CLAUDE, GPT, KEY, NAMES, opened, streamed, whole
from tests.isolation import limit
from tests.mentions import mentions

FAULTS: list[tuple[Reply, Kind, tuple[str, ...]]] = [
    (too_many("7"), Kind.RATE_LIMIT, ("429", "7 s")),
    (OVERLOADED, Kind.OVERLOAD, ("529",)),
    (Fails(503), Kind.OVERLOAD, ("503",)),
    (Fails(500), Kind.OVERLOAD, ("500",)),
    (Fails(502, raw=b"<html>no</html>"), Kind.OVERLOAD, ("502",)),
    (Gone(), Kind.NETWORK, ()),
    (Hangs(), Kind.TIMEOUT, ()),
    (Says("Late.", first_byte_after=2.0), Kind.TIMEOUT, ()),
    (
        Fails(401, message=f"Incorrect API key provided: {KEY}."),
        Kind.AUTHENTICATION,
        ("401",),
    ),
    (Fails(403), Kind.AUTHENTICATION, ("403",)),
    (Fails(402), Kind.QUOTA, ()),
    (Fails(404), Kind.NOT_FOUND, ("404",)),
    (Fails(413), Kind.CONTEXT_TOO_LONG, ()),
    (
        Fails(400, message="prompt is too long: 210000 tokens > 200000 maximum"),
        Kind.CONTEXT_TOO_LONG,
        ("prompt is too long: 210000 tokens > 200000 maximum",),
    ),
    (
        Fails(400, message=f"tools.0: {'x' * 500} with {KEY}"),
        Kind.REJECTED,
        ("400", f"tools.0: {'x' * 290}…"),
    ),
    (
        Fails(422, message=f"no such field, dear {KEY}"),
        Kind.REJECTED,
        ("422", "no such field, dear •••"),
    ),
]
STREAMED: list[tuple[Reply, Kind, tuple[str, ...]]] = [
    (Says("Half a word", cut_after=4), Kind.NETWORK, ()),
    (Says("Half a word", garbled_after=3), Kind.NETWORK, ()),
    (Says("Half a word", error_after=4), Kind.OVERLOAD, ()),
]


async def fault_of(asking: Any) -> ModelError:
    with pytest.raises(ModelError) as raised:
        await asking
    return raised.value


@pytest.mark.parametrize("name", NAMES)
async def test_each_fault_is_told(provider: FakeProvider, name: str) -> None:
    async with opened(provider, tries=1, silence=0.3) as models:
        for reply, kind, words in (*FAULTS, *STREAMED):
            provider.will(reply)
            fault = await fault_of(streamed(models.choose(name)))
            assert (fault.kind, str(fault)) == (kind, mentions(name, *words))
            assert fault.model == name
            assert KEY not in str(fault)
            assert KEY not in repr(fault)
            assert str(models.explain(fault, name)) == str(fault)
        assert provider.replies == provider.replies.__class__()


async def test_answers_that_are_not_streamed_have_the_same(provider: FakeProvider) -> None:
    async with opened(provider, tries=1, silence=0.3) as models:
        for reply, kind, words in FAULTS:
            provider.will(reply)
            fault = await fault_of(whole(models.choose(CLAUDE)))
            assert (fault.kind, str(fault)) == (kind, mentions(CLAUDE, *words))
        for reply in (Says("x", cut_after=1), Says("x", garbled_after=1)):
            provider.will(reply)
            assert (await fault_of(whole(models.choose(CHAT)))).kind is Kind.NETWORK


@pytest.mark.parametrize("name", [CLAUDE, GPT])
async def test_an_answer_that_just_ends_is_not_whole(provider: FakeProvider, name: str) -> None:
    """A proxy that closes in good order cuts an answer as well as one that does not."""
    async with opened(provider, tries=1) as models:
        provider.will(Says("Half a word and more", ends_after=6))
        fault = await fault_of(streamed(models.choose(name)))
    assert (fault.kind, str(fault)) == (Kind.NETWORK, mentions(name))
    assert fault.tokens is not None


@pytest.mark.parametrize("name", NAMES)
async def test_a_refusal_is_an_answer_that_has_been_paid_for(provider: FakeProvider, name: str) -> None:
    """It is not tried again, nor elsewhere; a trial tells it as the fault that it is."""
    async with opened(provider, fallbacks=(GPT, CLAUDE)) as models:
        provider.will(Says("I ca", stop="refusal", input_tokens=30, output_tokens=2), Says("", stop="refusal"))
        response = await streamed(models.choose(name))
        assert (response.finish_reason, response.text) == ("content_filter", "I ca")
        assert (response.usage.input_tokens, response.usage.output_tokens) == (30, 2)
        tried = await models.try_out(name)
    assert tried.fault is not None
    assert (tried.fault.kind, len(provider.asked)) == (Kind.REFUSAL, 2)


async def test_words_of_their_own(provider: FakeProvider) -> None:
    async with opened(provider, tries=1) as models:
        for name, reply, kind in (
            (CLAUDE, Fails(400, message="Your credit balance is too low to access the Anthropic API."), Kind.QUOTA),
            (GPT, Fails(429, "insufficient_quota", code="insufficient_quota"), Kind.QUOTA),
            (GPT, Fails(400, code="context_length_exceeded"), Kind.CONTEXT_TOO_LONG),
            (
                CHAT,
                Fails(400, message="the request exceeds the available context size, try to increase it"),
                Kind.CONTEXT_TOO_LONG,
            ),
        ):
            provider.will(reply)
            assert (await fault_of(streamed(models.choose(name)))).kind is kind
    from pydantic_ai import exceptions as e

    for error, kind in (
        (e.UsageLimitExceeded("The next request would exceed the request_limit of 50"), Kind.BAD_ANSWER),
        (e.UnexpectedModelBehavior("Exceeded maximum output retries (1)"), Kind.BAD_ANSWER),
        (e.IncompleteToolCall("Model token limit"), Kind.BAD_ANSWER),
        (e.ContentFilterError("filtered"), Kind.REFUSAL),
        (e.UserError("no such tool"), Kind.NOT_CONFIGURED),
        (e.ModelHTTPError(408, "m"), Kind.TIMEOUT),
        (ExceptionGroup("several", [ValueError("x"), e.ContentFilterError("filtered")]), Kind.REFUSAL),
    ):
        found = models.explain(error, CLAUDE)
        assert found is not None
        assert (found.kind, str(found).startswith(f"{CLAUDE}: ")) == (kind, True)
    assert models.explain(ValueError("mine"), CLAUDE) is None
    assert models.explain(ExceptionGroup("mine", [ValueError("mine")]), CLAUDE) is None


async def test_a_server_that_is_not_there() -> None:
    async with opened(FakeProvider(port=9), tries=1) as models:
        fault = await fault_of(streamed(models.choose(CHAT)))
    assert fault.kind is Kind.NETWORK
    assert str(fault) == mentions(CHAT, "Connection refused", "base_url")


async def test_cancelling_hangs_up_within_a_second(provider: FakeProvider) -> None:
    """Also while it waits for the first byte."""
    async with opened(provider) as models:
        for reply in (Says("word " * 500, between=0.02), Hangs()):
            provider.will(reply)
            asking = asyncio.ensure_future(streamed(models.choose(CLAUDE)))
            await provider.until(asked=len(provider.hung_up) + 1)
            await asyncio.sleep(0.1)
            begun = time.monotonic()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            await provider.until(hung_up=len(provider.asked))
            assert time.monotonic() - begun < limit(1.0)


def test_a_fault_says_whether_it_may_pass() -> None:
    passing = {kind for kind in Kind if ModelError(kind, "").is_transient}
    assert passing == {Kind.RATE_LIMIT, Kind.OVERLOAD, Kind.NETWORK, Kind.TIMEOUT}
    assert json.dumps(Kind.RATE_LIMIT) == '"rate_limit"'
