"""Agents for tests: the real runner with fake models whose replies the test defines."""

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
from cairn.ports import Errored, Outcome, Produced, ProducedFile, RecordedCall, Runner, StoredFile, WorkOrder
from cairn.ports.conversation import ConversationMessage, InterruptedCall, MessageChunk
from cairn.ports.models import ChosenModel, ModelCallContext, ModelError, ModelTest, ProviderState, TokenUsage
from cairn.runners.agents.policy import AgentPolicy
from cairn.runners.agents.resources import AgentResources
from cairn.runners.agents.runner import AgentRunner
from cairn.runners.limits import RunnerLimits
from cairn.runners.registry import RunnerRegistry
from tests.runners.work_orders import WorkOutput, checkpoint, work

Json = dict[str, Any]


@dataclass(frozen=True)
class ToolCall:
    """A reply that calls a tool."""

    tool: str
    arguments: Json | str
    call_id: str | None = None


Reply = str | ToolCall | Sequence[ToolCall] | Exception
Responder = Callable[["ReceivedRequest"], Reply | Awaitable[Reply]]


@dataclass(frozen=True)
class ReceivedRequest:
    """A request that a fake model has received."""

    number: int  # among all requests to the models of the test
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
        """The last message: a task, a correction, or tool results."""
        last = self.messages[-1]
        assert isinstance(last, ModelRequest)
        return "\n".join(str(getattr(part, "content", "")) for part in last.parts)

    @property
    def results(self) -> list[str]:
        """All tool results so far."""
        requests = (message for message in self.messages if isinstance(message, ModelRequest))
        return [str(part.content) for request in requests for part in request.parts if isinstance(part, ToolReturnPart)]

    @property
    def answers(self) -> int:
        """How many answers this turn has already."""
        return sum(isinstance(message, ModelResponse) for message in self.messages)

    @property
    def tools(self) -> list[str]:
        return [tool.name for tool in self.info.function_tools]

    @property
    def schema(self) -> Json | None:
        """The schema of the requested object."""
        return self.info.output_tools[0].parameters_json_schema if self.info.output_tools else None


def _text(message: ModelMessage, kind: str) -> str:
    return "\n\n".join(str(getattr(part, "content", "")) for part in message.parts if part.part_kind == kind)


def template_pattern(template: str) -> re.Pattern[str]:
    """A pattern that finds a prompt template in a text, with the template's fields as groups."""
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+?)", re.escape(template)))


def final_result(value: Any) -> ToolCall:
    """A reply that returns an object."""
    return ToolCall("final_result", value)


