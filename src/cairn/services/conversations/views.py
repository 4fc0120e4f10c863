"""What is said with models."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from cairn.services.costs.views import Usage
from cairn.services.view import Id, Instant, Page, View

PieceKind = Literal["text", "thinking", "tool_call"]


class ToolCall(View):
    call_id: str
    name: str
    arguments: Any


class ToolResult(View):
    call_id: str
    name: str
    content: Any
    went_well: bool


class Message(View):
    """One message: what a model was given, or what it answered."""

    message_id: int
    execution_id: Id
    timestamp: Instant
    agent_name: Annotated[str, Field(description="Who speaks: an agent; for what it was given, who gave it.")]
    role: Literal["system", "user", "assistant", "tool"]
    content: Annotated[str, Field(description="As people read it.")]
    scope: Annotated[str, Field(description="Messages of one scope belong together: a try, a revision, a validation.")]
    is_current: Annotated[bool, Field(description="Its scope is the newest: it still counts.")]
    turn: str
    number: Annotated[int, Field(description="In its turn, from 1.")]
    purpose: Literal["work", "design", "judge", "summary", "questions"]
    thinking: Annotated[str, Field(description="What the model thought before it answered, if its provider tells.")]
    tool_calls: list[ToolCall]
    tool_results: list[ToolResult]
    model: Annotated[str | None, Field(description="Of an answer: which model gave it.")]
    is_simulated: bool
    is_last: Annotated[bool, Field(description="The turn is over with it.")]
    usage: Annotated[Usage | None, Field(description="Of an answer: what it has used.")]


class MessagePage(Page[Message]):
    """A conversation, oldest message first unless the newest was asked for first."""

    is_hidden: Annotated[
        bool, Field(description="The definition does not show it (`show_conversation`): only admins see it.")
    ]


class MessageDelta(View):
    """A part of a message on its way, as a stream tells it."""

    execution_id: Id
    scope: str
    turn: str
    number: int
    agent_name: str
    kind: PieceKind
    offset: Annotated[int, Field(description="Characters before it; 0 begins the message anew.")]
    text: str
    is_simulated: bool
