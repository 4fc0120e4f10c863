"""The saved messages of a conversation, by turn. An interrupted turn resumes from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelRequestAttempt,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.usage import RequestUsage

from cairn.ports.conversation import Conversation, ConversationMessage, InterruptedCall, MessageChunk, Purpose
from cairn.ports.models import ANSWERED_BY, ChosenModel, ModelCatalogue, TokenUsage

SIMULATED = "simulated:"
UNUSABLE = frozenset({"content_filter", "length", "error"})  # finish reasons after which a turn can't continue


@dataclass(frozen=True, slots=True)
class TurnKey:
    """Identifies a turn, with the fields that its messages record about the agent."""

    turn: str
    speaker: str
    purpose: Purpose
    chosen: ChosenModel


@dataclass(slots=True)
class TurnHistory:
    """The messages of one turn so far."""

    key: TurnKey
    messages: list[ModelMessage] = field(default_factory=list[Any])
    number: int = 0  # of the last saved message
    is_complete: bool = False

    @property
    def conversation_id(self) -> str:
        """Changes whenever the turn starts over."""
        return self.messages[0].conversation_id or ""

    @property
    def pending_answer(self) -> ModelResponse | None:
        """The last response, if it has to be processed before the next model call."""
        answer = next((message for message in reversed(self.messages) if isinstance(message, ModelResponse)), None)
        if answer is None or answer.state == "suspended":
            return None
        return answer if self.is_complete or answer is self.messages[-1] or self.pending_calls(answer) else None

    def pending_calls(self, response: ModelResponse) -> list[ToolCallPart]:
        """The tool calls of a response that have no result yet."""
        requests = (request for request in self.messages if isinstance(request, ModelRequest))
        done = {part.tool_call_id for request in requests for part in request.parts if isinstance(part, ToolReturnPart)}
        return [call for call in response.tool_calls if call.tool_call_id not in done]


class Transcript:
    """All turns of one conversation."""

    def __init__(
        self, conversation: Conversation, models: ModelCatalogue, messages: Sequence[ConversationMessage]
    ) -> None:
        self._conversation = conversation
        self._models = models
        self._turns: dict[str, list[ConversationMessage]] = {}
        for message in messages:
            self._turns.setdefault(message.turn, []).append(message)

    @classmethod
    async def open(cls, conversation: Conversation | None, models: ModelCatalogue) -> Transcript:
        """Load the conversation. Without one, messages are kept in memory only."""
        conversation = conversation or InMemoryConversation()
        return cls(conversation, models, await conversation.messages())

    def history(self, key: TurnKey) -> TurnHistory:
        """The turn so far. Unusable answers at its end are dropped, so the model is asked again."""
        saved = self._turns.get(key.turn, [])
        messages = ModelMessagesTypeAdapter.validate_python([message.message for message in saved])
        is_complete = bool(saved) and saved[-1].is_last
        while not is_complete and messages and _is_unusable(messages[-1]):
            messages.pop()
        return TurnHistory(key, messages, saved[-1].number if saved else 0, is_complete)

    def first_prompt(self, turn: str) -> str | None:
        """The prompt that a turn started with. None if it has not started."""
        return next((message.text for message in self._turns.get(turn, ()) if message.role == "user"), None)

    async def save_request(self, history: TurnHistory, request: ModelRequest, speaker: str) -> None:
        await self._save(history, (_request_message(history, request, speaker, history.number + 1), request))

    async def save_opening(self, history: TurnHistory, opening: Sequence[ModelRequest], speaker: str) -> None:
        """Save the system prompt and the task together, so that either both are saved or neither."""
        numbered = enumerate(opening, history.number + 1)
        await self._save(history, *((_request_message(history, one, speaker, number), one) for number, one in numbered))

    async def save_answer(
        self, history: TurnHistory, response: ModelResponse, seconds: float, *, is_last: bool
    ) -> None:
        key, tokens = history.key, tokens_of(response)
        model = answering_model(response, key.chosen)
        message = ConversationMessage(
            turn=key.turn,
            number=history.number + 1,
            speaker=key.speaker,
            role="assistant",
            purpose=key.purpose,
            message=_as_json(response),
            text=text_of(response),
            at=datetime.now(UTC),
            seconds=seconds,
            model=model,
            is_simulated=key.chosen.is_simulated or model.startswith(SIMULATED),
            tokens=tokens,
            cost=self._models.cost(model, tokens),
            is_last=is_last,
        )
        await self._save(history, (message, response))

    async def save_interrupted(self, history: TurnHistory, attempts: Sequence[ModelRequestAttempt]) -> None:
        """Record the usage of calls that ended early, if the provider had reported any."""
        key, calls = history.key, list[InterruptedCall]()
        for number, attempt in enumerate(attempts, 1):
            tokens = token_usage(attempt.usage) if attempt.usage is not None else TokenUsage()
            if tokens == TokenUsage():
                continue
            call = InterruptedCall(
                turn=key.turn,
                number=history.number + 1,
                attempt=number,
                purpose=key.purpose,
                model=attempt.model_name,
                tokens=tokens,
                cost=self._models.cost(attempt.model_name, tokens),
                at=attempt.timestamp,
                seconds=attempt.duration.total_seconds(),
                is_simulated=key.chosen.is_simulated or attempt.model_name.startswith(SIMULATED),
            )
            calls.append(call)
        if calls:
            await self._conversation.save_interrupted(*calls)

    async def _save(self, history: TurnHistory, *pairs: tuple[ConversationMessage, ModelMessage]) -> None:
        await self._conversation.save(*(saved for saved, _ in pairs))
        for saved, message in pairs:
            self._turns.setdefault(saved.turn, []).append(saved)
            history.messages.append(message)
            history.number = saved.number
            history.is_complete = saved.is_last

    def publish_chunk(self, history: TurnHistory, kind: str, text: str, *, restarts: bool = False) -> None:
        """Publish a piece of the answer that is being streamed."""
        key = history.key
        simulated = key.chosen.is_simulated
        self._conversation.publish_chunk(
            MessageChunk(key.turn, history.number + 1, key.speaker, kind, text, simulated, restarts)
        )

    async def check_budget(self) -> None:
        await self._conversation.check_budget()


def _request_message(history: TurnHistory, request: ModelRequest, speaker: str, number: int) -> ConversationMessage:
    key = history.key
    return ConversationMessage(
        turn=key.turn,
        number=number,
        speaker=speaker,
        role=_role(request),
        purpose=key.purpose,
        message=_as_json(request),
        text=_request_text(request),
        at=datetime.now(UTC),
        is_simulated=key.chosen.is_simulated,
    )


def merge_requests(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Join consecutive requests, because providers expect requests and responses to alternate."""
    merged: list[ModelMessage] = []
    for message in messages:
        last = merged[-1] if merged else None
        if isinstance(message, ModelRequest) and isinstance(last, ModelRequest):
            merged[-1] = ModelRequest(parts=[*last.parts, *message.parts])
        else:
            merged.append(message)
    return merged


