"""The overhead of one agent turn with a model that replies immediately: in a run, and in the turn loop alone."""

from __future__ import annotations

import statistics
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from bench.app import create_pipeline, run_to_end, running_app
from cairn.ports.conversation import Purpose
from cairn.ports.models import ChosenModel, ModelCallContext, ModelError, ModelTest, ProviderState, TokenUsage
from cairn.runners.agents.toolbox import Tool, Toolbox
from cairn.runners.agents.transcript import InMemoryConversation, Transcript
from cairn.runners.agents.turns import Turn, TurnLoop

TURNS = 200
DEBATE = 20  # turns in one run, not counting the judge's
RUNS = 8
WARM_UP = 20


async def _answer(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
    """Call the tool first if there is one, then reply."""
    if info.function_tools and len(messages) == 1:
        yield {0: DeltaToolCall("look", '{"at": "x"}', tool_call_id="one")}
    else:
        for word in ("All ", "is ", "well."):
            yield word


MODEL = FunctionModel(stream_function=_answer)


class InstantModels:
    """A model catalogue whose models reply immediately."""

    default = "instant:one"
    prices = "none"

    def choose(
        self,
        name: str | None = None,
        settings: Mapping[str, Any] | None = None,  # noqa: ARG002 - the signature is the port's
        call_context: ModelCallContext | None = None,  # noqa: ARG002
    ) -> ChosenModel:
        return ChosenModel(name or self.default, MODEL)

    def explain(self, error: BaseException, model: str) -> ModelError | None:  # noqa: ARG002
        return None

    def cost(self, model: str, tokens: TokenUsage) -> Decimal | None:  # noqa: ARG002
        return None

    def unpriced_models(
        self,
        name: str | None = None,  # noqa: ARG002
        settings: Mapping[str, Any] | None = None,  # noqa: ARG002
    ) -> Sequence[str]:
        return ()

    def retirement_date(self, name: str) -> str | None:  # noqa: ARG002
        return None

    def providers(self) -> Sequence[ProviderState]:
        return ()

    async def test(self, name: str | None = None) -> ModelTest:
        raise NotImplementedError

    async def close(self) -> None:
        pass


async def _look(arguments: dict[str, Any]) -> str:
    return f"Nothing found at {arguments['at']}."


LOOK = Tool(
    "look",
    "Look somewhere.",
    {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]},
    _look,
)


async def turns(count: int = TURNS, runs: int = RUNS) -> dict[str, float]:
    """Milliseconds per turn in a run, with everything that is read and committed for it, and in the loop alone.

    The loop is measured for a turn with one model call, and for one with a tool call and two model calls.
    """
    return {
        "whole_p50_ms": await whole_turn(runs),
        "one_call_p50_ms": await _median(Toolbox(), count),
        "tool_and_two_calls_p50_ms": await _median(Toolbox({"look": LOOK}), count),
    }


async def whole_turn(runs: int = RUNS) -> float:
    """Time runs of one debate each, divided by their turns. The start and end of the run are included."""
    agents = [{"name": name, "role": "You argue."} for name in ("Ann", "Ben")]
    config = {"creation_mode": "predefined", "discussion_mode": "debate", "max_turns": DEBATE, "agents": agents}
    checkpoint = {"key": "talk", "prompt": "Do it. " * 1000, "outputs": ["report.md"]}
    times: list[float] = []
    async with running_app(models=InstantModels()) as cairn:
        execution = {"mode": "agentic", "agent_config": config}
        pipeline_id = await create_pipeline(cairn, [{**checkpoint, "execution": execution}])
        for number in range(2 + runs):
            started = time.perf_counter()
            await run_to_end(cairn, pipeline_id)
            if number >= 2:
                times.append((time.perf_counter() - started) * 1000 / (DEBATE + 1))
    return round(statistics.median(times), 3)


async def _median(tools: Toolbox, count: int) -> float:
    models, times = InstantModels(), list[float]()
    for number in range(WARM_UP + count):
        loop = TurnLoop(await Transcript.open(InMemoryConversation(), models), models)
        started = time.perf_counter()
        await loop.run(Turn("work", "Agent", Purpose.WORK, models.choose(), "You work.", "Do it. " * 1000, tools=tools))
        if number >= WARM_UP:
            times.append((time.perf_counter() - started) * 1000)
    return round(statistics.median(times), 3)
