"""The simulated model as the agent library sees it; imported only when it is chosen."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

from pydantic_ai import exceptions as e
from pydantic_ai.messages import (
    FinishReason,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.models.function import (
    AgentInfo,
    DeltaToolCall,
    DeltaToolCalls,
    FunctionModel,
    FunctionStreamedResponse,
)
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext, ToolDefinition
from pydantic_ai.usage import RequestUsage

from cairn.adapters.simulated_model.prompt_parser import ParsedPrompt
from cairn.adapters.simulated_model.responder import SimulatedReply, SimulatedRequest, think
from cairn.adapters.simulated_model.script import ScriptStep
from cairn.adapters.simulated_model.tool_calls import SimulatedTool, ToolUse
from cairn.ports.models import ModelErrorKind as Kind

PROFILE = ModelProfile(
    supports_json_schema_output=True, supports_json_object_output=True, supported_native_tools=frozenset()
)
PIECES = 20  # a second
AT_ONCE = 400  # characters of a piece, where nobody waits
HALF = '{"half'  # what cannot be read
_FAULTS: dict[Kind, tuple[Any, int]] = {
    Kind.AUTHENTICATION: (e.ModelAuthenticationError, 401),
    Kind.NOT_FOUND: (e.ModelNotFoundError, 404),
    Kind.QUOTA: (e.ModelQuotaExceededError, 402),
    Kind.RATE_LIMIT: (e.ModelRateLimitError, 429),
    Kind.OVERLOAD: (e.ModelOverloadedError, 529),
    Kind.CONTEXT_TOO_LONG: (e.ModelContextWindowExceededError, 400),
    Kind.REJECTED: (e.ModelRequestRejectedError, 400),
}
Steps = Callable[[str, Sequence[str]], ScriptStep | None]


@dataclass(frozen=True, slots=True)
class SimulatedAnswer:
    """All of it, before it is handed over."""

    text: str
    calls: tuple[tuple[str, str, str], ...]  # tool, arguments, id
    finish: FinishReason
    input_tokens: int
    fault: Exception | None = None
    after: int = 0  # characters that arrive before the fault

    @property
    def parts(self) -> list[TextPart | ToolCallPart]:
        said: list[TextPart | ToolCallPart] = [TextPart(self.text)] if self.text or not self.calls else []
        return [*said, *(ToolCallPart(name, given, tool_call_id=at) for name, given, at in self.calls)]


class SimulatedStream(FunctionStreamedResponse):
    @property
    def provider_name(self) -> Any:
        return "simulated"


class SimulatedModel(FunctionModel):
    _system = "simulated"

    def __init__(self, name: str, step: Steps, pace: float) -> None:
        """`step`: what a script says of a call, by its text and the tools used so far. `pace`: characters a second."""
        self._step = step
        self._pace = pace
        super().__init__(self._whole, model_name=name, profile=PROFILE)

    async def _whole(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        answer = await self._answer(messages, info.model_request_parameters)
        if answer.fault is not None:
            raise answer.fault
        written = len(answer.text) + sum(len(given) for _, given, _ in answer.calls)
        usage = RequestUsage(input_tokens=answer.input_tokens, output_tokens=written // 4 + 1)
        return ModelResponse(parts=answer.parts, usage=usage, finish_reason=answer.finish, provider_name="simulated")

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,  # noqa: ARG002 - the signature is the library's
    ) -> AsyncGenerator[StreamedResponse]:
        _, parameters = self.prepare_request(model_settings, model_request_parameters)
        answer = await self._answer(messages, parameters)
        if answer.fault is not None and not answer.after:
            raise answer.fault
        stream = SimulatedStream(parameters, self.model_name, self._pieces(answer))
        stream.finish_reason = answer.finish
        stream._usage = RequestUsage(input_tokens=answer.input_tokens)  # pyright: ignore[reportPrivateUsage]  # noqa: SLF001
        yield stream

    async def _pieces(self, answer: SimulatedAnswer) -> AsyncIterator[str | DeltaToolCalls]:
        """At the pace that people read at."""
        size = max(int(self._pace / PIECES), 4) if self._pace else AT_ONCE
        left = answer.after if answer.fault is not None else None
        for made, length in _cut(answer, size):
            if left is not None and left <= 0 and answer.fault is not None:
                raise answer.fault
            yield made
            left = None if left is None else left - length
            await asyncio.sleep(length / self._pace if self._pace else 0)
        if answer.fault is not None:
            raise answer.fault

    async def _answer(self, messages: list[ModelMessage], parameters: ModelRequestParameters) -> SimulatedAnswer:
        """In a thread: a schema may take a while."""
        return await asyncio.to_thread(self._think, messages, parameters)

    def _think(self, messages: list[ModelMessage], parameters: ModelRequestParameters) -> SimulatedAnswer:
        asked = read(messages, parameters)
        given = "\n".join((asked.reading.system, *asked.reading.prompts))
        step = self._step(given, asked.names_used)
        fails = step.fail if step is not None else None
        tokens = (len(given) + sum(len(str(one.arguments)) for one in asked.used)) // 4 + 1
        if fails is Kind.REFUSAL:
            return SimulatedAnswer("I cannot help with that.", (), "content_filter", tokens)
        reply = think(asked, step)
        calls = _calls(reply, asked, messages)
        if fails is Kind.BAD_ANSWER:
            calls = tuple((name, HALF, at) for name, _, at in calls)
            return SimulatedAnswer("" if calls else HALF, calls, "stop", tokens)
        is_text = reply.output is not None and not calls
        text = json.dumps(reply.output[0], ensure_ascii=False) if reply.output and is_text else reply.text
        fault = _fault(step, self.model_name) if step is not None and step.fail is not None else None
        return SimulatedAnswer(text, calls, "tool_call" if calls else "stop", tokens, fault, step.after if step else 0)


def _calls(
    reply: SimulatedReply, asked: SimulatedRequest, messages: Sequence[ModelMessage]
) -> tuple[tuple[str, str, str], ...]:
    made = [(use.tool, use.arguments) for use in reply.uses]
    if reply.output is not None and asked.output is not None and asked.output.name:
        made.append((asked.output.name, reply.output[0]))
    digest = _digest(messages) if made else ""
    return tuple(
        (name, json.dumps(given, ensure_ascii=False), f"simulated_{digest}_{number}")
        for number, (name, given) in enumerate(made, 1)
    )


def _cut(answer: SimulatedAnswer, size: int) -> Iterator[tuple[str | DeltaToolCalls, int]]:
    for at in range(0, len(answer.text), size) if answer.text else (0,) if not answer.calls else ():
        piece = answer.text[at : at + size]
        yield piece, len(piece)
    for number, (name, given, call_id) in enumerate(answer.calls):
        yield {number: DeltaToolCall(name=name, tool_call_id=call_id)}, 0
        for at in range(0, len(given), size):
            piece = given[at : at + size]
            yield {number: DeltaToolCall(json_args=piece)}, len(piece)


def _fault(step: ScriptStep, model: str) -> Exception:
    kind = cast("Kind", step.fail)
    if kind is Kind.NETWORK:
        return e.ModelConnectionError(model, "as the script of the simulation says")
    if kind is Kind.TIMEOUT:
        return e.ModelTimeoutError(model, "as the script of the simulation says")
    category, status = _FAULTS[kind]
    body = {"error": {"message": "as the script of the simulation says"}}
    return e.ModelHTTPError.for_category(
        category, status_code=status, model_name=model, body=body, retry_after=step.retry_after
    )


# ---- what is asked -------------------------------------------------------------------------------------------
def read(messages: Sequence[ModelMessage], parameters: ModelRequestParameters) -> SimulatedRequest:
    system: list[str] = []
    prompts: list[str] = []
    used: list[ToolUse] = []
    results: list[str] = []
    for message in messages:
        if isinstance(message, ModelResponse):
            used += [ToolUse(call.tool_name, _arguments(call)) for call in message.tool_calls]
            continue
        if message.instructions:
            system.append(message.instructions)
        for part in message.parts:
            if isinstance(part, SystemPromptPart):
                system.append(part.content)
            elif isinstance(part, UserPromptPart):
                prompts.append(_text(part))
            elif isinstance(part, ToolReturnPart):
                results.append(part.model_response_str())
    failed = _failed(messages)
    return SimulatedRequest(
        reading=ParsedPrompt("\n\n".join(dict.fromkeys(system)), tuple(prompts), tuple(results)),
        tools=[_tool(one) for one in parameters.function_tools],
        output=_output(parameters),
        used=[one for one, is_failed in zip(used, failed, strict=True) if not is_failed],
    )


def _failed(messages: Sequence[ModelMessage]) -> list[bool]:
    """Which calls did not work, in the order of the calls."""
    returned = {
        part.tool_call_id: part.outcome != "success"
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    }
    calls = [call for message in messages if isinstance(message, ModelResponse) for call in message.tool_calls]
    return [returned.get(call.tool_call_id, False) and call.tool_name == "final_result" for call in calls]


def _text(part: UserPromptPart) -> str:
    if isinstance(part.content, str):
        return part.content
    return "\n".join(one for one in part.content if isinstance(one, str))


def _arguments(call: ToolCallPart) -> dict[str, Any]:
    try:
        return call.args_as_dict()
    except (ValueError, AssertionError):
        return {}


def _tool(defined: ToolDefinition) -> SimulatedTool:
    return SimulatedTool(defined.name, defined.description or "", defined.parameters_json_schema)


def _output(parameters: ModelRequestParameters) -> SimulatedTool | None:
    """The form of the answer: by a tool, or as the text itself, which has no name."""
    if parameters.output_tools:
        return _tool(parameters.output_tools[0])
    shape = parameters.output_object
    if shape is None or parameters.allow_text_output:
        return None
    return SimulatedTool("", shape.description or "", shape.json_schema)


def _digest(messages: Sequence[ModelMessage]) -> str:
    """The same for the same messages, whenever they were made."""
    written = ModelMessagesTypeAdapter.dump_python(list(messages), mode="json", exclude_none=True)
    for message in written:
        message.pop("timestamp", None)
        for part in message.get("parts", ()):
            part.pop("timestamp", None)
    text = json.dumps([one.get("parts") for one in written], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:10]
