"""Queries for work orders, summaries and orphan recovery."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from cairn.core.execution import Execution
from cairn.core.states import ExecutionState
from cairn.ports import ArtifactSource
from cairn.store import Connection
from cairn.store import tables as t
from cairn.store.runs.run_rows import Row

A, E, R, S = t.artifacts.c, t.checkpoint_executions.c, t.pipeline_runs.c, t.summaries.c
REWORK_RESULT_FIELDS = ("status", "reason", "execution_id", "artifacts")
SIMULATED = "simulated:"

# Starting from the active runs keeps this fast, however many executions there are.
_ACTIVE_RUNS = sa.select(R.run_id).where(R.active_since.is_not(None), R.archived_by.is_(None))
WORKING = sa.select(E.run_id, E.execution_id, E.dispatch_number, E.driver).where(
    E.run_id.in_(_ACTIVE_RUNS), E.state == ExecutionState.WORKING.value, E.archived_by.is_(None)
)


def working_executions(connection: Connection) -> Sequence[Row]:
    """Executions that a runner works on, or worked on when its process died."""
    return connection.execute(WORKING).all()


def promoted_artifacts(connection: Connection, execution_ids: Collection[str]) -> Sequence[Row]:
    return connection.execute(
        sa.select(t.artifacts)
        .where(A.execution_id.in_(execution_ids), A.promoted_to_permanent_at.is_not(None))
        .order_by(A.created_at, A.artifact_name)
    ).all()


def artifacts_by_record_id(connection: Connection, record_ids: Collection[str]) -> Sequence[Row]:
    return connection.execute(
        sa.select(t.artifacts).where(A.artifact_record_id.in_(record_ids)).order_by(A.created_at, A.artifact_name)
    ).all()


def latest_completed_execution(
    connection: Connection, run_id: str | None, checkpoint_id: str
) -> tuple[Row, int | None] | None:
    """The checkpoint's execution in this run or the latest earlier one that completed it, and the run's version."""
    while run_id is not None:
        run = connection.execute(
            sa.select(R.previous_run_id, R.run_version, R.archived_by, R.pass_number).where(R.run_id == run_id)
        ).one()
        row = connection.execute(
            sa.select(E.execution_id, E.checkpoint_name, E.checkpoint_position, E.pass_number)
            .where(
                E.run_id == run_id,
                E.checkpoint_id == checkpoint_id,
                E.pass_number == run.pass_number,  # the last pass
                E.state == ExecutionState.COMPLETED.value,
                E.archived_by.is_(None),
            )
            .order_by(E.ordinal.desc())
            .limit(1)
        ).one_or_none()
        if row is not None and run.archived_by is None:
            return row, run.run_version
        run_id = run.previous_run_id
    return None


def rework_results(connection: Connection, e: Execution, since: datetime) -> list[Mapping[str, Any]]:
    """The results of the reworks that this execution requested, in the order of the requests."""
    v = t.events.c
    events = connection.execute(
        sa.select(v.metadata)
        .where(v.execution_id == e.id, v.event_type == "rework_ended", v.timestamp >= since)
        .order_by(v.seq)
    ).scalars()
    own = [event for event in events if event.get("requested_by") == e.key]
    return [{name: event.get(name) for name in REWORK_RESULT_FIELDS} for event in own]


def summaries_of(connection: Connection, sources: Collection[ArtifactSource]) -> dict[str, dict[str, str]]:
    """Summaries by checksum and model: simulated ones first, then from oldest to newest."""
    checksums = {file.checksum for source in sources for file in source.artifacts}
    if not checksums:
        return {}
    rows = connection.execute(sa.select(t.summaries).where(S.checksum.in_(checksums)).order_by(S.created_at)).all()
    found: dict[str, dict[str, str]] = {}
    for row in sorted(rows, key=lambda row: not row.model.startswith(SIMULATED)):
        found.setdefault(row.checksum, {})[row.model] = row.summary
    return found
