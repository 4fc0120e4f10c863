"""Keeps the folders equal to the database: at every start, and whenever somebody asks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import sqlalchemy as sa

from cairn.core.states import RunStatus
from cairn.files import Drift, ExpectedTree, RepairResult, Tree, Workspaces, layout
from cairn.ports import Clock
from cairn.services.engine.engine import Engine
from cairn.services.folders import expected_files, records
from cairn.services.folders import recovery as mending
from cairn.services.folders.folder_sync import FolderSync
from cairn.services.folders.recovery import FileRecovery
from cairn.store import Connection, Database
from cairn.store import pipelines as store_pipelines
from cairn.store import tables as t
from cairn.store.events import chain

log = logging.getLogger(__name__)

BY = "repair"  # the actor of its events
SHOWN = 50  # paths of each kind that an event names


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What was found to differ, and put right."""

    checked_at: datetime
    pipelines: int = 0
    rewritten: int = 0  # files that were missing, or had been changed
    moved_aside: int = 0  # files of users, and changed ones
    failed: tuple[str, ...] = ()

    @property
    def is_clean(self) -> bool:
        return not (self.rewritten or self.moved_aside or self.failed)

    def with_more(self, other: RepairReport) -> RepairReport:
        return replace(
            self,
            rewritten=self.rewritten + other.rewritten,
            moved_aside=self.moved_aside + other.moved_aside,
            failed=(*self.failed, *other.failed),
        )


