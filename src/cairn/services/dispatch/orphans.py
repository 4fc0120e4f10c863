"""Executions at work, and the jobs that drive them."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from cairn.core.states import ExecutionState
from cairn.store import tables as t
from cairn.store.runs.run_rows import Row

_e, _r = t.checkpoint_executions.c, t.pipeline_runs.c
# A run at work says so in its row: of all executions only those of such runs are looked at.
_AT_WORK = sa.select(_r.run_id).where(_r.working_since.is_not(None), _r.archived_by.is_(None))
WORKING = sa.select(_e.run_id, _e.execution_id, _e.dispatch_number, _e.driver).where(
    _e.run_id.in_(_AT_WORK), _e.state == ExecutionState.WORKING.value, _e.archived_by.is_(None)
)


def working(connection: sa.Connection) -> Sequence[Row]:
    """Executions that a runner holds, or held when its process died."""
    return connection.execute(WORKING).all()
