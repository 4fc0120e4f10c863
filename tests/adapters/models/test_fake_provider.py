"""The official clients of the providers understand the fake provider."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.request
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.adapters.models.fake_provider import FakeProvider
from tests.adapters.models.replies import OVERLOADED, Answer, ClosedConnection, ErrorReply, NoReply, ToolCall, too_many
from tests.isolation import limit

if TYPE_CHECKING:  # slow to import
    import anthropic
    import openai

MESSAGES: Any = [{"role": "user", "content": "How many?"}]
TOOL: Any = {"name": "count", "description": "Counts.", "input_schema": {"type": "object"}}
ANSWER = Answer("I count them.", tool_calls=(ToolCall("count", {"what": "pebbles"}),), cache_read=5, cache_write=3)


@asynccontextmanager
async def claude(provider: FakeProvider, seconds: float = 5.0) -> AsyncGenerator[anthropic.AsyncAnthropic]:
    import anthropic

    async with anthropic.AsyncAnthropic(
        api_key="test-key", base_url=provider.url, max_retries=0, timeout=seconds
    ) as client:
        yield client


@asynccontextmanager
async def gpt(provider: FakeProvider, seconds: float = 5.0) -> AsyncGenerator[openai.AsyncOpenAI]:
    import openai

    async with openai.AsyncOpenAI(
        api_key="test-key", base_url=provider.openai_url, max_retries=0, timeout=seconds
    ) as client:
        yield client


async def messages(client: anthropic.AsyncAnthropic) -> Any:
    async with client.messages.stream(model="claude", max_tokens=100, messages=MESSAGES) as stream:
        return await stream.get_final_message()


async def test_the_messages_api_is_understood(provider: FakeProvider) -> None:
    from anthropic._constants import ANTHROPIC_API_VERSION

    provider.enqueue(ANSWER, ANSWER)
    async with claude(provider) as client:
        streamed = await messages(client)
        unstreamed: Any = await client.messages.create(model="claude", max_tokens=100, messages=MESSAGES)
    for message in (streamed, unstreamed):
        assert [block.type for block in message.content] == ["text", "tool_use"]
        assert (message.content[0].text, message.content[1].input) == ("I count them.", {"what": "pebbles"})
        assert (message.stop_reason, message.usage.input_tokens, message.usage.output_tokens) == ("tool_use", 25, 15)
        assert (message.usage.cache_read_input_tokens, message.usage.cache_creation_input_tokens) == (5, 3)
    assert [request.is_streamed for request in provider.requests] == [True, False]
    assert provider.requests[1].comparable == {
        "path": "/v1/messages",
        "headers": {
            "authorization": "Bearer test-key",
            "content-type": "application/json",
            "anthropic-version": ANTHROPIC_API_VERSION,
        },
        "body": {"model": "claude", "max_tokens": 100, "messages": MESSAGES},
    }


async def test_the_chat_completions_api_is_understood(provider: FakeProvider) -> None:
    provider.enqueue(ANSWER, ANSWER)
    async with gpt(provider) as client:
        text, arguments, usage, reason = "", "", None, None
        stream: Any = await client.chat.completions.create(
            model="gpt", messages=MESSAGES, stream=True, stream_options={"include_usage": True}
        )
        async for chunk in stream:
            usage = chunk.usage or usage
            for choice in chunk.choices:
                text += choice.delta.content or ""
                arguments += "".join(call.function.arguments for call in choice.delta.tool_calls or ())
                reason = choice.finish_reason or reason
        unstreamed: Any = await client.chat.completions.create(model="gpt", messages=MESSAGES)
    assert (text, json.loads(arguments), reason) == ("I count them.", {"what": "pebbles"}, "tool_calls")
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens) == (25, 15)
    message = unstreamed.choices[0].message
    assert (message.content, message.tool_calls[0].function.name) == ("I count them.", "count")


async def test_the_responses_api_is_understood(provider: FakeProvider) -> None:
    provider.enqueue(ANSWER, ANSWER)
    async with gpt(provider) as client:
        async with client.responses.stream(model="gpt", input="How many?") as stream:
            streamed: Any = await stream.get_final_response()
        unstreamed: Any = await client.responses.create(model="gpt", input="How many?")
    for response in (streamed, unstreamed):
        assert (response.output_text, response.status) == ("I count them.", "completed")
        assert (response.output[1].name, json.loads(response.output[1].arguments)) == ("count", {"what": "pebbles"})
        assert (response.usage.input_tokens, response.usage.output_tokens) == (25, 15)


async def test_error_replies_are_understood(provider: FakeProvider) -> None:
    import anthropic

    provider.enqueue(
        too_many("7"), OVERLOADED, ErrorReply(401), ClosedConnection(), Answer("Half a word", disconnect_after=4)
    )
    async with claude(provider) as client:
        with pytest.raises(anthropic.RateLimitError) as limited:
            await messages(client)
        assert limited.value.response.headers["retry-after"] == "7"
        with pytest.raises(anthropic.APIStatusError, match="Overloaded"):
            await messages(client)
        with pytest.raises(anthropic.AuthenticationError):
            await messages(client)
        with pytest.raises(anthropic.APIConnectionError):
            await messages(client)
        with pytest.raises(Exception, match="peer closed connection"):
            await messages(client)
    assert len(provider.requests) == 5


async def test_stream_errors_are_understood(provider: FakeProvider) -> None:
    import anthropic

    provider.enqueue(Answer("Half a word", invalid_json_after=3), Answer("Half a word", overload_after=3))
    async with claude(provider) as client:
        with pytest.raises(json.JSONDecodeError):
            await messages(client)
        with pytest.raises(anthropic.APIStatusError, match="Overloaded"):
            await messages(client)


async def test_timeouts_and_disconnects_are_recorded(provider: FakeProvider) -> None:
    import anthropic

    provider.enqueue(Answer("Slow.", initial_delay=0.2), NoReply(), Answer("word " * 200, chunk_delay=0.02))
    async with claude(provider, seconds=0.1) as client:
        with pytest.raises(anthropic.APITimeoutError):
            await messages(client)
        with pytest.raises(anthropic.APITimeoutError):
            await messages(client)
    async with claude(provider) as client:
        started = time.monotonic()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await messages(client)
        await provider.wait_until(disconnects=3)
    assert provider.disconnects[-1] - started < limit(1.0)
    assert provider.completed == 0


def test_the_provider_runs_in_a_thread(provider_in_thread: FakeProvider) -> None:
    body = json.dumps({"model": "gpt", "messages": MESSAGES}).encode()
    request = urllib.request.Request(f"{provider_in_thread.openai_url}/chat/completions", body)
    with urllib.request.urlopen(request, timeout=5) as response:
        assert json.load(response)["choices"][0]["message"]["content"] == "Done."
    assert len(provider_in_thread.requests) == 1
