"""Find working executions that no lane drives, and dispatch them again."""

from __future__ import annotations

import logging

from cairn.core.commands import ExecutionInterrupted
from cairn.core.errors import CommandRefused
from cairn.ports import JobEngine
from cairn.services.dispatch.lanes import WORKER, Lanes
from cairn.services.dispatch.queries import working_executions
from cairn.services.engine.engine import Engine
from cairn.store.errors import NotFound

log = logging.getLogger(__name__)


class Orphans:
    def __init__(self, engine: Engine, jobs: JobEngine, lanes: Lanes) -> None:
        self._engine = engine
        self._jobs = jobs
        self._lanes = lanes

    async def resume_own(self) -> None:
        """At startup, dispatch the work of the previous process again without waiting for the job queue."""
        read = self._engine.database.aread
        rows = [row for row in await read(working_executions) if row.driver is not None]
        own = await read(lambda c: self._jobs.own_lanes(c, tuple(row.driver for row in rows)))
        for row in rows:
            if row.driver in own:
                interrupted = ExecutionInterrupted(row.execution_id, row.dispatch_number)
                await self._lanes.resume(interrupted, row.run_id, row.driver)
        self._lanes.own_work_resumed.set()

    async def resume_orphans(self) -> None:
        """Dispatch executions again that are working although their job has ended."""
        read = self._engine.database.aread
        rows = [row for row in await read(working_executions) if row.driver not in self._lanes]
        jobs = tuple({row.driver for row in rows if row.driver is not None})
        ended = await read(lambda c: self._jobs.finished_jobs(c, jobs))
        for row in rows:
            if row.driver is not None and (row.driver not in ended or row.driver in self._lanes):
                continue
            log.warning("execution %s has no running job; dispatching it again", row.execution_id)
            interrupted = ExecutionInterrupted(row.execution_id, row.dispatch_number)
            try:
                await self._engine.send(row.run_id, interrupted, self._engine.context(WORKER))
            except (CommandRefused, NotFound):
                log.info("execution %s has changed in the meantime", row.execution_id)
