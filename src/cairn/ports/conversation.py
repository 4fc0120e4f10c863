"""The conversation of an execution with models. Each message is saved, so that no answer is paid for twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, Protocol

from cairn.ports.models import TokenUsage


class Purpose(StrEnum):
    """The purpose of a model call."""

    WORK = "work"  # a turn of an agent
    DESIGN = "design"  # choosing the team (meta_agent)
    JUDGE = "judge"  # judging a result
    SUMMARY = "summary"  # summarizing a long input
    QUESTIONS = "questions"  # asking a person for a script's parameters


@dataclass(frozen=True, slots=True)
class ConversationMessage:
    """One message to or from a model."""

    turn: str  # stable across restarts, such as `work`, `council/2/architect`, `judge/1`
    number: int  # in its turn, from 1
    speaker: str  # the agent that answered, or the sender of a request
    role: str  # system, user, assistant or tool
    purpose: Purpose
    message: Any  # the complete message as JSON of the agent library; turns resume from these
    text: str  # as people read it
    at: datetime
    seconds: float = 0.0  # how long the answer took
    model: str | None = None  # the model that answered
    is_simulated: bool = False
    tokens: TokenUsage | None = None  # of an answer
    cost: Decimal | None = None  # of an answer, in US dollars; None: unknown
    is_last: bool = False  # completes the turn


@dataclass(frozen=True, slots=True)
class InterruptedCall:
    """A model call that ended before its answer was complete, with the usage that was reported by then."""

    turn: str
    number: int  # of the message that the answer would have been
    attempt: int  # among the calls for this message, from 1
    purpose: Purpose
    model: str
    tokens: TokenUsage
    cost: Decimal | None  # in US dollars; None: unknown
    at: datetime
    seconds: float
    is_simulated: bool = False


@dataclass(frozen=True, slots=True)
class MessageChunk:
    """A piece of a message that is being streamed. It is shown but not saved."""

    turn: str
    number: int
    speaker: str
    kind: str  # text, thinking or tool_call
    text: str
    is_simulated: bool = False
    restarts: bool = False  # the message starts over; earlier chunks of it are void


class BudgetExhausted(Exception):
    """The budget of the run or its pipeline allows no further model call."""


class ConversationClosed(Exception):
    """The execution was stopped or dispatched again. Further messages of this dispatch are ignored."""


class Conversation(Protocol):
    """The messages of one execution.

    A revision, a manual retry and a retry after failed validation start a new conversation. An automatic retry
    continues the existing one. Secret values are masked before messages are saved. Used on the event loop.
    """

    async def messages(self) -> Sequence[ConversationMessage]:
        """All messages, oldest first, including those from before a crash."""
        ...

    async def save(self, *messages: ConversationMessage) -> None:
        """Save all messages or none. Messages that are already stored are skipped.

        Raises ConversationClosed if this dispatch no longer counts. The cost of an answer is recorded even then.
        """
        ...

    async def save_interrupted(self, *calls: InterruptedCall) -> None:
        """Record the usage of calls without a complete answer, even if this dispatch no longer counts."""
        ...

    def publish_chunk(self, chunk: MessageChunk) -> None:
        """Publish a piece of a streamed message to watchers."""
        ...

    async def check_budget(self) -> None:
        """Call before each model call. Raises BudgetExhausted, which ends the dispatch with OverBudget."""
        ...
