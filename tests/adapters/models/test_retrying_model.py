"""Transient errors are retried, then the fallbacks are used in order. Each failed attempt is reported."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import PartStartEvent, TextPart

from cairn.adapters.models.retrying_model import RetryPolicy
from cairn.ports.models import ANSWERED_BY, ModelCallContext, ModelError
from cairn.ports.models import ModelErrorKind as Kind
from tests.adapters.models.fake_provider import FakeProvider
from tests.adapters.models.replies import OVERLOADED, Answer, ClosedConnection, ErrorReply, ToolCall, too_many
from tests.adapters.models.requests import CHAT, CLAUDE, GPT, KEY, MESSAGES, NAMES, open_catalogue, streamed, unstreamed
from tests.mentions import mentions

UNAUTHORIZED = ErrorReply(401)


def recording_context() -> tuple[list[str], ModelCallContext]:
    reports: list[str] = []
    return reports, ModelCallContext(notify=reports.append)


@pytest.mark.parametrize("name", NAMES)
async def test_transient_errors_are_retried(
    provider: FakeProvider, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "cairn.adapters.models.retrying_model")
    reports, call_context = recording_context()
    async with open_catalogue(provider) as models:
        provider.enqueue(too_many("0"), OVERLOADED, Answer("Seven."))
        response = await streamed(models.choose(name, call_context=call_context))
    assert (response.text, (response.metadata or {})[ANSWERED_BY]) == ("Seven.", name)
    assert len(provider.requests) == 3
    assert reports == [
        mentions(name, "429", "0.0 s", "2", "3"),
        mentions(name, "529", "0.0 s", "3"),
    ]
    assert [record.getMessage() for record in caplog.records] == reports
    assert KEY not in caplog.text


async def test_the_third_transient_error_is_final(provider: FakeProvider) -> None:
    async with open_catalogue(provider) as models:
        provider.enqueue(OVERLOADED, OVERLOADED, OVERLOADED, Answer("Too late."))
        with pytest.raises(ModelError) as raised:
            await unstreamed(models.choose(CLAUDE))
    assert str(raised.value) == mentions(CLAUDE, "529", "3")
    assert len(provider.requests) == 3


@pytest.mark.parametrize("reply", [UNAUTHORIZED, ErrorReply(404), ErrorReply(400), ErrorReply(402)])
async def test_permanent_errors_are_not_retried(provider: FakeProvider, reply: Any) -> None:
    async with open_catalogue(provider) as models:
        provider.enqueue(reply)
        with pytest.raises(ModelError):
            await streamed(models.choose(CLAUDE))
    assert len(provider.requests) == 1


@pytest.mark.parametrize("name", NAMES)
async def test_a_broken_stream_restarts(provider: FakeProvider, name: str) -> None:
    """The parts are sent again, and only the complete answer is returned."""
    events: list[Any] = []
    async with open_catalogue(provider) as models:
        provider.enqueue(
            Answer("One, two, three, four", disconnect_after=5),
            Answer("One, two, five", invalid_json_after=5),
            Answer("Six."),
        )
        response = await streamed(models.choose(name), events)
    assert [part for part in response.parts if isinstance(part, TextPart)] == [response.parts[0]]
    assert (response.text, response.state, len(provider.requests)) == ("Six.", "complete", 3)
    assert len([event for event in events if isinstance(event, PartStartEvent)]) == 3
    assert (response.usage.input_tokens, response.usage.output_tokens) == (25, 15)


async def test_streams_that_end_early_keep_their_usage(provider: FakeProvider) -> None:
    """Those that break off, and one that is cancelled."""
    async with open_catalogue(provider, fallbacks=(GPT,), max_attempts=2) as models:
        provider.enqueue(
            Answer("One, two, three", input_tokens=100, disconnect_after=5),
            Answer("One, two, three", input_tokens=200, end_after=5),
            Answer("One, two, three" * 100, chunk_delay=0.02),
        )
        chosen = models.choose(CLAUDE)
        async with model_request_stream(chosen.model, list(MESSAGES)) as stream:
            async for _ in stream:
                if len(provider.requests) == 3:
                    break
    attempts = stream.failed_attempts or []
    assert [attempt.model_name for attempt in attempts] == [CLAUDE, CLAUDE, GPT]
    assert [attempt.usage and attempt.usage.input_tokens for attempt in attempts] == [100, 200, 0]
    assert [attempt.error is None for attempt in attempts] == [False, False, True]


async def test_a_broken_tool_call_restarts(provider: FakeProvider) -> None:
    """The tool runs once, with the arguments of the complete answer."""
    counted: list[str] = []

    def count(what: str) -> int:
        """Count."""
        counted.append(what)
        return 7

    async with open_catalogue(provider) as models:
        chosen = models.choose(CLAUDE)
        agent = Agent(chosen.model, tools=[count])
        complete = Answer("Let me see.", tool_calls=(ToolCall("count", {"what": "pebbles"}),))
        provider.enqueue(
            Answer("Let me see.", tool_calls=(ToolCall("count", {"what": "stones and more"}),), disconnect_after=9),
            complete,
            Answer("7."),
        )
        async with agent.run_stream_events("How many?") as events:
            last = [event async for event in events][-1]
    assert counted == ["pebbles"]
    assert last.result.output == "7."  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    assert len(provider.requests) == 3


async def test_the_delay_follows_the_provider_or_doubles(provider: FakeProvider) -> None:
    """If the provider requests a longer delay than the maximum, the call fails."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    retry_policy = RetryPolicy(max_attempts=4, max_wait=30, retry_delay=1.0, sleep=sleep, random=lambda: 1.0)
    _, call_context = recording_context()
    async with open_catalogue(provider) as models:
        choose: Any = models._choose  # pyright: ignore[reportPrivateUsage]

        async def send(*replies: Any) -> None:
            provider.replies.clear()
            waits.clear()
            provider.enqueue(*replies)
            await streamed(choose(CLAUDE, {}, call_context, (), retry_policy))

        await send(too_many("7"), OVERLOADED, OVERLOADED, Answer("Yes."))
        assert waits == [7.0, 2.0, 4.0]
        await send(ErrorReply(429, headers={"retry-after-ms": "1500"}), ClosedConnection(), Answer("Yes."))
        assert waits == [1.5, 2.0]
        with pytest.raises(ModelError) as raised:
            await send(too_many("31"), Answer("Not reached."))
        assert (waits, raised.value.retry_after) == ([], 31.0)
        assert str(raised.value) == mentions("31 s")
    assert RetryPolicy(random=lambda: 0.0).wait_before_retry(3, None) == 2.0
    bounded = RetryPolicy(max_wait=5, random=lambda: 1.0)
    assert [bounded.wait_before_retry(n, None) for n in (1, 2, 3, 4, 9)] == [1, 2, 4, 5, 5]


