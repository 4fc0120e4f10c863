"""Conversations of executions."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from cairn.api.dependencies import By, Services
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
    by: By,
    paging: Paging,
    attempt_key: MessageScope = None,
    order: Order = "oldest",
    before: Before = None,
    after: After = None,
) -> MessagePage:
    """List the messages with models, oldest first, with their tool calls and usage.

    With `order=newest`, the first page is the end of the conversation, and the next pages go back in time.
    If the definition hides the conversation (`show_conversation: false`), only admins can see it.
    """
    message_filter = MessageFilter(attempt_key, before, after, order == "newest")
    return services.conversation_queries.list_messages(execution_id, message_filter, by, paging.limit, paging.cursor)


@router.get("/{execution_id}/conversation")
@operation(READ, response_example=examples.messages)
def get_conversation(
    execution_id: ExecutionId,
    services: Services,
    by: By,
    paging: Paging,
    attempt_key: MessageScope = None,
    order: Order = "oldest",
    before: Before = None,
    after: After = None,
) -> MessagePage:
    """Alias of `messages`."""
    return list_messages(execution_id, services, by, paging, attempt_key, order, before, after)
