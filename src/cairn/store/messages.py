"""Messages of conversations with models, and the model calls behind them."""

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
class DispatchRef:
    """The dispatch of an execution that a conversation belongs to."""

    pipeline_id: str
    run_id: str
    execution_id: str
    number: int
    attempt_key: str
    checkpoint_id: str
    checkpoint_key: str
    is_test: bool


_E, _M, _C = checkpoint_executions.c, messages.c, model_calls.c
_DISPATCH_STATE = PreparedQuery(
    sa.select(_E.dispatch_number, _E.state).where(_E.execution_id == sa.bindparam("execution_id", type_=Text()))
)
_INSERT = insert_once(messages, without=("message_id",))
_INSERT_CALL = insert_once(model_calls, without=("call_id",))
_MESSAGES = PreparedQuery(
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
            _C.attempt == 0,
        ),
    )
    .where(
        _M.execution_id == sa.bindparam("execution_id", type_=Text()),
        _M.attempt_key == sa.bindparam("attempt_key", type_=Text()),
    )
    .order_by(_M.message_id)
)


def save_message(
    connection: sa.Connection, dispatch: DispatchRef, message: Mapping[str, Any], call: Mapping[str, Any] | None
) -> bool:
    """Save a message and, for a model's reply, the call with its cost. Saving it again changes nothing.

    Return False if the dispatch is over. Then only the call is saved, because it still costs money.
    """
    kind = connection.dialect.name
    row = _DISPATCH_STATE.first(connection, {"execution_id": dispatch.execution_id})
    is_current = (
        row is not None and row.dispatch_number == dispatch.number and row.state == ExecutionState.WORKING.value
    )
    is_new = _INSERT[kind].run(connection, {**message, **_dispatch_values(dispatch)}) == 1 if is_current else True
    if call is not None and is_new:
        save_call(connection, dispatch, call)
    return is_current


def save_call(connection: sa.Connection, dispatch: DispatchRef, call: Mapping[str, Any]) -> None:
    """Save a model call with its cost, even after the dispatch is over. Saving it again changes nothing."""
    checkpoint = {
        "pipeline_id": dispatch.pipeline_id,
        "checkpoint_id": dispatch.checkpoint_id,
        "checkpoint_key": dispatch.checkpoint_key,
        "is_test": dispatch.is_test,
    }
    _INSERT_CALL[connection.dialect.name].run(connection, {**call, **_dispatch_values(dispatch), **checkpoint})


def _dispatch_values(dispatch: DispatchRef) -> dict[str, Any]:
    return {
        "run_id": dispatch.run_id,
        "execution_id": dispatch.execution_id,
        "attempt_key": dispatch.attempt_key,
        "dispatch_number": dispatch.number,
    }


def find_messages(connection: sa.Connection, execution_id: str, attempt_key: str) -> list[Any]:
    """Return the messages of an attempt in order, each with the tokens and cost of its call."""
    return _MESSAGES.all(connection, {"execution_id": execution_id, "attempt_key": attempt_key})