async def test_fallbacks_are_used_in_order(provider: FakeProvider) -> None:
    reports, call_context = recording_context()
    async with open_catalogue(provider, fallbacks=(GPT, CLAUDE, "groq:llama", CHAT), max_attempts=1) as models:
        provider.enqueue(OVERLOADED, UNAUTHORIZED, Answer("From the third."))
        response = await streamed(models.choose(CLAUDE, call_context=call_context))
    assert [request.path for request in provider.requests] == ["/v1/messages", "/v1/responses", "/v1/chat/completions"]
    assert (response.text, (response.metadata or {})[ANSWERED_BY]) == ("From the third.", CHAT)
    assert reports == [
        mentions("groq:llama", '"pydantic-ai-slim[groq]"'),
        mentions(CLAUDE, "529", GPT),
        mentions(GPT, "401", CHAT),
    ]


async def test_a_fallback_replaces_a_broken_stream(provider: FakeProvider) -> None:
    async with open_catalogue(provider, max_attempts=1) as models:
        provider.enqueue(Answer("One, two, three", disconnect_after=5), Answer("Whole."))
        response = await streamed(models.choose(CLAUDE, {"fallbacks": [GPT]}))
    assert (response.text, (response.metadata or {})[ANSWERED_BY]) == ("Whole.", GPT)


async def test_the_error_lists_all_models_when_every_fallback_fails(provider: FakeProvider) -> None:
    """A transient error determines the kind, so that the checkpoint is retried later."""
    async with open_catalogue(provider, fallbacks=(GPT,), max_attempts=2) as models:
        provider.enqueue(UNAUTHORIZED, OVERLOADED, OVERLOADED)
        with pytest.raises(ModelError) as raised:
            await unstreamed(models.choose(CLAUDE))
    assert (raised.value.kind, raised.value.model) == (Kind.OVERLOAD, GPT)
    assert str(raised.value) == mentions(CLAUDE, "401", GPT, "529", "2")


async def test_other_exceptions_are_raised_unchanged(provider: FakeProvider) -> None:
    async with open_catalogue(provider) as models:
        chosen = models.choose(CLAUDE)
        with pytest.raises(AttributeError):
            await chosen.model.request([], None, None)  # pyright: ignore[reportArgumentType]
    assert provider.requests == []
