"""Response shapes of conversations with models."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from cairn.services.costs.views import Usage
from cairn.services.view import Id, Instant, Page, View

DeltaKind = Literal["text", "thinking", "tool_call"]


class ToolCall(View):
    call_id: str
    name: str
    arguments: Any


class ToolResult(View):
    call_id: str
    name: str
    content: Any
    succeeded: bool


class Message(View):
    """One message to or from a model."""

    message_id: int
    execution_id: Id
    timestamp: Instant
    agent_name: Annotated[str, Field(description="The agent that answered, or the sender of a request.")]
    role: Literal["system", "user", "assistant", "tool"]
    content: Annotated[str, Field(description="The message as people read it.")]
    attempt_key: Annotated[
        str,
        Field(description="Identifies the attempt, retry, validation retry and revision."),
    ]
    is_current: Annotated[bool, Field(description="Whether the message belongs to the current attempt.")]
    turn: str
    number: Annotated[int, Field(description="Position in its turn, from 1.")]
    purpose: Literal["work", "design", "judge", "summary", "questions"]
    thinking: Annotated[str, Field(description="The model's reasoning, if the provider returns it.")]
    tool_calls: list[ToolCall]
    tool_results: list[ToolResult]
    model: Annotated[str | None, Field(description="The model that answered. Null for requests.")]
    is_simulated: bool
    is_last: Annotated[bool, Field(description="Whether the message completes its turn.")]
    usage: Annotated[Usage | None, Field(description="Tokens and cost of the answer. Null for requests.")]


class MessagePage(Page[Message]):
    """Messages of a conversation, oldest first by default."""

    is_hidden: Annotated[
        bool,
        Field(
            description="Whether the definition hides the conversation from everyone but admins (`show_conversation`)."
        ),
    ]


class MessageDelta(View):
    """A piece of a message that is being streamed."""

    execution_id: Id
    attempt_key: str
    turn: str
    number: int
    agent_name: str
    kind: DeltaKind
    offset: Annotated[int, Field(description="Position of the text in the message. 0 starts the message over.")]
    text: str
    is_simulated: bool
