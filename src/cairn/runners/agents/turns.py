"""One turn: an agent speaks once, uses its tools on the way, and comes to an answer or has to wait for others.

The loop is our own, over the agent library's models: each message is kept as soon as it is whole, so that a turn
that was broken off goes on after its last message, in the middle of tool calls too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, cast
from uuid import uuid4

from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    SystemPromptPart,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
    ToolReturnPart,
    UserPromptPart,
)

from cairn.ports.conversation import Purpose
from cairn.ports.models import ChosenModel, ModelCatalogue, ModelError, ModelErrorKind
from cairn.runners.agents.answer_schema import FINAL_RESULT, AnswerSchema, parameters_of
from cairn.runners.agents.answers import AgentAnswer, UnreadableAnswer, read_answer
from cairn.runners.agents.toolbox import NO_TOOLS, Tool, Toolbox, ToolError, arguments
from cairn.runners.agents.transcript import Transcript, TurnHistory, TurnKey, merged, spoken
from cairn.runners.mismatches import Mismatch
from cairn.runners.prompt_layouts import one_line

MOST_REQUESTS = 60  # in one turn
MOST_CORRECTIONS = 2  # of an answer that does not fit; then it is taken as it is, and judged
CORRECTS = {"cairn": "correction"}  # marks a message that asks for a better answer
HOUSE = "Cairn"  # who speaks where nobody else does

Log = Callable[[str, str, Mapping[str, Any] | None], None]
Check = Callable[[AgentAnswer], Sequence[Mismatch]]


@dataclass(frozen=True, slots=True)
class Turn:
    name: str
    speaker: str
    purpose: Purpose
    chosen: ChosenModel
    system: str
    prompt: str
    given_by: str = HOUSE  # who gives it what it is told
    tools: Toolbox = NO_TOOLS
    shape: AnswerSchema | None = None  # of the answer; None: words
    check: Check | None = None  # what is wrong with an answer that has its shape


@dataclass(frozen=True, slots=True)
class PendingToolCall:
    """A call that others have to answer."""

    turn: str
    tool: Tool
    arguments: dict[str, Any]
    place: Mapping[str, str]  # by which the call is known again


class TurnPaused(Exception):
    """The turn cannot go on before this is answered."""

    def __init__(self, waiting: PendingToolCall) -> None:
        super().__init__(f"{waiting.turn} waits for {waiting.tool.name}")
        self.waiting = waiting


@dataclass(slots=True)
class TurnLoop:
    """Where turns are held: what is kept, who is asked, and what others have answered so far."""

    minutes: Transcript
    models: ModelCatalogue
    answered: Callable[[PendingToolCall], str | None] = field(default=lambda _: None)
    log: Log = field(default=lambda _level, _message, _details: None)

    async def hold(self, turn: Turn) -> AgentAnswer:
        """The answer of the turn, from now or from before. Raises Pauses, ModelFault and BudgetSpent."""
        history = self.minutes.of(TurnKey(turn.name, turn.speaker, turn.purpose, turn.chosen))
        if not history.messages:
            system = ModelRequest(parts=[SystemPromptPart(turn.system)], conversation_id=str(uuid4()))
            task = ModelRequest(parts=[UserPromptPart(turn.prompt)])
            await self.minutes.keep_opening(history, (system, task), turn.given_by)
        for _ in range(MOST_REQUESTS):
            response = history.open_answer or await self._ask(turn, history)
            answer = read_answer(response, turn.shape)
            if history.is_over:
                return answer if isinstance(answer, AgentAnswer) else AgentAnswer(answer.text)
            if response.state == "suspended":
                continue  # the provider goes on when it is asked again
            if any(call.tool_name != FINAL_RESULT for call in response.tool_calls):
                await self._use_tools(turn, history, response)
            elif faults := self._faults(turn, answer):
                await self._correct(turn, history, response, faults)
            elif isinstance(answer, AgentAnswer):
                return answer  # it has come to fit since it was kept
        raise ModelError(
            ModelErrorKind.BAD_ANSWER,
            f"{turn.speaker} has not come to an end in {MOST_REQUESTS} calls. Make the task smaller or clearer.",
            model=turn.chosen.name,
        )

    # ---- asking the model ----------------------------------------------------------------------------------
    async def _ask(self, turn: Turn, history: TurnHistory) -> ModelResponse:
        await self.minutes.check_budget()
        since = monotonic()
        response = await self._request(turn, history)
        response.conversation_id = history.conversation_id
        is_last = self._is_end(turn, history, response)
        await self.minutes.keep_answer(history, response, monotonic() - since, is_last=is_last)
        self._check_whole(turn, response)
        return response

    async def _request(self, turn: Turn, history: TurnHistory) -> ModelResponse:
        parameters = parameters_of(turn.tools, turn.shape)
        settings = cast("Any", dict(turn.chosen.settings))
        try:
            async with model_request_stream(
                turn.chosen.model,
                merged(history.messages),
                model_settings=settings,
                model_request_parameters=parameters,
            ) as stream:
                begun = False
                async for event in stream:
                    begins = isinstance(event, PartStartEvent) and event.index == 0
                    self._hear(history, event, anew=begins and begun)
                    begun = begun or begins
            response = stream.get()
        except asyncio.CancelledError:
            raise
        except Exception as error:
            fault = self.models.explain(error, turn.chosen.name)
            if fault is None:
                raise
            raise fault from error
        if response.state in ("interrupted", "incomplete"):
            raise ModelError(
                ModelErrorKind.NETWORK, "The connection broke off in the middle of an answer.", model=turn.chosen.name
            )
        return response

    def _hear(self, history: TurnHistory, event: Any, *, anew: bool) -> None:
        match event:
            case (
                PartStartEvent(part=TextPart(content=piece)) | PartDeltaEvent(delta=TextPartDelta(content_delta=piece))
            ):
                kind = "text"
            case (
                PartStartEvent(part=ThinkingPart(content=piece))
                | PartDeltaEvent(delta=ThinkingPartDelta(content_delta=piece))
            ):
                kind = "thinking"
            case PartStartEvent(part=ToolCallPart(tool_name=piece)):
                kind = "tool_call"
            case PartDeltaEvent(delta=ToolCallPartDelta(args_delta=str() as piece)):
                kind = "tool_call"
            case _:
                return
        if piece or anew:
            self.minutes.publish_chunk(history, kind, piece or "", anew=anew)

    def _check_whole(self, turn: Turn, response: ModelResponse) -> None:
        model = turn.chosen.name
        if response.finish_reason == "content_filter":
            told = spoken(response)[:300]
            raise ModelError(
                ModelErrorKind.REFUSAL,
                f"{model} refused to answer{f': {told}' if told else ''}. Change the task or take another model.",
                model=model,
            )
        if response.finish_reason == "length":
            limit = turn.chosen.settings.get("max_tokens")
            most = f" of {limit:,} tokens" if isinstance(limit, int) else ""
            raise ModelError(
                ModelErrorKind.BAD_ANSWER,
                f"The answer of {model} was longer than its limit{most} and was cut off. Raise max_tokens, or ask for"
                " less at a time.",
                model=model,
            )

    # ---- looking at the answer ------------------------------------------------------------------------------
    def _is_end(self, turn: Turn, history: TurnHistory, response: ModelResponse) -> bool:
        """Whether the turn is over with it: it has all that was asked for, or will not get better."""
        answer = read_answer(response, turn.shape)
        others = any(call.tool_name != FINAL_RESULT for call in response.tool_calls)
        if others or response.state == "suspended" or response.finish_reason in ("content_filter", "length"):
            return False
        if isinstance(answer, UnreadableAnswer) and answer.is_empty:
            return False
        return _corrections(history) >= MOST_CORRECTIONS or not self._faults(turn, answer)

    def _faults(self, turn: Turn, answer: AgentAnswer | UnreadableAnswer) -> Sequence[Mismatch]:
        if isinstance(answer, UnreadableAnswer):
            return (Mismatch("answer", answer.message),)
        return turn.check(answer) if turn.check is not None else ()

    async def _correct(
        self, turn: Turn, history: TurnHistory, response: ModelResponse, faults: Sequence[Mismatch]
    ) -> None:
        """Say what does not fit."""
        if _corrections(history) >= MOST_CORRECTIONS:
            told = f"{turn.chosen.name} gives no answer that can be read: {faults[0].message}."
            raise ModelError(ModelErrorKind.BAD_ANSWER, told, model=turn.chosen.name)
        lines = "\n".join(f"- {one_line(str(fault))}" for fault in faults)
        told = f"That does not fit yet:\n{lines}\nAnswer once more, whole."
        parts: list[ModelRequestPart] = [
            ToolReturnPart(FINAL_RESULT, told, tool_call_id=call.tool_call_id, outcome="failed")
            for call in response.tool_calls
        ]
        request = ModelRequest(parts=parts or [UserPromptPart(told)], metadata=CORRECTS)
        await self.minutes.keep_request(history, request, HOUSE)

    # ---- tools -----------------------------------------------------------------------------------------------
    async def _use_tools(self, turn: Turn, history: TurnHistory, response: ModelResponse) -> None:
        """What was called, one after the other. Those that others answer come last."""
        parts: list[ModelRequestPart] = []
        waiting: list[tuple[ToolCallPart, PendingToolCall]] = []
        for call in history.unanswered(response):
            found = await self._use(turn, history, call)
            if isinstance(found, PendingToolCall):
                waiting.append((call, found))
            else:
                parts.append(found)
        if parts:
            await self.minutes.keep_request(history, ModelRequest(parts=parts), _tools(parts))
        answers: list[ModelRequestPart] = []
        for call, one in waiting:
            answer = self.answered(one)
            if answer is None:
                raise TurnPaused(one)
            answers.append(ToolReturnPart(call.tool_name, answer, tool_call_id=call.tool_call_id))
        if answers:
            await self.minutes.keep_request(history, ModelRequest(parts=answers), _tools(answers))

    async def _use(self, turn: Turn, history: TurnHistory, call: ToolCallPart) -> ToolReturnPart | PendingToolCall:
        name, at = call.tool_name, call.tool_call_id
        if name == FINAL_RESULT:
            told = "Not taken: call it alone, when the other calls are done."
            return ToolReturnPart(name, told, tool_call_id=at, outcome="failed")
        try:
            tool = turn.tools.find(name)
            given = arguments(tool, cast("Any", call.args))
            if tool.use is None:
                place = {"turn": turn.name, "tool_call_id": at, "conversation": history.conversation_id}
                return PendingToolCall(turn.name, tool, given, place)
            self.log("info", f"{turn.speaker} uses {name}.", {"tool": name, "arguments": _short(given)})
            return ToolReturnPart(name, await tool.use(given), tool_call_id=at)
        except ToolError as refusal:
            self.log("info", f"{turn.speaker} could not use {name}: {refusal}", {"tool": name})
            return ToolReturnPart(name, str(refusal), tool_call_id=at, outcome="failed")


def _corrections(history: TurnHistory) -> int:
    return sum(isinstance(one, ModelRequest) and one.metadata == CORRECTS for one in history.messages)


def _tools(parts: Sequence[ModelRequestPart]) -> str:
    return ", ".join(dict.fromkeys(part.tool_name for part in parts if isinstance(part, ToolReturnPart)))


def _short(given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as a line of a log shows them."""
    return {name: value[:200] if isinstance(value, str) else value for name, value in given.items()}
