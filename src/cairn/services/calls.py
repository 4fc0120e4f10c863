"""Calls of scripts that waited for others: recorded with the report, given back with their answers (X11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from cairn.core.messages import Given
from cairn.core.model import Execution
from cairn.ports import Call, WantsRework
from cairn.store import blobs, script_rows
from cairn.store import tables as t

ANSWERED = ("ended", "reason", "execution_id", "artifacts")


def keep_call(connection: sa.Connection, e: Execution, wanted: WantsRework, given: Given) -> None:
    """In the transaction of the report."""
    call = wanted.call
    if call is not None:
        seen = blobs.put(connection, wanted.seen) if wanted.seen is not None else None
        script_rows.write_call(connection, e.id, e.revision, call.number, call.kind, call.arguments, seen, given.at)


def read_calls(connection: sa.Connection, e: Execution) -> tuple[Call, ...]:
    """Those of this revision, each with its answer: reworks are told of in the order in which they were asked for."""
    rows = script_rows.calls_of(connection, e.id, e.revision)
    if not rows:
        return ()
    v = t.events.c
    told = connection.execute(
        sa.select(v.metadata)
        .where(v.execution_id == e.id, v.event_type == "rework_told", v.timestamp >= rows[0].asked_at)
        .order_by(v.seq)
    ).scalars()
    own = [event for event in told if event.get("requested_by") == e.key]
    answers = [{name: event.get(name) for name in ANSWERED} for event in own]
    return tuple(
        Call(row.number, row.kind, row.arguments, _at(answers, position), row.seen_checksum)
        for position, row in enumerate(rows)
    )


def _at(answers: list[dict[str, Any]], position: int) -> Mapping[str, Any] | None:
    return answers[position] if position < len(answers) else None