class FakeModels:
    """Models that reply with a function and record every request."""

    prices = "none"

    def __init__(self, respond: Responder) -> None:
        self.respond = respond
        self.default = "fake:default"
        self.unpriced: frozenset[str] = frozenset()
        self.requests: list[ReceivedRequest] = []
        self.chosen: list[tuple[str, Json]] = []

    @classmethod
    def replying(cls, *replies: Reply) -> FakeModels:
        """Give these replies in order."""
        left = iter(replies)
        return cls(lambda _: next(left))

    def choose(
        self,
        name: str | None = None,
        settings: Mapping[str, Any] | None = None,
        call_context: ModelCallContext | None = None,
    ) -> ChosenModel:
        model = name or self.default
        self.chosen.append((model, dict(settings or {})))

        async def stream(
            messages: list[ModelMessage], info: AgentInfo
        ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
            request = ReceivedRequest(len(self.requests) + 1, model, messages, info)
            self.requests.append(request)
            reply = self.respond(request)
            if isinstance(reply, Awaitable):
                reply = await reply
            await asyncio.sleep(0)
            match reply:
                case Exception():
                    raise reply
                case str():
                    for start in range(0, max(len(reply), 1), 20):
                        yield reply[start : start + 20]
                case ToolCall():
                    yield _calls([reply])
                case _:
                    yield _calls(reply)

        return ChosenModel(
            model, FunctionModel(stream_function=stream), {"max_tokens": 1000}, model.startswith("simulated:")
        )

    def explain(self, error: BaseException, model: str) -> ModelError | None:
        return error if isinstance(error, ModelError) else None

    def cost(self, model: str, tokens: TokenUsage) -> Decimal | None:
        return Decimal("0.001") * tokens.output

    def unpriced_models(self, name: str | None = None, settings: Mapping[str, Any] | None = None) -> Sequence[str]:
        model = name or self.default
        return [model] if model in self.unpriced else []

    def retirement_date(self, name: str) -> str | None:
        return None

    def providers(self) -> Sequence[ProviderState]:
        return ()

    async def test(self, name: str | None = None) -> ModelTest:
        raise NotImplementedError

    async def close(self) -> None:
        pass


def _calls(uses: Sequence[ToolCall]) -> dict[int, DeltaToolCall]:
    return {
        number: DeltaToolCall(
            use.tool,
            use.arguments if isinstance(use.arguments, str) else encode_json(use.arguments).decode(),
            tool_call_id=use.call_id or f"call-{uuid4().hex[:8]}",
        )
        for number, use in enumerate(uses)
    }


class FakeConversation:
    """A conversation in memory. Messages are read as they would be after a restart."""

    def __init__(self, messages: Sequence[ConversationMessage] = ()) -> None:
        self.saved = list(messages)
        self.interrupted: list[InterruptedCall] = []
        self.chunks: list[MessageChunk] = []
        self.calls_left = 1_000_000
        self.max_messages: int | None = None  # saving more simulates the death of the process

    async def messages(self) -> Sequence[ConversationMessage]:
        # Encoded and decoded, as in the database.
        return [replace(message, message=decode_json(encode_json(message.message))) for message in self.saved]

    async def save(self, *messages: ConversationMessage) -> None:
        if self.max_messages is not None and len(self.saved) + len(messages) > self.max_messages:
            raise asyncio.CancelledError
        existing = {(message.turn, message.number) for message in self.saved}
        assert not existing & {(message.turn, message.number) for message in messages}, messages
        self.saved.extend(messages)

    async def save_interrupted(self, *calls: InterruptedCall) -> None:
        self.interrupted.extend(calls)

    def publish_chunk(self, chunk: MessageChunk) -> None:
        self.chunks.append(chunk)

    async def check_budget(self) -> None:
        from cairn.ports.conversation import BudgetExhausted

        if self.calls_left == 0:
            raise BudgetExhausted("The budget of 1 call is spent.")
        self.calls_left -= 1

    @property
    def turns(self) -> list[str]:
        return list(dict.fromkeys(message.turn for message in self.saved))


@dataclass
class AgentBench:
    """Runs agentic checkpoints in a folder with fake models."""

    folder: Path
    models: FakeModels
    policy: AgentPolicy = field(default_factory=AgentPolicy)
    limits: RunnerLimits = field(default_factory=RunnerLimits)
    logs: WorkOutput = field(default_factory=WorkOutput)
    conversation: FakeConversation = field(default_factory=FakeConversation)
    resources: Json = field(default_factory=dict[str, Any])

    @property
    def runner(self) -> Runner:
        """The runner as the registry creates it."""
        resources = AgentResources(self.models, self.limits, self.policy, **self.resources)
        return RunnerRegistry({ExecutionMode.AGENTIC: AgentRunner(resources)}, resources)

    def work(
        self,
        *outputs: Any,
        agent: Json | None = None,
        config: Json | None = None,
        fields: Json | None = None,
        calls: tuple[RecordedCall, ...] = (),
        **more: Any,
    ) -> WorkOrder:
        """A work order for an agentic checkpoint with these further `fields`, in the same folder each time."""
        workspace = self.folder / "exec" / "workspace"
        workspace.mkdir(parents=True, exist_ok=True)
        agent_config = config or {"agent": {"name": "Writer", "system_prompt": "You write.", **(agent or {})}}
        execution = {"mode": "agentic", "agent_config": agent_config}
        definition = checkpoint(execution=execution, outputs=list(outputs), **{"prompt": "Do it.", **(fields or {})})
        order = work(definition, output=self.logs, workspace=workspace, **more)
        return replace(order, conversation=self.conversation, calls=calls)

    async def run(self, *outputs: Any, **more: Any) -> Outcome:
        return await self.runner.run(self.work(*outputs, **more))

    async def texts(self, *outputs: Any, **more: Any) -> dict[str, str]:
        """Run the checkpoint and return its artifacts by file name."""
        outcome = await self.run(*outputs, **more)
        assert isinstance(outcome, Produced), outcome
        return texts(outcome.artifacts)


def texts(artifacts: Sequence[ProducedFile | StoredFile]) -> dict[str, str]:
    return {f"{artifact.name}.{artifact.format}": artifact.read().decode() for artifact in artifacts}


def failure_of(outcome: Outcome) -> tuple[str, str, bool]:
    assert isinstance(outcome, Errored), outcome
    return outcome.error.type, outcome.error.message, outcome.error.is_final
