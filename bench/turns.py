"""What a turn of an agent takes besides the model: with one that answers at once, and nothing that is stored."""

from __future__ import annotations

import statistics
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from cairn.ports.conversation import Purpose
from cairn.ports.models import Chosen, ModelFault, Occasion, ProviderState, Tokens, Tried
from cairn.runners.agents.minutes import Minutes, Unkept
from cairn.runners.agents.tools.toolbox import Tool, Toolbox
from cairn.runners.agents.turns import Floor, Turn

TURNS = 200
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
        occasion: Occasion | None = None,  # noqa: ARG002
    ) -> Chosen:
        return Chosen(name or self.default, MODEL)

    def explain(self, error: BaseException, model: str) -> ModelFault | None:  # noqa: ARG002
        return None

    def cost(self, model: str, tokens: Tokens) -> Decimal | None:  # noqa: ARG002
        return None

    def providers(self) -> Sequence[ProviderState]:
        return ()

    async def try_out(self, name: str | None = None) -> Tried:
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


async def turns(count: int = TURNS) -> dict[str, float]:
    """Milliseconds: of a turn with one call of the model, and of one with a tool and two calls."""
    return {
        "one_call_p50_ms": await _median(Toolbox(), count),
        "tool_and_two_calls_p50_ms": await _median(Toolbox({"look": LOOK}), count),
    }


async def _median(tools: Toolbox, count: int) -> float:
    models, taken = Instant(), list[float]()
    for number in range(WARM + count):
        floor = Floor(await Minutes.open(Unkept(), models), models)
        begun = time.perf_counter()
        await floor.hold(
            Turn("work", "Agent", Purpose.WORK, models.choose(), "You work.", "Do it. " * 1000, tools=tools)
        )
        if number >= WARM:
            taken.append((time.perf_counter() - begun) * 1000)
    return round(statistics.median(taken), 3)
