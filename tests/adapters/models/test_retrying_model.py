"""Transient errors are retried up to three times, then the fallbacks are used in turn; each attempt is logged."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import PartStartEvent, TextPart

from cairn.adapters.models.retrying_model import RetryPolicy
from cairn.ports.models import ANSWERED_BY, ModelCallContext, ModelError
from cairn.ports.models import ModelErrorKind as Kind
from tests.adapters.models.fake_provider import FakeProvider
from tests.adapters.models.replies import OVERLOADED, Fails, Gone, Says, Use, too_many
from tests.adapters.models.requests import CHAT, CLAUDE, GPT, KEY, NAMES, opened, streamed, whole
from tests.mentions import mentions

NO = Fails(401)


def listening() -> tuple[list[str], ModelCallContext]:
    told: list[str] = []
    return told, ModelCallContext(notify=told.append)


@pytest.mark.parametrize("name", NAMES)
async def test_three_tries(provider: FakeProvider, name: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "cairn.adapters.models.retrying_model")
    told, call_context = listening()
    async with opened(provider) as models:
        provider.will(too_many("0"), OVERLOADED, Says("Seven."))
        response = await streamed(models.choose(name, call_context=call_context))
    assert (response.text, (response.metadata or {})[ANSWERED_BY]) == ("Seven.", name)
    assert len(provider.asked) == 3
    assert told == [
        mentions(name, "429", "0.0 s", "2", "3"),
        mentions(name, "529", "0.0 s", "3"),
    ]
    assert [record.getMessage() for record in caplog.records] == told
    assert KEY not in caplog.text


async def test_then_it_is_given_up(provider: FakeProvider) -> None:
    async with opened(provider) as models:
        provider.will(OVERLOADED, OVERLOADED, OVERLOADED, Says("Too late."))
        with pytest.raises(ModelError) as raised:
            await whole(models.choose(CLAUDE))
    assert str(raised.value) == mentions(CLAUDE, "529", "3")
    assert len(provider.asked) == 3


@pytest.mark.parametrize("reply", [NO, Fails(404), Fails(400), Fails(402)])
async def test_what_cannot_pass_is_not_tried_again(provider: FakeProvider, reply: Any) -> None:
    async with opened(provider) as models:
        provider.will(reply)
        with pytest.raises(ModelError):
            await streamed(models.choose(CLAUDE))
    assert len(provider.asked) == 1


@pytest.mark.parametrize("name", NAMES)
async def test_an_answer_that_breaks_off_is_asked_for_again(provider: FakeProvider, name: str) -> None:
    """Its parts begin anew, and what is kept is the second answer alone."""
    events: list[Any] = []
    async with opened(provider) as models:
        provider.will(Says("One, two, three, four", cut_after=5), Says("One, two, five", garbled_after=5), Says("Six."))
        response = await streamed(models.choose(name), events)
    assert [part for part in response.parts if isinstance(part, TextPart)] == [response.parts[0]]
    assert (response.text, response.state, len(provider.asked)) == ("Six.", "complete", 3)
    assert len([event for event in events if isinstance(event, PartStartEvent)]) == 3
    assert (response.usage.input_tokens, response.usage.output_tokens) == (25, 15)


async def test_in_the_middle_of_a_tool_call(provider: FakeProvider) -> None:
    """The tool is used once, with the arguments of the answer that was whole."""
    used: list[str] = []

    def count(what: str) -> int:
        """Count."""
        used.append(what)
        return 7

    async with opened(provider) as models:
        chosen = models.choose(CLAUDE)
        agent = Agent(chosen.model, tools=[count])
        uses = Says("Let me see.", uses=(Use("count", {"what": "pebbles"}),))
        provider.will(
            Says("Let me see.", uses=(Use("count", {"what": "stones and more"}),), cut_after=9), uses, Says("7.")
        )
        async with agent.run_stream_events("How many?") as events:
            last = [event async for event in events][-1]
    assert used == ["pebbles"]
    assert last.result.output == "7."  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    assert len(provider.asked) == 3


async def test_how_long_is_waited(provider: FakeProvider) -> None:
    """What the provider asks for is kept to, up to a bound: past it, the call is over."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    patience = RetryPolicy(tries=4, longest_wait=30, first_wait=1.0, sleep=sleep, chance=lambda: 1.0)
    _, call_context = listening()
    async with opened(provider) as models:
        choose: Any = models._choose  # pyright: ignore[reportPrivateUsage]

        async def ask(*replies: Any) -> None:
            provider.replies.clear()
            waits.clear()
            provider.will(*replies)
            await streamed(choose(CLAUDE, {}, call_context, (), patience))

        await ask(too_many("7"), OVERLOADED, OVERLOADED, Says("Yes."))
        assert waits == [7.0, 2.0, 4.0]
        await ask(Fails(429, headers={"retry-after-ms": "1500"}), Gone(), Says("Yes."))
        assert waits == [1.5, 2.0]
        with pytest.raises(ModelError) as raised:
            await ask(too_many("31"), Says("Not reached."))
        assert (waits, raised.value.retry_after) == ([], 31.0)
        assert str(raised.value) == mentions("31 s")
    assert RetryPolicy(chance=lambda: 0.0).wait(3, None) == 2.0
    assert [RetryPolicy(longest_wait=5, chance=lambda: 1.0).wait(n, None) for n in (1, 2, 3, 4, 9)] == [1, 2, 4, 5, 5]


async def test_fallbacks_in_turn(provider: FakeProvider) -> None:
    told, call_context = listening()
    async with opened(provider, fallbacks=(GPT, CLAUDE, "groq:llama", CHAT), tries=1) as models:
        provider.will(OVERLOADED, NO, Says("From the third."))
        response = await streamed(models.choose(CLAUDE, call_context=call_context))
    assert [one.path for one in provider.asked] == ["/v1/messages", "/v1/responses", "/v1/chat/completions"]
    assert (response.text, (response.metadata or {})[ANSWERED_BY]) == ("From the third.", CHAT)
    assert told == [
        mentions("groq:llama", '"pydantic-ai-slim[groq]"'),
        mentions(CLAUDE, "529", GPT),
        mentions(GPT, "401", CHAT),
    ]


async def test_a_fallback_goes_on_where_the_first_broke_off(provider: FakeProvider) -> None:
    async with opened(provider, tries=1) as models:
        provider.will(Says("One, two, three", cut_after=5), Says("Whole."))
        response = await streamed(models.choose(CLAUDE, {"fallbacks": [GPT]}))
    assert (response.text, (response.metadata or {})[ANSWERED_BY]) == ("Whole.", GPT)


async def test_none_of_them(provider: FakeProvider) -> None:
    """What may pass counts, so that the checkpoint's own retry comes to it; all is told."""
    async with opened(provider, fallbacks=(GPT,), tries=2) as models:
        provider.will(NO, OVERLOADED, OVERLOADED)
        with pytest.raises(ModelError) as raised:
            await whole(models.choose(CLAUDE))
    assert (raised.value.kind, raised.value.model) == (Kind.OVERLOAD, GPT)
    assert str(raised.value) == mentions(CLAUDE, "401", GPT, "529", "2")


async def test_faults_that_are_none_of_a_provider(provider: FakeProvider) -> None:
    async with opened(provider) as models:
        chosen = models.choose(CLAUDE)
        with pytest.raises(AttributeError):
            await chosen.model.request([], None, None)  # pyright: ignore[reportArgumentType]
    assert provider.asked == []
