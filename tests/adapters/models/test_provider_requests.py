"""Complete requests to providers are compared with snapshots, which `make snapshots` writes."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_ai import Agent, StructuredDict, ToolOutput
from pydantic_ai.direct import model_request_stream
from pydantic_ai.settings import ModelSettings

from cairn.adapters.models.providers import ProviderOptions
from cairn.ports.models import ChosenModel
from cairn.runners.agents.answer_schema import AnswerSchema, request_parameters
from cairn.runners.agents.toolbox import Toolbox
from tests.adapters.models.fake_provider import FakeProvider
from tests.adapters.models.replies import Answer, ToolCall
from tests.adapters.models.requests import CHAT, CLAUDE, GPT, MESSAGES, open_catalogue
from tests.snapshots.comparing import compare_json

VERDICT = {
    "type": "object",
    "properties": {"passes": {"type": "boolean"}, "reason": {"type": "string", "minLength": 3}},
    "required": ["passes", "reason"],
}
NAMES = {"messages": CLAUDE, "responses": GPT, "chat": CHAT}


def compare(name: str, requests: list[Any]) -> None:
    compare_json(f"wire/model_{name}.json", [request.comparable for request in requests])


def worker(chosen: ChosenModel) -> Agent[None, Any]:
    agent: Agent[None, Any] = Agent(
        chosen.model,
        system_prompt="You count things.",
        model_settings=ModelSettings(**chosen.settings),
        output_type=ToolOutput(StructuredDict(VERDICT), name="verdict", description="The result of the count."),
    )

    @agent.tool_plain
    def file_operations(operation: str, path: str, content: str = "") -> str:
        """Read and write files.

        Args:
            operation: list, read or write.
            path: Path inside the workspace.
            content: The content to write.
        """
        return f"{operation} {path}: «{content}» done"

    return agent


@pytest.mark.parametrize("protocol", NAMES)
async def test_a_tool_call_and_a_structured_output(provider: FakeProvider, protocol: str) -> None:
    async with open_catalogue(provider) as models:
        provider.enqueue(
            Answer(
                "I'll write it down.", tool_calls=(ToolCall("file_operations", {"operation": "write", "path": "a.md"}),)
            ),
            Answer(tool_calls=(ToolCall("verdict", {"passes": True, "reason": "Everything is there."}),)),
        )
        agent = worker(models.choose(NAMES[protocol], {"max_tokens": 500}))
        async with agent.run_stream_events("How many pebbles? <b>&amp; «ünïcode» 🪨") as events:
            last: Any = [event async for event in events][-1]
    assert last.result.output == {"passes": True, "reason": "Everything is there."}
    compare(protocol, provider.requests)


async def test_an_unstreamed_request_with_model_settings(provider: FakeProvider) -> None:
    async with open_catalogue(provider, max_tokens=1234, temperature=0.1) as models:
        for name in NAMES.values():
            provider.enqueue(Answer(tool_calls=(ToolCall("verdict", {"passes": False, "reason": "No."}),)))
            settings = {"top_p": 0.5, "fallbacks": [], "simulation": [{"say": "never sent"}], "seed": 7}
            await worker(models.choose(name, settings)).run("How many?")
    compare("unstreamed", provider.requests)


async def test_the_default_temperature_is_not_sent_to_models_that_reject_it(provider: FakeProvider) -> None:
    async with open_catalogue(provider) as models:
        for name, settings in (
            ("anthropic:claude-sonnet-5-5", {}),
            ("openai:gpt-5", {}),
            (CLAUDE, {"thinking": "low"}),
        ):
            provider.enqueue(Answer(tool_calls=(ToolCall("verdict", {"passes": False, "reason": "No."}),)))
            await worker(models.choose(name, settings)).run("How many?")
    assert ["temperature" in request.body for request in provider.requests] == [False, False, False]
    assert [request.body.get("max_tokens", request.body.get("max_output_tokens")) for request in provider.requests] == [
        8000
    ] * 3


async def test_structured_output_can_use_a_response_schema(provider: FakeProvider) -> None:
    """With `structured_output: schema`, the server enforces it, even for models without tools."""
    rule = ProviderOptions(base_url=provider.openai_url, structured_output="schema")
    async with open_catalogue(provider, providers={"openai-chat": rule}) as models:
        provider.enqueue(Answer('{"passes": true, "reason": "Everything is there."}'))
        model = models.choose(CHAT, {"max_tokens": 500}).model
        parameters = request_parameters(Toolbox(), AnswerSchema(VERDICT))
        async with model_request_stream(model, list(MESSAGES), model_request_parameters=parameters) as stream:
            async for _ in stream:
                pass
    compare("schema", provider.requests)