class FolderRepair:
    def __init__(
        self, database: Database, engine: Engine, folder_sync: FolderSync, mending: FileRecovery, clock: Clock
    ) -> None:
        self._database = database
        self._engine = engine
        self._folder_sync = folder_sync
        self._mending = mending
        self._clock = clock
        self.last: RepairReport | None = None

    @property
    def _tree(self) -> Tree:
        return self._folder_sync.tree

    @property
    def root(self) -> Path:
        """The folder that holds the pipelines' folders."""
        return self._tree.root

    # ---- for the worker ------------------------------------------------------------------------------
    async def save_synced_revisions(self) -> None:
        """Note whose files stand, so that the next start need not look at them first."""
        filed = self._folder_sync.pop_all_synced()
        if not filed:
            return
        r = t.pipeline_runs
        rows = [{"run": run_id, "through": revision} for run_id, revision in filed.items()]
        mark = sa.update(r).where(r.c.run_id == sa.bindparam("run")).values(synced_revision=sa.bindparam("through"))
        await self._database.transact(lambda c: c.execute(mark, rows))

    async def repair_failed(self) -> None:
        """Files that could not follow are tried again."""
        for pipeline_id in await self._database.aread(self._folder_sync.failed_pipelines):
            await self.repair_pipeline(pipeline_id)

    # ---- at the start --------------------------------------------------------------------------------
    async def repair_unfinished(self) -> None:
        """Before anything starts, and when somebody asks: finish the files of what was committed."""
        for pipeline_id in await asyncio.to_thread(self._mending.unfinished):
            await self.repair_pipeline(pipeline_id)

    async def repair_pipeline(self, pipeline_id: str) -> None:
        """Finish what was committed for a pipeline; what fails is tried again."""
        with self._trying(pipeline_id):
            async with self._engine.lock(pipeline_id):
                runs = await self._database.aread(lambda c: store_pipelines.current_runs(c, pipeline_id))
                async with self._engine.lock(*runs):
                    await self.repair_locked_pipeline(pipeline_id, runs)

    async def repair_locked_pipeline(self, pipeline_id: str, runs: list[str]) -> None:
        """The same for who holds the pipeline and its runs. What Cairn itself had not written yet is no drift."""
        with self._trying(pipeline_id):
            await self._folder_sync.open_runs(runs)
            self._folder_sync.mark_repaired(pipeline_id, await asyncio.to_thread(self._finish, pipeline_id))

    @contextmanager
    def _trying(self, pipeline_id: str) -> Generator[None]:
        try:
            yield
        except Exception as error:  # noqa: BLE001 - the others are mended all the same
            self._folder_sync.fail_pipeline(pipeline_id, error)

    def _finish(self, pipeline_id: str) -> dict[str, int]:
        """The answer is which runs' files stand now, and through which revision."""
        self._mending.finish_moves(pipeline_id)
        if pipeline_id not in self._database.read(mending.active_pipelines):
            self._database.transact_now(lambda c: records.mark_in_sync(c, pipeline_id))
            return {}
        unfinished = self._database.read(lambda c: mending.unfinished_runs(c, pipeline_id))
        for run_id in unfinished:
            self._mending.finish_run(run_id)
        if self._repair(self.find_drift(pipeline_id)).failed:
            return {}
        self._database.transact_now(lambda c: records.mark_in_sync(c, pipeline_id))
        return self._database.read(lambda c: mending.revisions(c, unfinished))

    async def repair_all(self) -> RepairReport:
        """Compare every pipeline's folder with the database, and put right what differs."""
        pipelines = await self.pipelines()
        report = RepairReport(self._clock.now(), len(pipelines))
        for pipeline_id in pipelines:
            try:
                report = report.with_more(await self._mend(pipeline_id))
            except OSError as error:
                report = replace(report, failed=(*report.failed, f"{pipeline_id}: {error}"))
        self.last = report
        if not report.is_clean:
            log.warning("drift: %d files written again, %d moved aside", report.rewritten, report.moved_aside)
        return report

    async def pipelines(self) -> list[str]:
        return await self._database.aread(mending.active_pipelines)

    async def _mend(self, pipeline_id: str) -> RepairReport:
        """Looked at twice: what differs is judged only while nobody acts on the pipeline."""
        at = self._clock.now()
        if (await asyncio.to_thread(self.find_drift, pipeline_id)).is_clean:
            return RepairReport(at)
        async with self._engine.lock(pipeline_id):
            if pipeline_id not in await self.pipelines():
                return RepairReport(at)
            runs = await self._database.aread(lambda c: store_pipelines.current_runs(c, pipeline_id))
            async with self._engine.lock(*runs):
                await self._folder_sync.open_runs(runs)
                return await asyncio.to_thread(self._mend_now, pipeline_id, at)

    # ---- drift, beside the event loop ----------------------------------------------------------------
    def find_drift(self, pipeline_id: str) -> Drift:
        """How a pipeline's folder differs from the database."""
        as_of = self._clock.now()  # what comes after the database was read is not judged
        expected, at_work = self._database.read(lambda c: (self._expected(c, pipeline_id), _at_work(c, pipeline_id)))
        drift = self._tree.scan(pipeline_id, replace(expected, as_of=as_of))
        # Of a run that is at work `run_info.json` is written when it comes to rest.
        behind = {path for path in drift.changed if path in at_work and self._own_info(pipeline_id, path)}
        return replace(drift, changed=tuple(path for path in drift.changed if path not in behind))

    def _mend_now(self, pipeline_id: str, at: datetime) -> RepairReport:
        drift = self.find_drift(pipeline_id)
        behind = sum(self._own_info(pipeline_id, path) is not None for path in drift.changed)
        done = self._repair(drift)
        failed = tuple(f"{path}: {why}" for path, why in done.failed)
        for line in failed:
            log.error("drift of pipeline %s could not be put right: %s", pipeline_id, line)
        report = RepairReport(at, 1, len(done.written) - behind, len(done.moved_aside), failed)
        if report.rewritten or report.moved_aside:
            self._tell(pipeline_id, done, at)
        return report

    def _repair(self, drift: Drift) -> RepairResult:
        if drift.is_clean:
            return RepairResult()
        self._tree.create_pipeline(drift.pipeline_id)  # the folders that nothing is expected in
        own = set(self._mending.own(drift.pipeline_id))
        own.update(filter(None, (self._own_info(drift.pipeline_id, path) for path in drift.changed)))
        return self._tree.repair(drift, self._clock.now(), own)

    def _own_info(self, pipeline_id: str, path: str) -> str | None:
        """The checksum of a `run_info.json` that Cairn has written and nobody has changed since."""
        if not path.endswith(f"/{layout.RUN_INFO}"):
            return None
        try:
            return expected_files.own_run_info((self._tree.root / pipeline_id / path).read_bytes())
        except OSError:
            return None

    def _tell(self, pipeline_id: str, done: RepairResult, at: datetime) -> None:
        """In the trail of the pipeline: what was written again, and where things of users are now."""
        told = {
            "rewritten": list(done.written[:SHOWN]),
            "moved_aside": [{"from": was, "to": now} for was, now in done.moved_aside[:SHOWN]],
            "counts": {"rewritten": len(done.written), "moved_aside": len(done.moved_aside)},
        }
        self._database.transact_now(
            lambda c: chain.append_pipeline_event(c, pipeline_id, "drift_repaired", BY, at, told)
        )

    def _expected(self, connection: Connection, pipeline_id: str) -> ExpectedTree:
        e, r = t.checkpoint_executions.c, t.pipeline_runs.c
        rows = connection.execute(
            sa.select(e.execution_id, e.has_workspace, r.archived_by)
            .select_from(t.checkpoint_executions.join(t.pipeline_runs, r.run_id == e.run_id))
            .where(r.pipeline_id == pipeline_id)
        ).all()
        return ExpectedTree(
            files=expected_files.expected(connection, self._database, pipeline_id),
            latest=expected_files.latest_folder(connection, pipeline_id),
            workspaces=Workspaces(
                open=frozenset(row.execution_id for row in rows if row.has_workspace and row.archived_by is None),
                known=frozenset(row.execution_id for row in rows),
            ),
        )


def _at_work(connection: Connection, pipeline_id: str) -> frozenset[str]:
    """Where the `run_info.json` of runs in progress lie."""
    r = t.pipeline_runs.c
    rows = connection.execute(
        sa.select(r.run_id, r.run_version).where(
            r.pipeline_id == pipeline_id, r.status == RunStatus.IN_PROGRESS.value, r.archived_by.is_(None)
        )
    )
    return frozenset(f"{layout.run_folder(row.run_version, row.run_id)}/{layout.RUN_INFO}" for row in rows)
