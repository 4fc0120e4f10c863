"""Lineage: recorded in the transaction of the report that ends a dispatch (R3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from cairn.core.commands import CommandContext, ExecutionInterrupted, Report
from cairn.core.decide import Decision
from cairn.core.events import Event, EventType
from cairn.core.execution import Execution
from cairn.core.run import Run
from cairn.core.states import ExecutionState
from cairn.store import NewArtifact, save_lineage
from cairn.store import tables as t


def record(connection: sa.Connection, run: Run, report: Report, consumed: Sequence[str], given: CommandContext) -> None:
    """What the dispatch was given to read, and what had to be complete for it. `run` is as it was when it ended.

    Of a worker that died nobody knows what it read; it is dispatched again.
    """
    if isinstance(report, ExecutionInterrupted):
        return
    e = run.executions[report.execution]
    save_lineage(connection, e.id, report.dispatch, consumed, depends_on(run, e), given.at)


def depends_on(run: Run, e: Execution) -> tuple[str, ...]:
    """What it directly follows, and the reworks that it waited for (seed 2)."""
    before = (run.latest(key) for key in run.plan.follows[e.key])
    found = tuple(other.id for other in before if other is not None)
    if not run.reworks:
        return found
    reworked = (o.id for o in run.current if o.asked_by == e.id and o.state is ExecutionState.COMPLETED)
    return tuple(dict.fromkeys((*found, *reworked)))


# ---- what an asker is told -------------------------------------------------------------------------
def complete_told(connection: sa.Connection, decision: Decision, new: Sequence[NewArtifact]) -> Decision:
    """The core knows artifacts by their records only: who asked for a rework is told their names and contents."""
    asked = [event for event in decision.events if event.type is EventType.REWORK_TOLD]
    if not asked:
        return decision
    wanted = [made["artifact_record_id"] for event in asked for made in _made(event)]
    known = {a.record_id: _told(a.record_id, a.name, a.format, a.checksum, a.size) for a in new}
    known |= _read(connection, [record for record in wanted if record not in known])
    return replace(decision, events=tuple(_with_artifacts(event, known) for event in decision.events))


def _made(event: Event) -> Sequence[Mapping[str, Any]]:
    return event.detail["artifacts"] if event.type is EventType.REWORK_TOLD else ()


def _with_artifacts(event: Event, known: Mapping[str, Mapping[str, Any]]) -> Event:
    if event.type is not EventType.REWORK_TOLD:
        return event
    artifacts = [known[made["artifact_record_id"]] for made in _made(event)]
    return event._replace(detail={**event.detail, "artifacts": artifacts})


def _read(connection: sa.Connection, records: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    if not records:
        return {}
    a = t.artifacts.c
    query = sa.select(a.artifact_record_id, a.artifact_name, a.format, a.checksum, a.size_bytes)
    rows = connection.execute(query.where(a.artifact_record_id.in_(records)))
    return {row[0]: _told(*row) for row in rows}


def _told(record: str, name: str, format: str, checksum: str, size: int) -> Mapping[str, Any]:
    return {
        "artifact_record_id": record,
        "name": name,
        "format": format,
        "checksum": checksum,
        "size_bytes": size,
    }
