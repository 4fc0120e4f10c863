"""Calls of scripts and agents that waited for others: recorded with the report, given back with their answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from cairn.core.execution import Execution
from cairn.ports import NeedsInput, NeedsRework, ProposesAction, RecordedCall
from cairn.services.actions import proposals
from cairn.services.approvals.queries.questions import find_answer
from cairn.services.engine.commit import Commit
from cairn.store import Connection, blobs, scripts
from cairn.store import tables as t

ANSWERED = ("status", "reason", "execution_id", "artifacts")


@dataclass(frozen=True, slots=True)
class CallWrite:
    """Record the call that an execution waits for, with the report of its dispatch."""

    execution: str
    outcome: NeedsRework | ProposesAction | NeedsInput

    def __call__(self, connection: Connection, commit: Commit, /) -> None:
        call = self.outcome.call
        if call is None:
            return
        e = commit.before.run.executions[self.execution]
        content = None if isinstance(self.outcome, NeedsInput) else self.outcome.inputs_content
        seen = blobs.put(connection, content) if content is not None else None
        at = commit.context.at
        scripts.write_call(connection, e.id, e.revision, call.number, call.kind, call.arguments, seen, at)


def read_calls(connection: Connection, e: Execution) -> tuple[RecordedCall, ...]:
    """Those of this revision, each with its answer: reworks are told of in the order in which they were asked for."""
    rows = scripts.calls_of(connection, e.id, e.revision)
    if not rows:
        return ()
    v = t.events.c
    told = connection.execute(
        sa.select(v.metadata)
        .where(v.execution_id == e.id, v.event_type == "rework_ended", v.timestamp >= rows[0].requested_at)
        .order_by(v.seq)
    ).scalars()
    own = [event for event in told if event.get("requested_by") == e.key]
    answers = [{name: event.get(name) for name in ANSWERED} for event in own]
    of_reworks = iter(answers)
    of_actions = _of_actions(connection, e) if any(row.kind == "action" for row in rows) else {}

    def answer(row: Any) -> Mapping[str, Any] | None:
        match row.kind:
            case "action":
                return of_actions.get(row.number)
            case "question":
                return find_answer(connection, e.id, row.requested_at)
            case _:
                return next(of_reworks, None)

    return tuple(RecordedCall(row.number, row.kind, row.arguments, answer(row), row.inputs_checksum) for row in rows)


def _of_actions(connection: Connection, e: Execution) -> dict[int, Mapping[str, Any] | None]:
    """By the number of the call; the last proposal counts, where one was asked for twice."""
    a, p = t.actions.c, t.approvals.c
    rows = connection.execute(
        sa.select(t.actions, p.status)
        .join(t.approvals, p.approval_id == a.approval_id)
        .where(a.execution_id == e.id, a.revision_iteration == e.revision, a.call_number.is_not(None))
        .order_by(p.ordinal)
    )
    return {row.call_number: proposals.decision_for_proposer(connection, row) for row in rows}
