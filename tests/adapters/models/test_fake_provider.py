"""The fakes are what they say: the providers' own clients read them."""

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
from tests.adapters.models.replies import OVERLOADED, Fails, Gone, Hangs, Says, Use, too_many
from tests.isolation import limit

if TYPE_CHECKING:  # slow to import: only where they are used
    import anthropic
    import openai

ASKED: Any = [{"role": "user", "content": "How many?"}]
TOOL: Any = {"name": "count", "description": "Counts.", "input_schema": {"type": "object"}}
USES = Says("I count them.", uses=(Use("count", {"what": "pebbles"}),), cache_read=5, cache_write=3)


@asynccontextmanager
async def claude(provider: FakeProvider, seconds: float = 5.0) -> AsyncGenerator[anthropic.AsyncAnthropic]:
    import anthropic

    async with anthropic.AsyncAnthropic(
        api_key="key-of-a-test", base_url=provider.url, max_retries=0, timeout=seconds
    ) as client:
        yield client


@asynccontextmanager
async def gpt(provider: FakeProvider, seconds: float = 5.0) -> AsyncGenerator[openai.AsyncOpenAI]:
    import openai

    async with openai.AsyncOpenAI(
        api_key="key-of-a-test", base_url=provider.openai_url, max_retries=0, timeout=seconds
    ) as client:
        yield client


async def messages(client: anthropic.AsyncAnthropic) -> Any:
    async with client.messages.stream(model="claude", max_tokens=100, messages=ASKED) as stream:
        return await stream.get_final_message()


async def test_messages_streamed_and_whole(provider: FakeProvider) -> None:
    from anthropic._constants import ANTHROPIC_API_VERSION

    provider.will(USES, USES)
    async with claude(provider) as client:
        streamed = await messages(client)
        whole: Any = await client.messages.create(model="claude", max_tokens=100, messages=ASKED)
    for message in (streamed, whole):
        assert [block.type for block in message.content] == ["text", "tool_use"]
        assert (message.content[0].text, message.content[1].input) == ("I count them.", {"what": "pebbles"})
        assert (message.stop_reason, message.usage.input_tokens, message.usage.output_tokens) == ("tool_use", 25, 15)
        assert (message.usage.cache_read_input_tokens, message.usage.cache_creation_input_tokens) == (5, 3)
    assert [one.is_streamed for one in provider.asked] == [True, False]
    assert provider.asked[1].told == {
        "path": "/v1/messages",
        "headers": {
            "authorization": "Bearer key-of-a-test",
            "content-type": "application/json",
            "anthropic-version": ANTHROPIC_API_VERSION,
        },
        "body": {"model": "claude", "max_tokens": 100, "messages": ASKED},
    }


async def test_chat_completions_streamed_and_whole(provider: FakeProvider) -> None:
    provider.will(USES, USES)
    async with gpt(provider) as client:
        text, arguments, usage, reason = "", "", None, None
        stream: Any = await client.chat.completions.create(
            model="gpt", messages=ASKED, stream=True, stream_options={"include_usage": True}
        )
        async for chunk in stream:
            usage = chunk.usage or usage
            for choice in chunk.choices:
                text += choice.delta.content or ""
                arguments += "".join(call.function.arguments for call in choice.delta.tool_calls or ())
                reason = choice.finish_reason or reason
        whole: Any = await client.chat.completions.create(model="gpt", messages=ASKED)
    assert (text, json.loads(arguments), reason) == ("I count them.", {"what": "pebbles"}, "tool_calls")
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens) == (25, 15)
    message = whole.choices[0].message
    assert (message.content, message.tool_calls[0].function.name) == ("I count them.", "count")


async def test_responses_streamed_and_whole(provider: FakeProvider) -> None:
    provider.will(USES, USES)
    async with gpt(provider) as client:
        async with client.responses.stream(model="gpt", input="How many?") as stream:
            streamed: Any = await stream.get_final_response()
        whole: Any = await client.responses.create(model="gpt", input="How many?")
    for response in (streamed, whole):
        assert (response.output_text, response.status) == ("I count them.", "completed")
        assert (response.output[1].name, json.loads(response.output[1].arguments)) == ("count", {"what": "pebbles"})
        assert (response.usage.input_tokens, response.usage.output_tokens) == (25, 15)


async def test_failures(provider: FakeProvider) -> None:
    import anthropic

    provider.will(too_many("7"), OVERLOADED, Fails(401), Gone(), Says("Half a word", cut_after=4))
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
    assert len(provider.asked) == 5


async def test_what_is_garbled_or_fails_in_the_stream(provider: FakeProvider) -> None:
    import anthropic

    provider.will(Says("Half a word", garbled_after=3), Says("Half a word", error_after=3))
    async with claude(provider) as client:
        with pytest.raises(json.JSONDecodeError):
            await messages(client)
        with pytest.raises(anthropic.APIStatusError, match="Overloaded"):
            await messages(client)


async def test_waiting_and_hanging_up(provider: FakeProvider) -> None:
    import anthropic

    provider.will(Says("Slow.", first_byte_after=0.2), Hangs(), Says("word " * 200, between=0.02))
    async with claude(provider, seconds=0.1) as client:
        with pytest.raises(anthropic.APITimeoutError):
            await messages(client)
        with pytest.raises(anthropic.APITimeoutError):
            await messages(client)
    async with claude(provider) as client:
        begun = time.monotonic()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await messages(client)
        await provider.until(hung_up=3)
    assert provider.hung_up[-1] - begun < limit(1.0)
    assert provider.answered == 0


def test_in_a_thread(provider_in_thread: FakeProvider) -> None:
    body = json.dumps({"model": "gpt", "messages": ASKED}).encode()
    request = urllib.request.Request(f"{provider_in_thread.openai_url}/chat/completions", body)
    with urllib.request.urlopen(request, timeout=5) as response:
        assert json.load(response)["choices"][0]["message"]["content"] == "Done."
    assert len(provider_in_thread.asked) == 1
