"""Recorded calls of scripts, functions and agents, each with its result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cairn.core.execution import Execution
from cairn.ports import RecordedCall
from cairn.services.actions.queries import outcomes_for_proposer
from cairn.services.approvals.queries.questions import find_answer
from cairn.services.dispatch import queries
from cairn.store import Connection, scripts


def read_calls(connection: Connection, e: Execution) -> tuple[RecordedCall, ...]:
    """The calls of this revision. Reworks end in the order in which they were requested."""
    rows = scripts.calls_of(connection, e.id, e.revision)
    if not rows:
        return ()
    rework_results = iter(queries.rework_results(connection, e, rows[0].requested_at))
    outcomes = outcomes_for_proposer(connection, [row.action_id for row in rows if row.action_id is not None])

    def result(row: Any) -> Mapping[str, Any] | None:
        match row.kind:
            case "action":
                return outcomes.get(row.action_id)
            case "question":
                return find_answer(connection, e.id, row.requested_at)
            case _:
                return next(rework_results, None)

    return tuple(RecordedCall(row.number, row.kind, row.arguments, result(row), row.inputs_checksum) for row in rows)
