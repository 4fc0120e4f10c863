"""What is said in an execution: kept message by message, so that nothing is asked, or paid for, twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, Protocol

from cairn.ports.models import TokenUsage


class Purpose(StrEnum):
    """What a model was asked for."""

    WORK = "work"  # a turn of an agent's
    DESIGN = "design"  # which agents are to work (meta_agent)
    JUDGE = "judge"  # whether the result is what was wanted
    SUMMARY = "summary"  # of what would be too long
    QUESTIONS = "questions"  # a script's parameters, asked for in words


@dataclass(frozen=True, slots=True)
class ConversationMessage:
    """One message: what a model was given, or what it answered."""

    turn: str  # the same after a restart, such as `work`, `council/2/architect`, `judge/1`
    number: int  # in its turn, from 1
    speaker: str  # the agent's name; for what it was given, who gave it
    role: str  # system, user, assistant or tool
    purpose: Purpose
    message: Any  # JSON, as the agent library writes it down, whole: a turn is taken up again from these
    text: str  # as people read it
    at: datetime
    seconds: float = 0.0  # that the answer took
    model: str | None = None  # of an answer: which one gave it
    is_simulated: bool = False
    tokens: TokenUsage | None = None  # of an answer
    cost: Decimal | None = None  # of an answer, in US dollars; None: not known
    is_last: bool = False  # the turn is over with it


@dataclass(frozen=True, slots=True)
class MessageChunk:
    """A piece of a message on its way: shown, not kept."""

    turn: str
    number: int
    speaker: str
    kind: str  # text, thinking or tool_call
    piece: str
    is_simulated: bool = False
    anew: bool = False  # the message begins again: what was heard of it before does not count


class BudgetExhausted(Exception):
    """The budget of the run, or of its pipeline, allows no further call."""


class ConversationClosed(Exception):
    """The execution was stopped, or another dispatch carries it on: nothing that is said here counts any more."""


class Conversation(Protocol):
    """Of one execution, as far as it still counts.

    A revision, another attempt of a person's and one after a failed validation begin a new one; an attempt after a
    fault goes on with it. Its values of secrets are masked when they are kept. It is used on the event loop.
    """

    async def said(self) -> Sequence[ConversationMessage]:
        """Everything so far, oldest first, also what was said before a crash."""
        ...

    async def keep(self, *said: ConversationMessage) -> None:
        """They are stored when this returns, all or none. A message that is there already is not stored twice.

        ConversationOver if it does not count any more; what an answer has cost is counted all the same.
        """
        ...

    def hear(self, heard: MessageChunk) -> None:
        """For whoever is watching."""
        ...

    async def afford(self) -> None:
        """Before each call; BudgetSpent if there is nothing left for it: the outcome is then OverBudget."""
        ...
