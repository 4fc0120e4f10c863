"""Open executions, in progress or waiting, and the progress that they report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import sqlalchemy as sa

from cairn.core.states import ExecutionStatus, RunStatus, WaitingOn
from cairn.services.paging import Row
from cairn.services.runs.execution_views import ExecutionProgress, Progress
from cairn.services.runs.views import OpenExecution
from cairn.store import Connection
from cairn.store import tables as t
from cairn.store.column_types import Text
from cairn.store.prepared_statements import PreparedQuery

E = t.checkpoint_executions.c
_CLOSED = frozenset({RunStatus.COMPLETED.value, RunStatus.FAILED.value, RunStatus.CANCELLED.value})
_OPEN = (
    ExecutionStatus.PENDING.value,
    ExecutionStatus.WAITING_APPROVAL_TO_START.value,
    ExecutionStatus.IN_PROGRESS.value,
    ExecutionStatus.WAITING_APPROVAL_TO_COMPLETE.value,
)
_COLUMNS = (
    E.run_id,
    E.execution_id,
    E.checkpoint_id,
    E.checkpoint_name,
    E.checkpoint_position,
    E.status,
    E.waiting_on,
    E.due_at,
    E.created_at,
    E.dispatch_number,
    E.progress,
)


def open_executions_of_runs(connection: Connection, runs: Sequence[Row]) -> dict[str, list[OpenExecution]]:
    """Open executions by run, in order of position. A closed run has none."""
    found: defaultdict[str, list[OpenExecution]] = defaultdict(list)
    ids = [run.run_id for run in runs if run.status not in _CLOSED]
    if ids:
        query = sa.select(*_COLUMNS).where(E.run_id.in_(ids), E.status.in_(_OPEN), E.archived_by.is_(None))
        for row in connection.execute(query.order_by(E.checkpoint_position, E.ordinal)):
            found[row.run_id].append(_open(row))
    return found


def _open(row: Row) -> OpenExecution:
    return OpenExecution(
        execution_id=row.execution_id,
        checkpoint_id=row.checkpoint_id,
        checkpoint_name=row.checkpoint_name,
        checkpoint_position=row.checkpoint_position,
        status=ExecutionStatus(row.status),
        waiting_on=WaitingOn(row.waiting_on) if row.waiting_on else None,
        retry_due_at=row.due_at,
        created_at=row.created_at,
        progress=progress(row),
    )


def count_pending_starts(run: Row, open_executions: Sequence[OpenExecution]) -> int:
    """The number of executions that have to be started manually. 0 while paused, because nothing can start."""
    if run.status != RunStatus.IN_PROGRESS.value or run.pause_requested:
        return 0
    return sum(e.status is ExecutionStatus.PENDING for e in open_executions)


# Progress
def progress(row: Row) -> Progress | None:
    """The progress that the current dispatch has reported."""
    reported = row.progress
    if reported is None or row.status != ExecutionStatus.IN_PROGRESS.value or row.waiting_on is not None:
        return None
    if reported.get("dispatch") != row.dispatch_number:
        return None
    return Progress(fraction=reported.get("fraction"), text=reported.get("text"))


_PROGRESS = PreparedQuery(
    sa.select(*_COLUMNS)
    .where(
        E.run_id == sa.bindparam("run_id", type_=Text()),
        E.status == ExecutionStatus.IN_PROGRESS.value,
        E.progress.is_not(None),
    )
    .order_by(E.ordinal)
)


def progress_of_run(connection: Connection, run_id: str) -> list[ExecutionProgress]:
    rows = _PROGRESS.all(connection, {"run_id": run_id})
    items = ((row.execution_id, progress(row)) for row in rows)
    return [ExecutionProgress(execution_id=e, fraction=p.fraction, text=p.text) for e, p in items if p is not None]
