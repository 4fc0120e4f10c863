"""What holds of every way to a model: one suite for each provider's protocol, and for the simulated one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from cairn.adapters.models.catalogue import PydanticAiModels
from cairn.adapters.simulated_model import SimulatedModelFactory
from cairn.ports.models import (
    ANSWERED_BY,
    ChosenModel,
    ModelCallContext,
    ModelCatalogue,
    ModelError,
    ModelErrorKind,
    TokenUsage,
)
from tests.adapters.models.fake_provider import FakeProvider
from tests.adapters.models.replies import OVERLOADED, Fails, Hangs, Says, Use
from tests.adapters.models.requests import CHAT, CLAUDE, ENVIRONMENT, GPT, no_secret, rules, streamed, whole
from tests.mentions import mentions

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
COUNT = ToolDefinition(name="count", description="Counts.", parameters_json_schema=SCHEMA)
RESULT = ToolDefinition(name="final_result", parameters_json_schema=SCHEMA, kind="output")
SIMULATED = "simulated:default"


@dataclass
class Way:
    """A model, and how to have it do something."""

    models: ModelCatalogue
    name: str
    provider: FakeProvider

    def chosen(
        self, *steps: dict[str, Any], replies: tuple[Any, ...] = (), told: list[str] | None = None
    ) -> ChosenModel:
        """`steps` are for the simulated one, `replies` for the others: the same in both languages."""
        self.provider.will(*replies)
        call_context = ModelCallContext("one", notify=told.append) if told is not None else None
        return self.models.choose(self.name, {"simulation": list(steps)}, call_context)


@pytest.fixture(params=[CLAUDE, GPT, CHAT, SIMULATED])
async def way(request: pytest.FixtureRequest, provider: FakeProvider) -> AsyncIterator[Way]:
    models = PydanticAiModels(
        rules(provider, silence=1.0), no_secret, ENVIRONMENT, SimulatedModelFactory(chars_per_second=200)
    )
    yield Way(models, request.param, provider)
    await models.close()


async def test_it_is_named_and_answers(way: Way) -> None:
    """Streamed or whole; who answered stands with the answer; what was used is known, and so is its cost."""
    for ask in (streamed, whole):
        chosen = way.chosen({"say": "Seven."}, replies=(Says("Seven."),))
        assert (chosen.name, chosen.is_simulated) == (way.name, way.name == SIMULATED)
        response = await ask(chosen)
        assert (response.text, response.state) == ("Seven.", "complete")
        assert (response.metadata or {})[ANSWERED_BY] == way.name
        assert response.usage.input_tokens > 0
        assert response.usage.output_tokens > 0
    cost = way.models.cost(way.name, TokenUsage(1000, 100))
    assert cost == Decimal(0) if way.name == SIMULATED else cost is None or cost > 0


async def test_it_uses_a_tool_then_hands_over_an_object(way: Way) -> None:
    parameters = ModelRequestParameters(
        function_tools=[COUNT], output_tools=[RESULT], output_mode="tool", allow_text_output=False
    )
    chosen = way.chosen(
        {"use": "count", "arguments": {"n": 3}},
        {"output": {"n": 7}},
        replies=(Says(uses=(Use("count", {"n": 3}),)), Says(uses=(Use("final_result", {"n": 7}),))),
    )
    messages: list[Any] = [ModelRequest(parts=[SystemPromptPart("You count."), UserPromptPart("How many?")])]

    async def ask() -> ModelResponse:
        async with chosen.model.request_stream(list(messages), None, parameters) as stream:
            async for _ in stream:
                pass
        return stream.get()

    first = await ask()
    (call,) = first.tool_calls
    assert (call.tool_name, call.args_as_dict()) == ("count", {"n": 3})
    messages += [first, ModelRequest(parts=[ToolReturnPart("count", "7", tool_call_id=call.tool_call_id)])]
    (call,) = (await ask()).tool_calls
    assert (call.tool_name, call.args_as_dict()) == ("final_result", {"n": 7})


async def test_what_may_pass_is_tried_again_and_told(way: Way) -> None:
    told: list[str] = []
    replies = (OVERLOADED, OVERLOADED, Says("There."))
    chosen = way.chosen({"call": [1, 2], "fail": "overload"}, {"say": "There."}, replies=replies, told=told)
    assert (await streamed(chosen)).text == "There."
    assert told == [mentions(way.name)] * 2


async def test_what_cannot_pass_is_a_fault_in_words(way: Way) -> None:
    chosen = way.chosen({"fail": "authentication"}, replies=(Fails(401),))
    with pytest.raises(ModelError) as raised:
        await streamed(chosen)
    assert raised.value.kind is ModelErrorKind.AUTHENTICATION
    assert str(raised.value) == mentions(way.name, "401")
    assert way.models.explain(raised.value, way.name) is raised.value
    assert way.models.explain(ValueError("mine"), way.name) is None


async def test_it_can_be_cancelled_at_once(way: Way) -> None:
    chosen = way.chosen({"say": "word " * 1000}, replies=(Hangs(),))
    asking = asyncio.ensure_future(streamed(chosen))
    await asyncio.sleep(0.3)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        async with asyncio.timeout(1):
            await asking


async def test_a_trial_tells_all(way: Way) -> None:
    way.provider.will(Says("ready"))
    tried = await way.models.try_out(way.name)
    assert (tried.name, tried.text, tried.fault, tried.is_simulated) == (
        way.name,
        "ready",
        None,
        way.name == SIMULATED,
    )