def text_of(response: ModelResponse) -> str:
    return "".join(part.content for part in response.parts if isinstance(part, TextPart))


def answering_model(response: ModelResponse, chosen: ChosenModel) -> str:
    """The model that answered, which can be a fallback."""
    name = (response.metadata or {}).get(ANSWERED_BY)
    return name if isinstance(name, str) else chosen.name


def tokens_of(response: ModelResponse) -> TokenUsage:
    return token_usage(response.usage)


def token_usage(usage: RequestUsage) -> TokenUsage:
    return TokenUsage(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)


def _is_unusable(message: ModelMessage) -> bool:
    if not isinstance(message, ModelResponse):
        return False
    return message.finish_reason in UNUSABLE or message.state == "interrupted" or not message.parts


def _as_json(message: ModelMessage) -> Any:
    return ModelMessagesTypeAdapter.dump_python([message], mode="json")[0]


def _role(request: ModelRequest) -> str:
    match request.parts[0]:
        case SystemPromptPart():
            return "system"
        case ToolReturnPart():
            return "tool"
        case _:
            return "user"


def _request_text(request: ModelRequest) -> str:
    parts = (part for part in request.parts if isinstance(part, SystemPromptPart | UserPromptPart | ToolReturnPart))
    return "\n\n".join(str(part.content) for part in parts)


class InMemoryConversation:
    """A conversation that is not stored, for callers without a database."""

    def __init__(self) -> None:
        self._messages: list[ConversationMessage] = []

    async def messages(self) -> Sequence[ConversationMessage]:
        return tuple(self._messages)

    async def save(self, *messages: ConversationMessage) -> None:
        self._messages.extend(messages)

    async def save_interrupted(self, *calls: InterruptedCall) -> None:
        pass

    def publish_chunk(self, chunk: MessageChunk) -> None:
        pass

    async def check_budget(self) -> None:
        pass
