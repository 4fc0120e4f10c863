"""Messages and calls of models, as rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from cairn.core.states import ExecutionState
from cairn.store.column_types import Text
from cairn.store.prepared_statements import PreparedQuery, insert_once
from cairn.store.tables import checkpoint_executions, messages, model_calls


@dataclass(frozen=True, slots=True)
class MessagePlace:
    """Where a conversation is held: in one dispatch of one execution, as far as it still counts."""

    pipeline_id: str
    run_id: str
    execution_id: str
    dispatch: int
    attempt_key: str
    checkpoint_id: str
    checkpoint_key: str
    is_test: bool


_E, _M, _C = checkpoint_executions.c, messages.c, model_calls.c
_STANDS = PreparedQuery(
    sa.select(_E.dispatch_number, _E.state).where(_E.execution_id == sa.bindparam("execution_id", type_=Text()))
)
_INSERT = insert_once(messages, without=("message_id",))
_INSERT_CALL = insert_once(model_calls, without=("call_id",))
_SAID = PreparedQuery(
    sa.select(
        messages,
        _C.input_tokens,
        _C.output_tokens,
        _C.cache_read_tokens,
        _C.cache_write_tokens,
        _C.cost_nano_usd,
    )
    .outerjoin(
        model_calls,
        sa.and_(
            _C.execution_id == _M.execution_id,
            _C.attempt_key == _M.attempt_key,
            _C.turn == _M.turn,
            _C.number == _M.number,
            _C.dispatch_number == _M.dispatch_number,
        ),
    )
    .where(
        _M.execution_id == sa.bindparam("execution_id", type_=Text()),
        _M.attempt_key == sa.bindparam("attempt_key", type_=Text()),
    )
    .order_by(_M.message_id)
)


def keep(
    connection: sa.Connection, place: MessagePlace, message: Mapping[str, Any], call: Mapping[str, Any] | None
) -> bool:
    """Store a message, and what it has cost if it is an answer; once, however often this is done.

    False if the dispatch is over: the message does not count, the call does.
    """
    kind = connection.dialect.name
    row = _STANDS.first(connection, {"execution_id": place.execution_id})
    stands = row is not None and row.dispatch_number == place.dispatch and row.state == ExecutionState.WORKING.value
    values = {
        "run_id": place.run_id,
        "execution_id": place.execution_id,
        "attempt_key": place.attempt_key,
        "dispatch_number": place.dispatch,
    }
    is_new = _INSERT[kind].run(connection, {**message, **values}) == 1 if stands else True
    if call is not None and is_new:
        of = {
            "pipeline_id": place.pipeline_id,
            "checkpoint_id": place.checkpoint_id,
            "checkpoint_key": place.checkpoint_key,
            "is_test": place.is_test,
        }
        _INSERT_CALL[kind].run(connection, {**call, **values, **of})
    return stands


def said(connection: sa.Connection, execution_id: str, attempt_key: str) -> list[Any]:
    """What was said in this attempt_key, in its order, each with what it has used."""
    return _SAID.all(connection, {"execution_id": execution_id, "attempt_key": attempt_key})
