"""Run one turn: an agent gets a task, calls tools, and answers or pauses until a person or rework answers a call.

This loop uses the models of the agent library. It saves each message as soon as it is complete, so an
interrupted turn resumes after its last message, even between two tool calls.
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
from pydantic_ai.models import StreamedResponse

from cairn.core.execution import Failure
from cairn.ports.conversation import Purpose
from cairn.ports.models import ChosenModel, ModelCatalogue, ModelError, ModelErrorKind
from cairn.runners.agents.answer_schema import FINAL_RESULT, AnswerSchema, request_parameters
from cairn.runners.agents.answers import AgentAnswer, UnreadableAnswer, read_answer
from cairn.runners.agents.toolbox import NO_TOOLS, Tool, Toolbox, ToolError, parse_arguments
from cairn.runners.agents.transcript import Transcript, TurnHistory, TurnKey, merge_requests, text_of
from cairn.runners.mismatches import Mismatch
from cairn.runners.processes.lifecycle import await_shielded
from cairn.runners.prompt_layouts import one_line

MAX_REQUESTS = 60  # model calls in one turn
MAX_CORRECTIONS = 2  # after these, an invalid answer is accepted and left to validation
CORRECTION = {"cairn": "correction"}  # marks a message that asks the model to correct its answer
CAIRN = "Cairn"  # the speaker of messages that no agent or checkpoint wrote
FINAL_ERRORS = frozenset(
    {
        ModelErrorKind.NOT_CONFIGURED,
        ModelErrorKind.AUTHENTICATION,
        ModelErrorKind.NOT_FOUND,
        ModelErrorKind.QUOTA,
        ModelErrorKind.CONTEXT_TOO_LONG,
        ModelErrorKind.REJECTED,
    }
)  # retrying would fail again

Log = Callable[[str, str, Mapping[str, Any] | None], None]
CheckAnswer = Callable[[AgentAnswer], Sequence[Mismatch]]


@dataclass(frozen=True, slots=True)
class Turn:
    """The prompts, model and tools of one turn, and the expected answer."""

    name: str
    speaker: str
    purpose: Purpose
    chosen: ChosenModel
    system: str
    prompt: str
    sender: str = CAIRN  # shown as the author of the prompt
    tools: Toolbox = NO_TOOLS
    schema: AnswerSchema | None = None  # None: the answer is text
    check: CheckAnswer | None = None  # further checks of an answer that matches its schema


@dataclass(frozen=True, slots=True)
class PendingToolCall:
    """A tool call whose result comes from outside this process."""

    turn: str
    tool: Tool
    arguments: dict[str, Any]
    call_site: Mapping[str, str]  # identifies the call after a restart


class TurnPaused(Exception):
    """The turn can't continue until a tool call has its result."""

    def __init__(self, call: PendingToolCall) -> None:
        super().__init__(f"{call.turn} waits for {call.tool.name}")
        self.call = call


