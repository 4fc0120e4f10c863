"""The contract of every model: the same tests for each protocol and for the simulated model."""

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
from tests.adapters.models.replies import OVERLOADED, Answer, ErrorReply, NoReply, ToolCall
from tests.adapters.models.requests import CHAT, CLAUDE, ENVIRONMENT, GPT, no_secret, policy, streamed, unstreamed
from tests.mentions import mentions

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
COUNT = ToolDefinition(name="count", description="Counts.", parameters_json_schema=SCHEMA)
RESULT = ToolDefinition(name="final_result", parameters_json_schema=SCHEMA, kind="output")
SIMULATED = "simulated:default"


@dataclass
class ModelBackend:
    """A model with its fake provider or simulation script."""

    models: ModelCatalogue
    name: str
    provider: FakeProvider

    def choose(
        self, *steps: dict[str, Any], replies: tuple[Any, ...] = (), reports: list[str] | None = None
    ) -> ChosenModel:
        """`steps` are for the simulated model, the equivalent `replies` for the fake provider."""
        self.provider.enqueue(*replies)
        call_context = ModelCallContext("one", notify=reports.append) if reports is not None else None
        return self.models.choose(self.name, {"simulation": list(steps)}, call_context)


@pytest.fixture(params=[CLAUDE, GPT, CHAT, SIMULATED])
async def backend(request: pytest.FixtureRequest, provider: FakeProvider) -> AsyncIterator[ModelBackend]:
    models = PydanticAiModels(
        policy(provider, timeout=1.0), no_secret, ENVIRONMENT, SimulatedModelFactory(chars_per_second=200)
    )
    yield ModelBackend(models, request.param, provider)
    await models.close()


async def test_a_response_has_its_model_and_usage(backend: ModelBackend) -> None:
    for send in (streamed, unstreamed):
        chosen = backend.choose({"say": "Seven."}, replies=(Answer("Seven."),))
        assert (chosen.name, chosen.is_simulated) == (backend.name, backend.name == SIMULATED)
        response = await send(chosen)
        assert (response.text, response.state) == ("Seven.", "complete")
        assert (response.metadata or {})[ANSWERED_BY] == backend.name
        assert response.usage.input_tokens > 0
        assert response.usage.output_tokens > 0
    cost = backend.models.cost(backend.name, TokenUsage(1000, 100))
    assert cost == Decimal(0) if backend.name == SIMULATED else cost is None or cost > 0


async def test_a_tool_call_is_followed_by_a_structured_output(backend: ModelBackend) -> None:
    parameters = ModelRequestParameters(
        function_tools=[COUNT], output_tools=[RESULT], output_mode="tool", allow_text_output=False
    )
    chosen = backend.choose(
        {"use": "count", "arguments": {"n": 3}},
        {"output": {"n": 7}},
        replies=(
            Answer(tool_calls=(ToolCall("count", {"n": 3}),)),
            Answer(tool_calls=(ToolCall("final_result", {"n": 7}),)),
        ),
    )
    messages: list[Any] = [ModelRequest(parts=[SystemPromptPart("You count."), UserPromptPart("How many?")])]

    async def send() -> ModelResponse:
        async with chosen.model.request_stream(list(messages), None, parameters) as stream:
            async for _ in stream:
                pass
        return stream.get()

    first = await send()
    (call,) = first.tool_calls
    assert (call.tool_name, call.args_as_dict()) == ("count", {"n": 3})
    messages += [first, ModelRequest(parts=[ToolReturnPart("count", "7", tool_call_id=call.tool_call_id)])]
    (call,) = (await send()).tool_calls
    assert (call.tool_name, call.args_as_dict()) == ("final_result", {"n": 7})


async def test_transient_errors_are_retried_and_reported(backend: ModelBackend) -> None:
    reports: list[str] = []
    replies = (OVERLOADED, OVERLOADED, Answer("There."))
    chosen = backend.choose({"call": [1, 2], "fail": "overload"}, {"say": "There."}, replies=replies, reports=reports)
    assert (await streamed(chosen)).text == "There."
    assert reports == [mentions(backend.name)] * 2


async def test_a_permanent_error_is_explained(backend: ModelBackend) -> None:
    chosen = backend.choose({"fail": "authentication"}, replies=(ErrorReply(401),))
    with pytest.raises(ModelError) as raised:
        await streamed(chosen)
    assert raised.value.kind is ModelErrorKind.AUTHENTICATION
    assert str(raised.value) == mentions(backend.name, "401")
    assert backend.models.explain(raised.value, backend.name) is raised.value
    assert backend.models.explain(ValueError("mine"), backend.name) is None


async def test_a_call_can_be_cancelled(backend: ModelBackend) -> None:
    chosen = backend.choose({"say": "word " * 1000}, replies=(NoReply(),))
    call = asyncio.ensure_future(streamed(chosen))
    await asyncio.sleep(0.3)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        async with asyncio.timeout(1):
            await call


async def test_a_model_test_succeeds(backend: ModelBackend) -> None:
    backend.provider.enqueue(Answer("ready"))
    tested = await backend.models.test(backend.name)
    assert (tested.name, tested.text, tested.error, tested.is_simulated) == (
        backend.name,
        "ready",
        None,
        backend.name == SIMULATED,
    )
