"""What has been said, as an agent's turn is taken up again from it: kept message by message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic_ai.messages import (
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

from cairn.ports.conversation import Conversation, ConversationMessage, MessageChunk, Purpose
from cairn.ports.models import ANSWERED_BY, ChosenModel, ModelCatalogue, TokenUsage

SIMULATED = "simulated:"
UNUSABLE = frozenset({"content_filter", "length", "error"})  # why an answer ended that nothing can follow


@dataclass(frozen=True, slots=True)
class TurnKey:
    """Whose turn it is."""

    turn: str
    speaker: str
    purpose: Purpose
    chosen: ChosenModel


@dataclass(slots=True)
class TurnHistory:
    """The messages of one turn so far."""

    author: TurnKey
    messages: list[ModelMessage] = field(default_factory=list[Any])
    number: int = 0  # of the last that was kept
    is_over: bool = False

    @property
    def conversation_id(self) -> str:
        """Another one each time that the turn is begun anew."""
        return self.messages[0].conversation_id or ""

    @property
    def open_answer(self) -> ModelResponse | None:
        """The last answer, while something has to come of it before the model is asked again."""
        answer = next((one for one in reversed(self.messages) if isinstance(one, ModelResponse)), None)
        if answer is None or answer.state == "suspended":
            return None
        return answer if self.is_over or answer is self.messages[-1] or self.unanswered(answer) else None

    def unanswered(self, response: ModelResponse) -> list[ToolCallPart]:
        """The calls of an answer that have no result yet."""
        requests = (one for one in self.messages if isinstance(one, ModelRequest))
        done = {part.tool_call_id for one in requests for part in one.parts if isinstance(part, ToolReturnPart)}
        return [call for call in response.tool_calls if call.tool_call_id not in done]


class Transcript:
    """Of one conversation, as it was when it was opened and as it goes on."""

    def __init__(self, conversation: Conversation, models: ModelCatalogue, said: Sequence[ConversationMessage]) -> None:
        self._conversation = conversation
        self._models = models
        self._turns: dict[str, list[ConversationMessage]] = {}
        for one in said:
            self._turns.setdefault(one.turn, []).append(one)

    @classmethod
    async def open(cls, conversation: Conversation, models: ModelCatalogue) -> Transcript:
        return cls(conversation, models, await conversation.messages())

    def has(self, turn: str) -> bool:
        return turn in self._turns

    def of(self, author: TurnKey) -> TurnHistory:
        """A turn as far as it has come. An answer that nothing can follow is asked for again."""
        said = self._turns.get(author.turn, [])
        messages = ModelMessagesTypeAdapter.validate_python([one.message for one in said])
        is_over = bool(said) and said[-1].is_last
        while not is_over and messages and _is_unusable(messages[-1]):
            messages.pop()
        return TurnHistory(author, messages, said[-1].number if said else 0, is_over)

    def opening(self, turn: str) -> str | None:
        """What a turn was opened with, if it was."""
        texts = [one.text for one in self._turns.get(turn, ()) if one.role == "user"]
        return texts[0] if texts else None

    async def keep_request(
        self, history: TurnHistory, request: ModelRequest, speaker: str, *, is_last: bool = False
    ) -> None:
        await self._keep(history, (self._asked(history, request, speaker, history.number + 1, is_last), request))

    async def keep_opening(self, history: TurnHistory, opening: Sequence[ModelRequest], speaker: str) -> None:
        """What a turn begins with: kept together, as it is told together."""
        numbered = enumerate(opening, history.number + 1)
        await self._keep(history, *((self._asked(history, one, speaker, number), one) for number, one in numbered))

    def _asked(
        self, history: TurnHistory, request: ModelRequest, speaker: str, number: int, is_last: bool = False
    ) -> ConversationMessage:
        author = history.author
        return ConversationMessage(
            turn=author.turn,
            number=number,
            speaker=speaker,
            role=_role(request),
            purpose=author.purpose,
            message=_written(request),
            text=_told(request),
            at=datetime.now(UTC),
            is_simulated=author.chosen.is_simulated,
            is_last=is_last,
        )

    async def keep_answer(
        self, history: TurnHistory, response: ModelResponse, seconds: float, *, is_last: bool
    ) -> None:
        author, tokens = history.author, tokens_of(response)
        model = answered_by(response, author.chosen)
        said = ConversationMessage(
            turn=author.turn,
            number=history.number + 1,
            speaker=author.speaker,
            role="assistant",
            purpose=author.purpose,
            message=_written(response),
            text=spoken(response),
            at=datetime.now(UTC),
            seconds=seconds,
            model=model,
            is_simulated=author.chosen.is_simulated or model.startswith(SIMULATED),
            tokens=tokens,
            cost=self._models.cost(model, tokens),
            is_last=is_last,
        )
        await self._keep(history, (said, response))

    async def _keep(self, history: TurnHistory, *kept: tuple[ConversationMessage, ModelMessage]) -> None:
        await self._conversation.save(*(said for said, _ in kept))
        for said, message in kept:
            self._turns.setdefault(said.turn, []).append(said)
            history.messages.append(message)
            history.number = said.number
            history.is_over = said.is_last

    def publish_chunk(self, history: TurnHistory, kind: str, piece: str, *, anew: bool = False) -> None:
        """A piece of the answer that is on its way; `anew`: it begins once more."""
        author = history.author
        simulated = author.chosen.is_simulated
        self._conversation.publish_chunk(
            MessageChunk(author.turn, history.number + 1, author.speaker, kind, piece, simulated, anew)
        )

    async def check_budget(self) -> None:
        await self._conversation.check_budget()


def merged(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """As a provider takes them: what follows one another from this side is one message."""
    found: list[ModelMessage] = []
    for message in messages:
        last = found[-1] if found else None
        if isinstance(message, ModelRequest) and isinstance(last, ModelRequest):
            found[-1] = ModelRequest(parts=[*last.parts, *message.parts])
        else:
            found.append(message)
    return found


def spoken(response: ModelResponse) -> str:
    """The words of an answer."""
    return "".join(part.content for part in response.parts if isinstance(part, TextPart))


def answered_by(response: ModelResponse, chosen: ChosenModel) -> str:
    """Who gave the answer, which may be a fallback."""
    named = (response.metadata or {}).get(ANSWERED_BY)
    return named if isinstance(named, str) else chosen.name


def tokens_of(response: ModelResponse) -> TokenUsage:
    used = response.usage
    return TokenUsage(used.input_tokens, used.output_tokens, used.cache_read_tokens, used.cache_write_tokens)


def _is_unusable(message: ModelMessage) -> bool:
    if not isinstance(message, ModelResponse):
        return False
    return message.finish_reason in UNUSABLE or message.state == "interrupted" or not message.parts


def _written(message: ModelMessage) -> Any:
    return ModelMessagesTypeAdapter.dump_python([message], mode="json")[0]


def _role(request: ModelRequest) -> str:
    match request.parts[0]:
        case SystemPromptPart():
            return "system"
        case ToolReturnPart():
            return "tool"
        case _:
            return "user"


def _told(request: ModelRequest) -> str:
    told = (part for part in request.parts if isinstance(part, SystemPromptPart | UserPromptPart | ToolReturnPart))
    return "\n\n".join(str(part.content) for part in told)


class InMemoryConversation:
    """A conversation that nobody keeps: for whoever has no store."""

    def __init__(self) -> None:
        self.all: list[ConversationMessage] = []

    async def messages(self) -> Sequence[ConversationMessage]:
        return tuple(self.all)

    async def save(self, *messages: ConversationMessage) -> None:
        self.all.extend(messages)

    def publish_chunk(self, chunk: MessageChunk) -> None:
        pass

    async def check_budget(self) -> None:
        pass
