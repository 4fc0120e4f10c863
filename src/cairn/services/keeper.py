"""Keeps the folders equal to the database: at every start, and whenever somebody asks (X8, D39)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import sqlalchemy as sa

from cairn.core.model import State
from cairn.files import Drift, Expected, Workspaces
from cairn.ports import Clock
from cairn.services import trees
from cairn.services.engine import Engine
from cairn.services.products import Products
from cairn.services.projection import Projection
from cairn.store import Database, blobs
from cairn.store import tables as t
from cairn.store.aggregate import Row

log = logging.getLogger(__name__)

LARGE = 1024 * 1024  # contents from this size on go in an earlier transaction (D47)


@dataclass(frozen=True, slots=True)
class DriftReport:
    """What was found to differ, and put right."""

    checked_at: datetime
    pipelines: int = 0
    repaired: int = 0  # files that were missing, or had been changed
    moved_aside: int = 0  # files of users, and changed ones
    failed: tuple[str, ...] = ()

    @property
    def is_clean(self) -> bool:
        return not (self.repaired or self.moved_aside or self.failed)


class Keeper:
    def __init__(self, database: Database, engine: Engine, projection: Projection, clock: Clock) -> None:
        self._database = database
        self._engine = engine
        self._projection = projection
        self._clock = clock
        self.last: DriftReport | None = None

    # ---- for the worker ------------------------------------------------------------------------------
    async def write_down_filed(self) -> None:
        """Note whose files stand, so that the next start need not look at them first."""
        filed = self._engine.take_filed()
        if not filed:
            return
        r = t.pipeline_runs
        rows = [{"run": run_id, "through": revision} for run_id, revision in filed.items()]
        mark = sa.update(r).where(r.c.run_id == sa.bindparam("run")).values(files_revision=sa.bindparam("through"))
        await self._database.transact(lambda c: c.execute(mark, rows))

    def working(self, connection: sa.Connection) -> Sequence[Row]:
        """Executions that a runner holds, or held when the process died."""
        e, r = t.checkpoint_executions.c, t.pipeline_runs.c
        return connection.execute(
            sa.select(e.run_id, e.execution_id, e.dispatch_number, e.driver)
            .select_from(t.checkpoint_executions.join(t.pipeline_runs, r.run_id == e.run_id))
            .where(e.state == State.WORKING.value, e.archived_by.is_(None), r.archived_by.is_(None))
        ).all()

    async def store_large(self, products: Products) -> Products:
        """Large contents are stored ahead, so that they do not hold the writer while the decision is saved."""
        large = [a for a in products.artifacts if a.content is not None and a.size >= LARGE]
        for artifact in large:
            content = artifact.content or b""
            await self._database.transact(lambda c, data=content: blobs.put(c, data))
        if not large:
            return products
        done = {a.record_id for a in large}
        return replace(
            products,
            artifacts=tuple(replace(a, content=None) if a.record_id in done else a for a in products.artifacts),
        )

    # ---- drift ---------------------------------------------------------------------------------------------
    async def mend_unfinished(self) -> None:
        """Before anything starts: finish the files of what was committed when the process ended."""
        r = t.pipeline_runs.c
        pipelines = await self._database.aread(
            lambda c: list(
                c.execute(sa.select(r.pipeline_id).where(r.files_revision < r.revision).distinct()).scalars()
            )
        )
        await asyncio.to_thread(self._finish_moves)
        for pipeline_id in pipelines:
            await asyncio.to_thread(self._mend_own, pipeline_id)

    async def mend_all(self) -> DriftReport:
        """Compare every pipeline's folder with the database, and put right what differs."""
        pipelines = await self.pipelines()
        report = DriftReport(self._clock.now(), len(pipelines))
        for pipeline_id in pipelines:
            runs = await self._database.aread(lambda c, of=pipeline_id: _standing_runs(c, of))
            async with self._engine.holding(*runs):
                mended = await asyncio.to_thread(self._mend, pipeline_id)
            report = replace(
                report,
                repaired=report.repaired + mended.repaired,
                moved_aside=report.moved_aside + mended.moved_aside,
                failed=(*report.failed, *mended.failed),
            )
        self.last = report
        if not report.is_clean:
            log.warning("drift: %d files written again, %d moved aside", report.repaired, report.moved_aside)
        return report

    async def pipelines(self) -> list[str]:
        return await self._database.aread(_pipelines)

    def look(self, pipeline_id: str) -> Drift:
        """How a pipeline's folder differs from the database."""
        as_of = self._clock.now()  # what comes after the database was read is not judged
        expected = replace(self._database.read(lambda c: self._expected(c, pipeline_id)), as_of=as_of)
        return self._projection.tree.scan(pipeline_id, expected)

    def _mend(self, pipeline_id: str) -> DriftReport:
        at = self._clock.now()
        drift = self.look(pipeline_id)
        if drift.is_clean:
            return DriftReport(at, 1)
        done = self._projection.tree.repair(drift, at)
        failed = tuple(f"{path}: {why}" for path, why in done.failed)
        for line in failed:
            log.error("drift of pipeline %s could not be put right: %s", pipeline_id, line)
        return DriftReport(at, 1, len(done.written), len(done.kept), failed)

    def _mend_own(self, pipeline_id: str) -> None:
        """What Cairn itself had not written yet is no drift."""
        self._projection.write_definition(pipeline_id)
        for run_id, version in self._database.read(lambda c: _unfinished_runs(c, pipeline_id)):
            self._projection.renew_run_info(pipeline_id, run_id, version)
        self._mend(pipeline_id)

    def _expected(self, connection: sa.Connection, pipeline_id: str) -> Expected:
        e, r = t.checkpoint_executions.c, t.pipeline_runs.c
        rows = connection.execute(
            sa.select(e.execution_id, e.has_workspace, r.archived_by)
            .select_from(t.checkpoint_executions.join(t.pipeline_runs, r.run_id == e.run_id))
            .where(r.pipeline_id == pipeline_id)
        ).all()
        return Expected(
            files=trees.expected(connection, self._database, pipeline_id),
            latest=trees.latest_folder(connection, pipeline_id),
            workspaces=Workspaces(
                open=frozenset(row.execution_id for row in rows if row.has_workspace and row.archived_by is None),
                known=frozenset(row.execution_id for row in rows),
            ),
        )

    def _finish_moves(self) -> None:
        """Rollbacks, deletions and ended definitions whose folders had not moved yet."""
        for rollback in self._database.read(_unfinished_rollbacks):
            self._projection.finish_rollback(rollback)
        self._projection.finish_deletions()


def _pipelines(connection: sa.Connection) -> list[str]:
    p = t.pipelines.c
    return list(
        connection.execute(sa.select(p.pipeline_id).where(p.deleted_at.is_(None)).order_by(p.created_at)).scalars()
    )


def _standing_runs(connection: sa.Connection, pipeline_id: str) -> list[str]:
    r = t.pipeline_runs.c
    return list(
        connection.execute(sa.select(r.run_id).where(r.pipeline_id == pipeline_id, r.archived_by.is_(None))).scalars()
    )


def _unfinished_runs(connection: sa.Connection, pipeline_id: str) -> list[tuple[str, int | None]]:
    r = t.pipeline_runs.c
    rows = connection.execute(
        sa.select(r.run_id, r.run_version).where(
            r.pipeline_id == pipeline_id, r.files_revision < r.revision, r.archived_by.is_(None)
        )
    )
    return [(row.run_id, row.run_version) for row in rows]


def _unfinished_rollbacks(connection: sa.Connection) -> list[str]:
    r = t.rollback_events.c
    return list(
        connection.execute(sa.select(r.rollback_id).where(r.files_done.is_(False)).order_by(r.created_at)).scalars()
    )