@dataclass(slots=True)
class TurnLoop:
    """Runs turns and saves their messages in the transcript."""

    transcript: Transcript
    models: ModelCatalogue
    recorded_answer: Callable[[PendingToolCall], str | None] = field(default=lambda _: None)
    log: Log = field(default=lambda _level, _message, _details: None)

    async def run(self, turn: Turn) -> AgentAnswer:
        """Return the turn's answer, or continue the turn until it has one.

        Raises TurnPaused, ModelError and BudgetExhausted.
        """
        history = self.transcript.history(TurnKey(turn.name, turn.speaker, turn.purpose, turn.chosen))
        if not history.messages:
            system = ModelRequest(parts=[SystemPromptPart(turn.system)], conversation_id=str(uuid4()))
            task = ModelRequest(parts=[UserPromptPart(turn.prompt)])
            await self.transcript.save_opening(history, (system, task), turn.sender)
        for _ in range(MAX_REQUESTS):
            response = history.pending_answer or await self._ask(turn, history)
            answer = read_answer(response, turn.schema)
            if history.is_complete:
                return answer if isinstance(answer, AgentAnswer) else AgentAnswer(answer.text)
            if response.state == "suspended":
                continue  # the provider continues this response in the next request
            if any(call.tool_name != FINAL_RESULT for call in response.tool_calls):
                await self._call_tools(turn, history, response)
            elif mismatches := self._mismatches(turn, answer):
                await self._request_correction(turn, history, response, mismatches)
            elif isinstance(answer, AgentAnswer):
                return answer  # invalid when it was saved, but it passes the checks now
        raise ModelError(
            ModelErrorKind.BAD_ANSWER,
            f"{turn.speaker} did not finish within {MAX_REQUESTS} model calls. Make the task smaller or clearer.",
            model=turn.chosen.name,
        )

    # Model calls
    async def _ask(self, turn: Turn, history: TurnHistory) -> ModelResponse:
        await self.transcript.check_budget()
        started = monotonic()
        response = await self._request(turn, history)
        response.conversation_id = history.conversation_id
        is_last = self._completes(turn, history, response)
        await self.transcript.save_answer(history, response, monotonic() - started, is_last=is_last)
        self._raise_if_refused_or_cut(turn, response)
        return response

    async def _request(self, turn: Turn, history: TurnHistory) -> ModelResponse:
        parameters = request_parameters(turn.tools, turn.schema)
        settings = cast("Any", dict(turn.chosen.settings))
        stream: StreamedResponse | None = None
        try:
            async with model_request_stream(
                turn.chosen.model,
                merge_requests(history.messages),
                model_settings=settings,
                model_request_parameters=parameters,
            ) as stream:
                has_started = False
                async for event in stream:
                    is_first = isinstance(event, PartStartEvent) and event.index == 0
                    self._publish(history, event, restarts=is_first and has_started)
                    has_started = has_started or is_first
            response = stream.get()
        except asyncio.CancelledError:
            raise
        except Exception as error:
            explained = self.models.explain(error, turn.chosen.name)
            if explained is None:
                raise
            raise explained from error
        finally:
            if stream is not None and stream.failed_attempts:
                await await_shielded(self.transcript.save_interrupted(history, stream.failed_attempts))
        if response.state in ("interrupted", "incomplete"):
            raise ModelError(
                ModelErrorKind.NETWORK, "The connection was lost in the middle of an answer.", model=turn.chosen.name
            )
        return response

    def _publish(self, history: TurnHistory, event: Any, *, restarts: bool) -> None:
        match event:
            case PartStartEvent(part=TextPart(content=text)) | PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                kind = "text"
            case (
                PartStartEvent(part=ThinkingPart(content=text))
                | PartDeltaEvent(delta=ThinkingPartDelta(content_delta=text))
            ):
                kind = "thinking"
            case PartStartEvent(part=ToolCallPart(tool_name=text)):
                kind = "tool_call"
            case PartDeltaEvent(delta=ToolCallPartDelta(args_delta=str() as text)):
                kind = "tool_call"
            case _:
                return
        if text or restarts:
            self.transcript.publish_chunk(history, kind, text or "", restarts=restarts)

    def _raise_if_refused_or_cut(self, turn: Turn, response: ModelResponse) -> None:
        model = turn.chosen.name
        if response.finish_reason == "content_filter":
            text = text_of(response)[:300]
            raise ModelError(
                ModelErrorKind.REFUSAL,
                f"{model} refused to answer{f': {text}' if text else ''}. Change the task or choose another model.",
                model=model,
            )
        if response.finish_reason == "length":
            limit = turn.chosen.settings.get("max_tokens")
            tokens = f" of {limit:,} tokens" if isinstance(limit, int) else ""
            raise ModelError(
                ModelErrorKind.BAD_ANSWER,
                f"The answer of {model} exceeded its limit{tokens} and was cut off. Raise max_tokens, or ask for less"
                " at a time.",
                model=model,
            )

    # Checking answers
    def _completes(self, turn: Turn, history: TurnHistory, response: ModelResponse) -> bool:
        """Whether the response ends the turn: it is valid, or no corrections are left."""
        answer = read_answer(response, turn.schema)
        calls_tools = any(call.tool_name != FINAL_RESULT for call in response.tool_calls)
        if calls_tools or response.state == "suspended" or response.finish_reason in ("content_filter", "length"):
            return False
        if isinstance(answer, UnreadableAnswer) and answer.is_empty:
            return False
        return _corrections(history) >= MAX_CORRECTIONS or not self._mismatches(turn, answer)

    def _mismatches(self, turn: Turn, answer: AgentAnswer | UnreadableAnswer) -> Sequence[Mismatch]:
        if isinstance(answer, UnreadableAnswer):
            return (Mismatch("answer", answer.message),)
        return turn.check(answer) if turn.check is not None else ()

    async def _request_correction(
        self, turn: Turn, history: TurnHistory, response: ModelResponse, mismatches: Sequence[Mismatch]
    ) -> None:
        if _corrections(history) >= MAX_CORRECTIONS:
            message = f"{turn.chosen.name} returned no readable answer: {mismatches[0].message}."
            raise ModelError(ModelErrorKind.BAD_ANSWER, message, model=turn.chosen.name)
        lines = "\n".join(f"- {one_line(str(mismatch))}" for mismatch in mismatches)
        text = f"Your answer is not valid:\n{lines}\nReply again with the complete answer."
        parts: list[ModelRequestPart] = [
            ToolReturnPart(FINAL_RESULT, text, tool_call_id=call.tool_call_id, outcome="failed")
            for call in response.tool_calls
        ]
        request = ModelRequest(parts=parts or [UserPromptPart(text)], metadata=CORRECTION)
        await self.transcript.save_request(history, request, CAIRN)

    # Tools
    async def _call_tools(self, turn: Turn, history: TurnHistory, response: ModelResponse) -> None:
        """Run the calls of a response in order. Deferred calls come last, after the results of the others are saved."""
        results: list[ModelRequestPart] = []
        deferred: list[tuple[ToolCallPart, PendingToolCall]] = []
        for call in history.pending_calls(response):
            result = await self._call_tool(turn, history, call)
            if isinstance(result, PendingToolCall):
                deferred.append((call, result))
            else:
                results.append(result)
        if results:
            await self.transcript.save_request(history, ModelRequest(parts=results), _tool_names(results))
        answers: list[ModelRequestPart] = []
        for call, pending in deferred:
            answer = self.recorded_answer(pending)
            if answer is None:
                raise TurnPaused(pending)
            answers.append(ToolReturnPart(call.tool_name, answer, tool_call_id=call.tool_call_id))
        if answers:
            await self.transcript.save_request(history, ModelRequest(parts=answers), _tool_names(answers))

    async def _call_tool(
        self, turn: Turn, history: TurnHistory, call: ToolCallPart
    ) -> ToolReturnPart | PendingToolCall:
        name, call_id = call.tool_name, call.tool_call_id
        if name == FINAL_RESULT:
            text = f"Not accepted. Call {FINAL_RESULT} alone, after all other calls are done."
            return ToolReturnPart(name, text, tool_call_id=call_id, outcome="failed")
        try:
            tool = turn.tools.find(name)
            arguments = parse_arguments(tool, cast("Any", call.args))
            if tool.use is None:
                call_site = {"turn": turn.name, "tool_call_id": call_id, "conversation": history.conversation_id}
                return PendingToolCall(turn.name, tool, arguments, call_site)
            self.log("info", f"{turn.speaker} calls {name}.", {"tool": name, "arguments": _shortened(arguments)})
            return ToolReturnPart(name, await tool.use(arguments), tool_call_id=call_id)
        except ToolError as error:
            self.log("info", f"{turn.speaker} called {name}, which failed: {error}", {"tool": name})
            return ToolReturnPart(name, str(error), tool_call_id=call_id, outcome="failed")


def failure_of(error: ModelError) -> Failure:
    """The execution failure for a model error."""
    return Failure(error.kind.value, str(error), is_final=error.kind in FINAL_ERRORS)


def _corrections(history: TurnHistory) -> int:
    return sum(isinstance(message, ModelRequest) and message.metadata == CORRECTION for message in history.messages)


def _tool_names(parts: Sequence[ModelRequestPart]) -> str:
    return ", ".join(dict.fromkeys(part.tool_name for part in parts if isinstance(part, ToolReturnPart)))


def _shortened(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments with long texts truncated, for the log."""
    return {name: value[:200] if isinstance(value, str) else value for name, value in arguments.items()}
