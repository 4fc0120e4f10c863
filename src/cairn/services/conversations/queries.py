"""Queries of conversations: pages of messages, and new messages for the stream of a run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from cairn.core.execution import attempt_key_of
from cairn.definitions import CheckpointDefinition
from cairn.services.actors import Actor, Permission, Role, Scope
from cairn.services.conversations.views import Message, MessagePage, ToolCall, ToolResult
from cairn.services.costs.usage import usage_view
from cairn.services.engine.plans import DefinitionCache, definition_of
from cairn.services.paging import Query, Row, SortOrder, page
from cairn.store import Connection, Database
from cairn.store import tables as t
from cairn.store.column_types import BigInteger, Instant, Text
from cairn.store.model_usage import NANO, ModelUsage
from cairn.store.prepared_statements import PreparedQuery
from cairn.store.runs.run_rows import execution_row

M, C, E, R = t.messages.c, t.model_calls.c, t.checkpoint_executions.c, t.pipeline_runs.c
_OLDEST = SortOrder((M.message_id,))
_NEWEST = SortOrder((M.message_id,), newest_first=True)
_COLUMNS = [column for column in M if column.name != "message"]  # only the agent library reads the complete message
_MESSAGES: Query = sa.select(
    *_COLUMNS,
    C.input_tokens,
    C.output_tokens,
    C.cache_read_tokens,
    C.cache_write_tokens,
    C.cost_nano_usd,
    E.attempt_number,
    E.retries_used,
    E.validations_used,
    E.revision_iteration,
).select_from(
    t.messages.join(t.checkpoint_executions, E.execution_id == M.execution_id).outerjoin(
        t.model_calls,
        sa.and_(
            C.execution_id == M.execution_id,
            C.attempt_key == M.attempt_key,
            C.turn == M.turn,
            C.number == M.number,
            C.dispatch_number == M.dispatch_number,
            C.attempt == 0,
        ),
    )
)

# The permission to read conversations that are hidden by their definition.
AUDIT = Permission(frozenset({Role.ADMIN.value}), frozenset({Scope.ADMIN.value}))
CURRENT = "current"


@dataclass(frozen=True, slots=True)
class MessageFilter:
    attempt_key: str | None = None  # or CURRENT; None matches all
    before: int | None = None
    after: int | None = None
    newest_first: bool = False


def list_messages(
    connection: Connection,
    plans: DefinitionCache,
    execution_id: str,
    message_filter: MessageFilter,
    actor: Actor,
    limit: int,
    cursor: str | None,
) -> MessagePage:
    row = execution_row(connection, execution_id)
    pipeline_id = connection.execute(sa.select(R.pipeline_id).where(R.run_id == row.run_id)).scalar_one()
    is_hidden = not shows_conversation(definition_of(connection, plans, pipeline_id, row))
    if is_hidden and not actor.can(AUDIT):
        return MessagePage(items=[], next_cursor=None, is_hidden=True)
    query = _MESSAGES.where(M.execution_id == execution_id)
    if (attempt_key := message_filter.attempt_key) is not None:
        query = query.where(M.attempt_key == (_current_attempt_key(row) if attempt_key == CURRENT else attempt_key))
    if message_filter.before is not None:
        query = query.where(M.message_id < message_filter.before)
    if message_filter.after is not None:
        query = query.where(M.message_id > message_filter.after)
    found = page(connection, query, _NEWEST if message_filter.newest_first else _OLDEST, limit, cursor)
    return MessagePage(items=[message(row) for row in found.rows], next_cursor=found.next_cursor, is_hidden=is_hidden)


def shows_conversation(checkpoint: CheckpointDefinition) -> bool:
    agents = checkpoint.execution.agent_config
    return agents is None or agents.show_conversation


def _current_attempt_key(row: Row) -> str:
    return attempt_key_of(row.attempt_number, row.retries_used, row.validations_used, row.revision_iteration)


def message(row: Row) -> Message:
    parts: list[dict[str, Any]] = row.tools or []
    return Message(
        message_id=row.message_id,
        execution_id=row.execution_id,
        timestamp=row.sent_at,
        agent_name=row.speaker,
        role=row.role,
        content=row.text,
        attempt_key=row.attempt_key,
        is_current=row.attempt_key == _current_attempt_key(row),
        turn=row.turn,
        number=row.number,
        purpose=row.purpose,
        thinking="\n\n".join(part["text"] for part in parts if part["kind"] == "thinking"),
        tool_calls=[ToolCall(**_fields(part)) for part in parts if part["kind"] == "call"],
        tool_results=[ToolResult(**_fields(part)) for part in parts if part["kind"] == "result"],
        model=row.model,
        is_simulated=row.is_simulated,
        is_last=row.is_last,
        usage=usage_view(_usage(row)) if row.input_tokens is not None else None,
    )


def _fields(part: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in part.items() if name != "kind"}


def _usage(row: Row) -> ModelUsage:
    tokens = row.input_tokens + row.output_tokens
    return ModelUsage(
        calls=1,
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        cache_read_tokens=row.cache_read_tokens,
        cache_write_tokens=row.cache_write_tokens,
        cost=(row.cost_nano_usd or 0) * NANO,
        unpriced_calls=int(row.cost_nano_usd is None),
        simulated_calls=int(row.is_simulated),
        simulated_tokens=tokens if row.is_simulated else 0,
        seconds=row.seconds,
    )


# The stream of a run
_LATER = (
    _MESSAGES.where(
        M.run_id == sa.bindparam("run_id", type_=Text()), M.message_id > sa.bindparam("message_id", type_=BigInteger)
    )
    .order_by(M.message_id)
    .limit(sa.bindparam("limit", type_=sa.Integer()))
)
_AFTER = PreparedQuery(_LATER)
_AFTER_UNTIL = PreparedQuery(_LATER.where(M.stored_at <= sa.bindparam("until", type_=Instant())))


def messages_after(
    connection: Connection, run_id: str, message_id: int, limit: int, until: datetime | None
) -> list[tuple[Message, datetime]]:
    """The messages after `message_id`, each with the time at which it was stored."""
    values: dict[str, Any] = {"run_id": run_id, "message_id": message_id, "limit": limit}
    rows = _AFTER.all(connection, values) if until is None else _AFTER_UNTIL.all(connection, {**values, "until": until})
    return [(message(row), row.stored_at) for row in rows]


def last_message_id(connection: Connection, run_id: str, until: datetime | None) -> int:
    """The id of the newest message, or 0."""
    query = sa.select(sa.func.max(M.message_id)).where(*_of_run(run_id, until))
    return connection.execute(query).scalar_one() or 0


def _of_run(run_id: str, until: datetime | None) -> list[sa.ColumnElement[bool]]:
    return [M.run_id == run_id, *([] if until is None else [M.stored_at <= until])]


def hidden_executions(connection: Connection, plans: DefinitionCache, run_id: str) -> frozenset[str]:
    """Executions of a run whose conversation is hidden by their definition."""
    query = sa.select(E.execution_id, E.key, E.definition_revision, R.pipeline_id).join_from(
        t.checkpoint_executions, t.pipeline_runs, R.run_id == E.run_id
    )
    rows = connection.execute(query.where(E.run_id == run_id))
    return frozenset(
        row.execution_id
        for row in rows
        if not shows_conversation(definition_of(connection, plans, row.pipeline_id, row))
    )


class ConversationQueries:
    """Each method reads one snapshot of the database."""

    def __init__(self, database: Database, plans: DefinitionCache) -> None:
        self._database = database
        self._plans = plans

    def list_messages(
        self, execution_id: str, message_filter: MessageFilter, actor: Actor, limit: int, cursor: str | None
    ) -> MessagePage:
        return self._database.read(
            lambda c: list_messages(c, self._plans, execution_id, message_filter, actor, limit, cursor)
        )

    def hidden_executions(self, run_id: str, actor: Actor) -> frozenset[str]:
        """Executions of the run whose conversation `actor` isn't allowed to see."""
        if actor.can(AUDIT):
            return frozenset()
        return self._database.read(lambda c: hidden_executions(c, self._plans, run_id))
