"""Executions at work that nothing drives any more are dispatched again."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import sqlalchemy as sa

from cairn.core.commands import ExecutionInterrupted
from cairn.core.errors import CommandRefused
from cairn.core.states import ExecutionState
from cairn.ports import JobEngine
from cairn.services.dispatch.lanes import WORKER, Lanes
from cairn.services.engine.engine import Engine
from cairn.store import Connection
from cairn.store import tables as t
from cairn.store.errors import NotFound
from cairn.store.runs.run_rows import Row

log = logging.getLogger(__name__)

_e, _r = t.checkpoint_executions.c, t.pipeline_runs.c
# A run at work says so in its row: of all executions only those of such runs are looked at.
_AT_WORK = sa.select(_r.run_id).where(_r.active_since.is_not(None), _r.archived_by.is_(None))
WORKING = sa.select(_e.run_id, _e.execution_id, _e.dispatch_number, _e.driver).where(
    _e.run_id.in_(_AT_WORK), _e.state == ExecutionState.WORKING.value, _e.archived_by.is_(None)
)


def working(connection: Connection) -> Sequence[Row]:
    """Executions that a runner holds, or held when its process died."""
    return connection.execute(WORKING).all()


class Orphans:
    def __init__(self, engine: Engine, jobs: JobEngine, lanes: Lanes) -> None:
        self._engine = engine
        self._jobs = jobs
        self._lanes = lanes

    async def resume_own(self) -> None:
        """At the start: what this process was working on when it ended is dispatched again without the queue."""
        read = self._engine.database.aread
        rows = [row for row in await read(working) if row.driver is not None]
        own = await read(lambda c: self._jobs.own(c, tuple(row.driver for row in rows)))
        for row in rows:
            if row.driver in own:
                interrupted = ExecutionInterrupted(row.execution_id, row.dispatch_number)
                await self._lanes.resume(interrupted, row.run_id, row.driver)
        self._lanes.own_work_resumed.set()

    async def resume_orphans(self) -> None:
        """Executions at work whose job has ended."""
        rows = [row for row in await self._engine.database.aread(working) if row.driver not in self._lanes]
        jobs = tuple({row.driver for row in rows if row.driver is not None})
        over = await self._engine.database.aread(lambda c: self._jobs.over(c, jobs))
        for row in rows:
            if row.driver is not None and (row.driver not in over or row.driver in self._lanes):
                continue
            log.warning("execution %s has nobody who drives it: dispatched again", row.execution_id)
            interrupted = ExecutionInterrupted(row.execution_id, row.dispatch_number)
            try:
                await self._engine.send(row.run_id, interrupted, self._engine.context(WORKER))
            except (CommandRefused, NotFound):
                log.info("execution %s was moved on meanwhile", row.execution_id)
