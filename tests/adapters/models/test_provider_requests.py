"""The whole requests that providers receive are those of the snapshots: `make snapshots` writes them again."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_ai import Agent, StructuredDict, ToolOutput
from pydantic_ai.direct import model_request_stream
from pydantic_ai.settings import ModelSettings

from cairn.adapters.models.providers import ProviderRule
from cairn.ports.models import ChosenModel
from cairn.runners.agents.answer_schema import AnswerSchema, request_parameters
from cairn.runners.agents.toolbox import Toolbox
from tests.adapters.models.fake_provider import FakeProvider
from tests.adapters.models.replies import Says, Use
from tests.adapters.models.requests import CHAT, CLAUDE, GPT, MESSAGES, opened
from tests.snapshots.comparing import compare_json

VERDICT = {
    "type": "object",
    "properties": {"passes": {"type": "boolean"}, "reason": {"type": "string", "minLength": 3}},
    "required": ["passes", "reason"],
}
NAMES = {"messages": CLAUDE, "responses": GPT, "chat": CHAT}


def compare(name: str, asked: list[Any]) -> None:
    compare_json(f"wire/model_{name}.json", [one.told for one in asked])


def worker(chosen: ChosenModel) -> Agent[None, Any]:
    agent: Agent[None, Any] = Agent(
        chosen.model,
        system_prompt="You count what there is.",
        model_settings=ModelSettings(**chosen.settings),
        output_type=ToolOutput(StructuredDict(VERDICT), name="verdict", description="What came of it."),
    )

    @agent.tool_plain
    def file_operations(operation: str, path: str, content: str = "") -> str:
        """Read and write files.

        Args:
            operation: list, read or write.
            path: Below the workspace.
            content: What is written.
        """
        return f"{operation} {path}: «{content}» done"

    return agent


@pytest.mark.parametrize("golden", NAMES)
async def test_a_turn_with_a_tool_and_an_output(provider: FakeProvider, golden: str) -> None:
    """Two rounds: what the tool said goes back with the words before it."""
    async with opened(provider) as models:
        provider.will(
            Says("I write it down.", uses=(Use("file_operations", {"operation": "write", "path": "a.md"}),)),
            Says(uses=(Use("verdict", {"passes": True, "reason": "All is there."}),)),
        )
        agent = worker(models.choose(NAMES[golden], {"max_tokens": 500}))
        async with agent.run_stream_events("How many pebbles? <b>&amp; «ünïcode» 🪨") as events:
            last: Any = [event async for event in events][-1]
    assert last.result.output == {"passes": True, "reason": "All is there."}
    compare(golden, provider.asked)


async def test_one_that_is_not_streamed_with_settings_of_its_own(provider: FakeProvider) -> None:
    async with opened(provider, max_tokens=1234, temperature=0.1) as models:
        for name in NAMES.values():
            provider.will(Says(uses=(Use("verdict", {"passes": False, "reason": "No."}),)))
            settings = {"top_p": 0.5, "fallbacks": [], "simulation": [{"say": "never sent"}], "seed": 7}
            await worker(models.choose(name, settings)).run("How many?")
    compare("whole", provider.asked)


async def test_models_that_refuse_a_temperature_are_given_none(provider: FakeProvider) -> None:
    """The default only: what somebody asked for is theirs."""
    async with opened(provider) as models:
        for name, settings in (
            ("anthropic:claude-sonnet-5-5", {}),
            ("openai:gpt-5", {}),
            (CLAUDE, {"thinking": "low"}),
        ):
            provider.will(Says(uses=(Use("verdict", {"passes": False, "reason": "No."}),)))
            await worker(models.choose(name, settings)).run("How many?")
    assert ["temperature" in one.body for one in provider.asked] == [False, False, False]
    assert [one.body.get("max_tokens", one.body.get("max_output_tokens")) for one in provider.asked] == [8000] * 3


async def test_a_server_may_be_asked_for_objects_by_a_schema(provider: FakeProvider) -> None:
    """`structured_output: schema`: such servers enforce it for any model, even one without tools."""
    rule = ProviderRule(base_url=provider.openai_url, structured_output="schema")
    async with opened(provider, providers={"openai-chat": rule}) as models:
        provider.will(Says('{"passes": true, "reason": "All is there."}'))
        model = models.choose(CHAT, {"max_tokens": 500}).model
        parameters = request_parameters(Toolbox(), AnswerSchema(VERDICT))
        async with model_request_stream(model, list(MESSAGES), model_request_parameters=parameters) as stream:
            async for _ in stream:
                pass
    compare("schema", provider.asked)
