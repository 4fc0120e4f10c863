"""How the attempts of executions ended that did not succeed, from the trail."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import sqlalchemy as sa

from cairn.core.events import EventType
from cairn.services.paging import Row
from cairn.services.runs.execution_views import AttemptError
from cairn.store import tables as t

V = t.events.c
_AGAIN = frozenset({EventType.EXECUTION_RETRIED.value, EventType.EXECUTION_REVALIDATED.value})
_TOLD = (*sorted(_AGAIN), EventType.EXECUTION_FAILED.value)


def of_executions(connection: sa.Connection, run_id: str, ids: Sequence[str]) -> dict[str, list[AttemptError]]:
    """By execution, the newest last."""
    found: defaultdict[str, list[AttemptError]] = defaultdict(list)
    if not ids:
        return found
    query = sa.select(V.execution_id, V.event_type, V.timestamp, V.metadata).where(
        V.chain == run_id, V.execution_id.in_(ids), V.event_type.in_(_TOLD)
    )
    for row in connection.execute(query.order_by(V.seq)):
        earlier = found[row.execution_id]
        error = _error(row, earlier[-1].attempt_number if earlier else 0)
        if error is not None:
            earlier.append(error)
    return found


def _error(row: Row, last: int) -> AttemptError | None:
    """None of a retry that a person asked for: how the attempt before it failed has been told."""
    told = row.metadata
    is_invalid = row.event_type == EventType.EXECUTION_REVALIDATED.value
    message = told.get("reason") if is_invalid else told.get("error")
    if message is None:
        return None
    number = told.get("attempt_number")  # of the next attempt, where there is one
    if number is not None and row.event_type in _AGAIN:
        number -= 1
    return AttemptError(
        attempt_number=number or last + 1,
        timestamp=row.timestamp,
        error_type=told.get("error_type") or ("not_valid" if is_invalid else ""),
        error_message=message,
        stack_trace=told.get("stack_trace") or "",
    )
