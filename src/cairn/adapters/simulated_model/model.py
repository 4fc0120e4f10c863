"""The simulated model as a pydantic-ai model. Imported only when the model is chosen."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

from pydantic_ai import exceptions
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
from cairn.adapters.simulated_model.responder import SimulatedReply, SimulatedRequest, respond
from cairn.adapters.simulated_model.script import ScriptStep
from cairn.adapters.simulated_model.tool_calls import SimulatedTool, ToolUse
from cairn.ports.models import ModelErrorKind as Kind

PROFILE = ModelProfile(
    supports_json_schema_output=True, supports_json_object_output=True, supported_native_tools=frozenset()
)
CHUNKS_PER_SECOND = 20
UNDELAYED_CHUNK_SIZE = 400
INVALID_JSON = '{"half'
SCRIPTED_ERROR = "requested by the simulation script"
_HTTP_ERRORS: dict[Kind, tuple[Any, int]] = {
    Kind.AUTHENTICATION: (exceptions.ModelAuthenticationError, 401),
    Kind.NOT_FOUND: (exceptions.ModelNotFoundError, 404),
    Kind.QUOTA: (exceptions.ModelQuotaExceededError, 402),
    Kind.RATE_LIMIT: (exceptions.ModelRateLimitError, 429),
    Kind.OVERLOAD: (exceptions.ModelOverloadedError, 529),
    Kind.CONTEXT_TOO_LONG: (exceptions.ModelContextWindowExceededError, 400),
    Kind.REJECTED: (exceptions.ModelRequestRejectedError, 400),
}
MatchingStep = Callable[[str, Sequence[str]], ScriptStep | None]


@dataclass(frozen=True, slots=True)
class SimulatedAnswer:
    """The complete answer, before it is streamed."""

    text: str
    calls: tuple[tuple[str, str, str], ...]  # tool, arguments, id
    finish_reason: FinishReason
    input_tokens: int
    error: Exception | None = None
    error_after: int = 0  # characters that are streamed before the error

    @property
    def parts(self) -> list[TextPart | ToolCallPart]:
        text: list[TextPart | ToolCallPart] = [TextPart(self.text)] if self.text or not self.calls else []
        return [*text, *(ToolCallPart(name, arguments, tool_call_id=id_) for name, arguments, id_ in self.calls)]


class SimulatedStream(FunctionStreamedResponse):
    @property
    def provider_name(self) -> Any:
        return "simulated"


class SimulatedModel(FunctionModel):
    _system = "simulated"

    def __init__(self, name: str, matching_step: MatchingStep, chars_per_second: float) -> None:
        """`matching_step` returns the script step for a prompt and the tools used so far."""
        self._matching_step = matching_step
        self._chars_per_second = chars_per_second
        super().__init__(self._respond, model_name=name, profile=PROFILE)

    async def _respond(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        answer = await self._answer(messages, info.model_request_parameters)
        if answer.error is not None:
            raise answer.error
        length = len(answer.text) + sum(len(arguments) for _, arguments, _ in answer.calls)
        usage = RequestUsage(input_tokens=answer.input_tokens, output_tokens=length // 4 + 1)
        return ModelResponse(
            parts=answer.parts, usage=usage, finish_reason=answer.finish_reason, provider_name="simulated"
        )

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
        if answer.error is not None and not answer.error_after:
            raise answer.error
        stream = SimulatedStream(parameters, self.model_name, self._stream(answer))
        stream.finish_reason = answer.finish_reason
        stream._usage = RequestUsage(input_tokens=answer.input_tokens)  # pyright: ignore[reportPrivateUsage]  # noqa: SLF001
        yield stream

    async def _stream(self, answer: SimulatedAnswer) -> AsyncIterator[str | DeltaToolCalls]:
        rate = self._chars_per_second
        size = max(int(rate / CHUNKS_PER_SECOND), 4) if rate else UNDELAYED_CHUNK_SIZE
        remaining = answer.error_after if answer.error is not None else None
        for chunk, length in _chunks(answer, size):
            if remaining is not None and remaining <= 0 and answer.error is not None:
                raise answer.error
            yield chunk
            remaining = None if remaining is None else remaining - length
            await asyncio.sleep(length / rate if rate else 0)
        if answer.error is not None:
            raise answer.error

    async def _answer(self, messages: list[ModelMessage], parameters: ModelRequestParameters) -> SimulatedAnswer:
        """Build the answer in a thread, because a complex schema takes time."""
        return await asyncio.to_thread(self._build_answer, messages, parameters)

    def _build_answer(self, messages: list[ModelMessage], parameters: ModelRequestParameters) -> SimulatedAnswer:
        request = parse_request(messages, parameters)
        prompt_text = "\n".join((request.prompt.system, *request.prompt.user_prompts))
        step = self._matching_step(prompt_text, request.used_tools)
        kind = step.fail if step is not None else None
        input_tokens = (len(prompt_text) + sum(len(str(use.arguments)) for use in request.tool_uses)) // 4 + 1
        if kind is Kind.REFUSAL:
            return SimulatedAnswer("I can't help with that.", (), "content_filter", input_tokens)
        reply = respond(request, step)
        calls = _calls(reply, request, messages)
        if kind is Kind.BAD_ANSWER:
            calls = tuple((name, INVALID_JSON, id_) for name, _, id_ in calls)
            return SimulatedAnswer("" if calls else INVALID_JSON, calls, "stop", input_tokens)
        is_json_text = reply.output is not None and not calls
        text = json.dumps(reply.output[0], ensure_ascii=False) if reply.output and is_json_text else reply.text
        error = _error(step, self.model_name) if step is not None and step.fail is not None else None
        finish_reason: FinishReason = "tool_call" if calls else "stop"
        return SimulatedAnswer(text, calls, finish_reason, input_tokens, error, step.after if step else 0)


def _calls(
    reply: SimulatedReply, request: SimulatedRequest, messages: Sequence[ModelMessage]
) -> tuple[tuple[str, str, str], ...]:
    calls = [(use.tool, use.arguments) for use in reply.tool_uses]
    if reply.output is not None and request.output is not None and request.output.name:
        calls.append((request.output.name, reply.output[0]))
    digest = _digest(messages) if calls else ""
    return tuple(
        (name, json.dumps(arguments, ensure_ascii=False), f"simulated_{digest}_{number}")
        for number, (name, arguments) in enumerate(calls, 1)
    )


def _chunks(answer: SimulatedAnswer, size: int) -> Iterator[tuple[str | DeltaToolCalls, int]]:
    """Yield each chunk with its number of characters."""
    for start in range(0, len(answer.text), size) if answer.text else (0,) if not answer.calls else ():
        chunk = answer.text[start : start + size]
        yield chunk, len(chunk)
    for number, (name, arguments, call_id) in enumerate(answer.calls):
        yield {number: DeltaToolCall(name=name, tool_call_id=call_id)}, 0
        for start in range(0, len(arguments), size):
            chunk = arguments[start : start + size]
            yield {number: DeltaToolCall(json_args=chunk)}, len(chunk)


def _error(step: ScriptStep, model: str) -> Exception:
    kind = cast("Kind", step.fail)
    if kind is Kind.NETWORK:
        return exceptions.ModelConnectionError(model, SCRIPTED_ERROR)
    if kind is Kind.TIMEOUT:
        return exceptions.ModelTimeoutError(model, SCRIPTED_ERROR)
    category, status = _HTTP_ERRORS[kind]
    body = {"error": {"message": SCRIPTED_ERROR}}
    return exceptions.ModelHTTPError.for_category(
        category, status_code=status, model_name=model, body=body, retry_after=step.retry_after
    )


# Requests
def parse_request(messages: Sequence[ModelMessage], parameters: ModelRequestParameters) -> SimulatedRequest:
    system: list[str] = []
    user_prompts: list[str] = []
    tool_uses: list[ToolUse] = []
    tool_results: list[str] = []
    for message in messages:
        if isinstance(message, ModelResponse):
            tool_uses += [ToolUse(call.tool_name, _arguments(call)) for call in message.tool_calls]
            continue
        if message.instructions:
            system.append(message.instructions)
        for part in message.parts:
            if isinstance(part, SystemPromptPart):
                system.append(part.content)
            elif isinstance(part, UserPromptPart):
                user_prompts.append(_text(part))
            elif isinstance(part, ToolReturnPart):
                tool_results.append(part.model_response_str())
    is_rejected = _rejected_outputs(messages)
    return SimulatedRequest(
        prompt=ParsedPrompt("\n\n".join(dict.fromkeys(system)), tuple(user_prompts), tuple(tool_results)),
        tools=[_tool(tool) for tool in parameters.function_tools],
        output=_output(parameters),
        tool_uses=[use for use, rejected in zip(tool_uses, is_rejected, strict=True) if not rejected],
    )


def _rejected_outputs(messages: Sequence[ModelMessage]) -> list[bool]:
    """Whether each tool call was a rejected structured output."""
    has_failed = {
        part.tool_call_id: part.outcome != "success"
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    }
    calls = [call for message in messages if isinstance(message, ModelResponse) for call in message.tool_calls]
    return [has_failed.get(call.tool_call_id, False) and call.tool_name == "final_result" for call in calls]


def _text(part: UserPromptPart) -> str:
    if isinstance(part.content, str):
        return part.content
    return "\n".join(text for text in part.content if isinstance(text, str))


def _arguments(call: ToolCallPart) -> dict[str, Any]:
    try:
        return call.args_as_dict()
    except (ValueError, AssertionError):
        return {}


def _tool(definition: ToolDefinition) -> SimulatedTool:
    return SimulatedTool(definition.name, definition.description or "", definition.parameters_json_schema)


def _output(parameters: ModelRequestParameters) -> SimulatedTool | None:
    """The schema of a structured output. It has no name if the output is the text of the answer."""
    if parameters.output_tools:
        return _tool(parameters.output_tools[0])
    output = parameters.output_object
    if output is None or parameters.allow_text_output:
        return None
    return SimulatedTool("", output.description or "", output.json_schema)


def _digest(messages: Sequence[ModelMessage]) -> str:
    """A digest that is equal for equal messages, apart from their timestamps."""
    dumped = ModelMessagesTypeAdapter.dump_python(list(messages), mode="json", exclude_none=True)
    for message in dumped:
        message.pop("timestamp", None)
        for part in message.get("parts", ()):
            part.pop("timestamp", None)
    text = json.dumps([message.get("parts") for message in dumped], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:10]
