"""What a turn of an agent takes besides the model, which answers at once: whole, with what is stored; and the loop."""

from __future__ import annotations

import statistics
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from bench.house import house, pipeline, run_to_end
from cairn.ports.conversation import Purpose
from cairn.ports.models import ChosenModel, ModelCallContext, ModelError, ModelTest, ProviderState, TokenUsage
from cairn.runners.agents.toolbox import Tool, Toolbox
from cairn.runners.agents.transcript import InMemoryConversation, Transcript
from cairn.runners.agents.turns import Turn, TurnLoop

TURNS = 200
DEBATE = 20  # turns of one run, before the judge's
RUNS = 8
WARM = 20


async def _answer(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
    """A call of a tool, then words."""
    if info.function_tools and len(messages) == 1:
        yield {0: DeltaToolCall("look", '{"at": "x"}', tool_call_id="one")}
    else:
        for word in ("All ", "is ", "well."):
            yield word


MODEL = FunctionModel(stream_function=_answer)


class Instant:
    """Models that answer at once."""

    default = "instant:one"
    prices = "none"

    def choose(
        self,
        name: str | None = None,
        settings: Mapping[str, Any] | None = None,  # noqa: ARG002 - the signature is the port's
        occasion: ModelCallContext | None = None,  # noqa: ARG002
    ) -> ChosenModel:
        return ChosenModel(name or self.default, MODEL)

    def explain(self, error: BaseException, model: str) -> ModelError | None:  # noqa: ARG002
        return None

    def cost(self, model: str, tokens: TokenUsage) -> Decimal | None:  # noqa: ARG002
        return None

    def ends_on(self, name: str) -> str | None:  # noqa: ARG002
        return None

    def providers(self) -> Sequence[ProviderState]:
        return ()

    async def try_out(self, name: str | None = None) -> ModelTest:
        raise NotImplementedError

    async def close(self) -> None:
        pass


async def _look(given: dict[str, Any]) -> str:
    return f"At {given['at']} there is nothing."


LOOK = Tool(
    "look",
    "Look somewhere.",
    {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]},
    _look,
)


async def turns(count: int = TURNS, runs: int = RUNS) -> dict[str, float]:
    """Milliseconds: of a turn in a run, with all that is composed, read and committed for it; and of the loop alone.

    The loop is that of a turn with one call of the model, and of one with a tool and two calls, with nothing stored.
    """
    return {
        "whole_p50_ms": await whole_turn(runs),
        "one_call_p50_ms": await _median(Toolbox(), count),
        "tool_and_two_calls_p50_ms": await _median(Toolbox({"look": LOOK}), count),
    }


async def whole_turn(runs: int = RUNS) -> float:
    """Runs of one debate each, by the number of their turns: the start of the run and its end are in it too."""
    agents = [{"name": name, "role": "You argue."} for name in ("Ann", "Ben")]
    config = {"creation_mode": "predefined", "discussion_mode": "debate", "max_turns": DEBATE, "agents": agents}
    checkpoint = {"key": "talk", "prompt": "Do it. " * 1000, "outputs": ["report.md"]}
    taken: list[float] = []
    async with house(models=Instant()) as cairn:
        execution = {"mode": "agentic", "agent_config": config}
        pipeline_id = await pipeline(cairn, [{**checkpoint, "execution": execution}])
        for number in range(2 + runs):
            begun = time.perf_counter()
            await run_to_end(cairn, pipeline_id)
            if number >= 2:
                taken.append((time.perf_counter() - begun) * 1000 / (DEBATE + 1))
    return round(statistics.median(taken), 3)


async def _median(tools: Toolbox, count: int) -> float:
    models, taken = Instant(), list[float]()
    for number in range(WARM + count):
        floor = TurnLoop(await Transcript.open(InMemoryConversation(), models), models)
        begun = time.perf_counter()
        await floor.hold(
            Turn("work", "Agent", Purpose.WORK, models.choose(), "You work.", "Do it. " * 1000, tools=tools)
        )
        if number >= WARM:
            taken.append((time.perf_counter() - begun) * 1000)
    return round(statistics.median(taken), 3)
