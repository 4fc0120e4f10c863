"""Executions at work, and the jobs that drive them."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from cairn.core.model import State
from cairn.store import tables as t
from cairn.store.aggregate import Row

_e, _r = t.checkpoint_executions.c, t.pipeline_runs.c
_WORKING = (
    sa.select(_e.run_id, _e.execution_id, _e.dispatch_number, _e.driver)
    .select_from(t.checkpoint_executions.join(t.pipeline_runs, _r.run_id == _e.run_id))
    .where(_e.state == State.WORKING.value, _e.archived_by.is_(None), _r.archived_by.is_(None))
)


def working(connection: sa.Connection) -> Sequence[Row]:
    """Executions that a runner holds, or held when its process died."""
    return connection.execute(_WORKING).all()
