"""Agents for tests: the real runner, with models that say what the test has written for them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from cairn.core.states import ExecutionMode
from cairn.documents import decode_json, encode_json
from cairn.ports import Errored, Outcome, Produced, ProducedFile, Runner, StoredFile, WorkOrder
from cairn.ports.conversation import ConversationMessage, MessageChunk
from cairn.ports.models import ChosenModel, ModelCallContext, ModelError, ModelTest, ProviderState, TokenUsage
from cairn.runners.agents.policy import AgentPolicy
from cairn.runners.agents.resources import AgentResources
from cairn.runners.agents.runner import AgentRunner
from cairn.runners.limits import RunnerLimits
from cairn.runners.registry import RunnerRegistry
from tests.runners.work_orders import Told, checkpoint, work

Json = dict[str, Any]


@dataclass(frozen=True)
class Uses:
    """An answer that calls a tool."""

    tool: str
    arguments: Json | str
    call_id: str | None = None


Reply = str | Uses | Sequence[Uses] | Exception
Mind = Callable[["Asked"], Reply | Awaitable[Reply]]


@dataclass(frozen=True)
class Asked:
    """What a model has received."""

    number: int  # among all that the test's models were asked
    model: str
    messages: list[ModelMessage]
    info: AgentInfo

    @property
    def system(self) -> str:
        return _text(self.messages[0], "system-prompt")

    @property
    def prompt(self) -> str:
        return _text(self.messages[0], "user-prompt")

    @property
    def last(self) -> str:
        """What it was told last: a task, a correction, or what tools have returned."""
        last = self.messages[-1]
        assert isinstance(last, ModelRequest)
        return "\n".join(str(getattr(part, "content", "")) for part in last.parts)

    @property
    def results(self) -> list[str]:
        """What tools have returned so far."""
        requests = (one for one in self.messages if isinstance(one, ModelRequest))
        return [str(part.content) for one in requests for part in one.parts if isinstance(part, ToolReturnPart)]

    @property
    def answers(self) -> int:
        """How often it has answered in this turn."""
        return sum(isinstance(one, ModelResponse) for one in self.messages)

    @property
    def tools(self) -> list[str]:
        return [tool.name for tool in self.info.function_tools]

    @property
    def schema(self) -> Json | None:
        """Of the object that it is asked for."""
        return self.info.output_tools[0].parameters_json_schema if self.info.output_tools else None


def _text(message: ModelMessage, kind: str) -> str:
    return "\n\n".join(str(getattr(part, "content", "")) for part in message.parts if part.part_kind == kind)


def pattern_of(template: str) -> re.Pattern[str]:
    """Of a prompt with fields in braces: finds it in a text, with its fields as groups."""
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+?)", re.escape(template)))


def hands_over(value: Any) -> Uses:
    """An answer that is an object."""
    return Uses("final_result", value)


class FakeModels:
    """Models that think by a function; every request is written down."""

    prices = "none"

    def __init__(self, mind: Mind) -> None:
        self.mind = mind
        self.default = "fake:default"
        self.asked: list[Asked] = []
        self.chosen: list[tuple[str, Json]] = []

    @classmethod
    def saying(cls, *replies: Reply) -> FakeModels:
        """These, one after the other."""
        left = iter(replies)
        return cls(lambda _: next(left))

    def choose(
        self,
        name: str | None = None,
        settings: Mapping[str, Any] | None = None,
        call_context: ModelCallContext | None = None,
    ) -> ChosenModel:
        named = name or self.default
        self.chosen.append((named, dict(settings or {})))

        async def stream(
            messages: list[ModelMessage], info: AgentInfo
        ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
            asked = Asked(len(self.asked) + 1, named, messages, info)
            self.asked.append(asked)
            reply = self.mind(asked)
            if isinstance(reply, Awaitable):
                reply = await reply
            await asyncio.sleep(0)
            match reply:
                case Exception():
                    raise reply
                case str():
                    for start in range(0, max(len(reply), 1), 20):
                        yield reply[start : start + 20]
                case Uses():
                    yield _calls([reply])
                case _:
                    yield _calls(reply)

        return ChosenModel(
            named, FunctionModel(stream_function=stream), {"max_tokens": 1000}, named.startswith("simulated:")
        )

    def explain(self, error: BaseException, model: str) -> ModelError | None:
        return error if isinstance(error, ModelError) else None

    def cost(self, model: str, tokens: TokenUsage) -> Decimal | None:
        return Decimal("0.001") * tokens.output

    def ends_on(self, name: str) -> str | None:
        return None

    def providers(self) -> Sequence[ProviderState]:
        return ()

    async def try_out(self, name: str | None = None) -> ModelTest:
        raise NotImplementedError

    async def close(self) -> None:
        pass


def _calls(uses: Sequence[Uses]) -> dict[int, DeltaToolCall]:
    return {
        number: DeltaToolCall(
            one.tool,
            one.arguments if isinstance(one.arguments, str) else encode_json(one.arguments).decode(),
            tool_call_id=one.call_id or f"call-{uuid4().hex[:8]}",
        )
        for number, one in enumerate(uses)
    }


class Kept:
    """A conversation in memory, as it would be read again after a restart."""

    def __init__(self, said: Sequence[ConversationMessage] = ()) -> None:
        self.all = list(said)
        self.heard: list[MessageChunk] = []
        self.affordable = 1_000_000
        self.most: int | None = None  # messages that are kept before the process dies

    async def messages(self) -> Sequence[ConversationMessage]:
        # As a store gives it back.
        return [replace(one, message=decode_json(encode_json(one.message))) for one in self.all]

    async def save(self, *messages: ConversationMessage) -> None:
        if self.most is not None and len(self.all) + len(messages) > self.most:
            raise asyncio.CancelledError
        there = {(one.turn, one.number) for one in self.all}
        assert not there & {(one.turn, one.number) for one in messages}, messages
        self.all.extend(messages)

    def publish_chunk(self, chunk: MessageChunk) -> None:
        self.heard.append(chunk)

    async def check_budget(self) -> None:
        from cairn.ports.conversation import BudgetExhausted

        if self.affordable == 0:
            raise BudgetExhausted("The budget of 1 call is spent.")
        self.affordable -= 1

    @property
    def turns(self) -> list[str]:
        return list(dict.fromkeys(one.turn for one in self.all))


@dataclass
class Agents:
    """A folder, models and short ways to have a checkpoint carried out."""

    folder: Path
    models: FakeModels
    rules: AgentPolicy = field(default_factory=AgentPolicy)
    limits: RunnerLimits = field(default_factory=RunnerLimits)
    told: Told = field(default_factory=Told)
    kept: Kept = field(default_factory=Kept)
    resources: Json = field(default_factory=dict[str, Any])

    @property
    def runner(self) -> Runner:
        """As the registry makes it."""
        resources = AgentResources(self.models, self.limits, self.rules, **self.resources)
        return RunnerRegistry({ExecutionMode.AGENTIC: AgentRunner(resources)}, resources)

    def work(self, *outputs: Any, agent: Json | None = None, config: Json | None = None, **more: Any) -> WorkOrder:
        """A dispatch of an agentic checkpoint; the same folder each time."""
        workspace = self.folder / "exec" / "workspace"
        workspace.mkdir(parents=True, exist_ok=True)
        given: Json = {"prompt": "Do it.", **more.pop("given", {})}
        written = config or {"agent": {"name": "Writer", "system_prompt": "You write.", **(agent or {})}}
        definition = checkpoint(execution={"mode": "agentic", "agent_config": written}, outputs=list(outputs), **given)
        calls = more.pop("calls", ())
        made = work(definition, told=self.told, workspace=workspace, **more)
        return replace(made, conversation=self.kept, calls=calls)

    async def run(self, *outputs: Any, **more: Any) -> Outcome:
        return await self.runner.run(self.work(*outputs, **more))

    async def texts(self, *outputs: Any, **more: Any) -> dict[str, str]:
        """The artifacts that come out, by file name."""
        outcome = await self.run(*outputs, **more)
        assert isinstance(outcome, Produced), outcome
        return texts(outcome.artifacts)


def texts(artifacts: Sequence[ProducedFile | StoredFile]) -> dict[str, str]:
    return {f"{one.name}.{one.format}": one.read().decode() for one in artifacts}


def faulted(outcome: Outcome) -> tuple[str, str, bool]:
    assert isinstance(outcome, Errored), outcome
    return outcome.error.type, outcome.error.message, outcome.error.is_final
