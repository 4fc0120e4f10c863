"""Conversations of executions."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from cairn.api.dependencies import CurrentActor, Services
from cairn.api.examples import conversations as examples
from cairn.api.operations import READ, operation, operation_router
from cairn.api.parameters import ExecutionId, Order, Paging, Text
from cairn.services.conversations.queries import MessageFilter
from cairn.services.conversations.views import MessagePage

router = operation_router("/api/executions", "Executions")
MessageScope = Annotated[
    Text | None,
    Query(max_length=100, description="Only messages with this attempt key. `current` is the newest one."),
]
Before = Annotated[int | None, Query(ge=0, lt=2**63, description="Only messages before this `message_id`.")]
After = Annotated[int | None, Query(ge=0, lt=2**63, description="Only messages after this `message_id`.")]


@router.get("/{execution_id}/messages")
@operation(READ, response_example=examples.messages)
def list_messages(
    execution_id: ExecutionId,
    services: Services,
    actor: CurrentActor,
    paging: Paging,
    attempt_key: MessageScope = None,
    order: Order = "oldest",
    before: Before = None,
    after: After = None,
) -> MessagePage:
    """List the messages of a conversation, oldest first, with tool calls and usage.

    With `order=newest`, paging starts at the end of the conversation and goes backward.
    If the definition hides the conversation (`show_conversation: false`), only admins can see it.
    """
    message_filter = MessageFilter(attempt_key, before, after, order == "newest")
    return services.conversation_queries.list_messages(execution_id, message_filter, actor, paging.limit, paging.cursor)


@router.get("/{execution_id}/conversation")
@operation(READ, response_example=examples.messages)
def get_conversation(
    execution_id: ExecutionId,
    services: Services,
    actor: CurrentActor,
    paging: Paging,
    attempt_key: MessageScope = None,
    order: Order = "oldest",
    before: Before = None,
    after: After = None,
) -> MessagePage:
    """List the messages of a conversation. Alias of `messages`."""
    return list_messages(execution_id, services, actor, paging, attempt_key, order, before, after)
