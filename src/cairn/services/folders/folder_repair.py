"""Keep the folders equal to the database: finish unfinished changes, and find and repair drift."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from cairn.files import Drift, ExpectedTree, RepairResult, Tree, Workspaces, layout
from cairn.ports import Clock
from cairn.services.engine.engine import Engine
from cairn.services.folders import expected_files, queries, records
from cairn.services.folders.folder_sync import FolderSync
from cairn.services.folders.recovery import FileRecovery
from cairn.store import Connection, Database
from cairn.store import pipelines as pipeline_rows
from cairn.store.events import chain

log = logging.getLogger(__name__)

ACTOR = "repair"  # the actor of drift events
MAX_PATHS = 50  # listed per kind in an event


@dataclass(frozen=True, slots=True)
class RepairReport:
    checked_at: datetime
    pipelines: int = 0
    rewritten: int = 0  # files that were missing or changed
    moved_aside: int = 0  # files that users added or changed
    failed: tuple[str, ...] = ()

    @property
    def is_clean(self) -> bool:
        return not (self.rewritten or self.moved_aside or self.failed)

    def combine(self, other: RepairReport) -> RepairReport:
        return replace(
            self,
            rewritten=self.rewritten + other.rewritten,
            moved_aside=self.moved_aside + other.moved_aside,
            failed=(*self.failed, *other.failed),
        )


class FolderRepair:
    def __init__(
        self, database: Database, engine: Engine, folder_sync: FolderSync, recovery: FileRecovery, clock: Clock
    ) -> None:
        self._database = database
        self._engine = engine
        self._folder_sync = folder_sync
        self._recovery = recovery
        self._clock = clock
        self.last_report: RepairReport | None = None

    @property
    def _tree(self) -> Tree:
        return self._folder_sync.tree

    @property
    def root(self) -> Path:
        """The folder that contains the folders of all pipelines."""
        return self._tree.root

    # Unfinished changes
    async def save_synced_revisions(self) -> None:
        """Save which runs are synced, so that the next start doesn't have to check them."""
        revisions = self._folder_sync.pop_all_synced()
        if revisions:
            await self._database.transact(lambda c: records.save_synced_revisions(c, revisions))

    async def repair_failed(self) -> None:
        """Retry the pipelines whose files could not be synced."""
        for pipeline_id in await self._database.aread(self._folder_sync.failed_pipelines):
            await self.repair_pipeline(pipeline_id)

    async def repair_unfinished(self) -> None:
        """Finish the committed changes of all pipelines, at startup and on request."""
        for pipeline_id in await asyncio.to_thread(self._recovery.unfinished_pipelines):
            await self.repair_pipeline(pipeline_id)

    async def repair_pipeline(self, pipeline_id: str) -> None:
        """Finish the committed changes of a pipeline. A failed repair is retried later."""
        with self._record_failure(pipeline_id):
            async with self._engine.lock(pipeline_id):
                runs = await self._database.aread(lambda c: pipeline_rows.current_runs(c, pipeline_id))
                async with self._engine.lock(*runs):
                    await self.repair_locked_pipeline(pipeline_id, runs)

    async def repair_locked_pipeline(self, pipeline_id: str, runs: list[str]) -> None:
        """Finish the committed changes of a pipeline. The caller holds the locks of the pipeline and its runs."""
        with self._record_failure(pipeline_id):
            await self._folder_sync.open_runs(runs)
            self._folder_sync.mark_repaired(pipeline_id, await asyncio.to_thread(self._finish, pipeline_id))

    @contextmanager
    def _record_failure(self, pipeline_id: str) -> Generator[None]:
        try:
            yield
        except Exception as error:  # noqa: BLE001 - the other pipelines must still be repaired
            self._folder_sync.fail_pipeline(pipeline_id, error)

    def _finish(self, pipeline_id: str) -> dict[str, int]:
        """Finish all changes. Return the synced revision of each repaired run."""
        self._recovery.finish_moves(pipeline_id)
        if pipeline_id not in self._database.read(queries.active_pipelines):
            self._database.transact_now(lambda c: records.mark_in_sync(c, pipeline_id))
            return {}
        runs = self._database.read(lambda c: queries.unsynced_runs(c, pipeline_id))
        for run_id in runs:
            self._recovery.finish_run(run_id)
        if self._repair(self.find_drift(pipeline_id)).failed:
            return {}
        self._database.transact_now(lambda c: records.mark_in_sync(c, pipeline_id))
        return self._database.read(lambda c: queries.revisions(c, runs))

    # Drift
    async def repair_all(self) -> RepairReport:
        """Compare the folder of every pipeline with the database and repair differences."""
        pipelines = await self.active_pipelines()
        report = RepairReport(self._clock.now(), len(pipelines))
        for pipeline_id in pipelines:
            try:
                report = report.combine(await self._repair_drift(pipeline_id))
            except OSError as error:
                report = replace(report, failed=(*report.failed, f"{pipeline_id}: {error}"))
        self.last_report = report
        if not report.is_clean:
            log.warning("repaired drift: %d files rewritten, %d moved aside", report.rewritten, report.moved_aside)
        return report

    async def active_pipelines(self) -> list[str]:
        return await self._database.aread(queries.active_pipelines)

    async def _repair_drift(self, pipeline_id: str) -> RepairReport:
        """Check without locks first. If something differs, check again under the locks and repair it."""
        at = self._clock.now()
        if (await asyncio.to_thread(self.find_drift, pipeline_id)).is_clean:
            return RepairReport(at)
        async with self._engine.lock(pipeline_id):
            if pipeline_id not in await self.active_pipelines():
                return RepairReport(at)
            runs = await self._database.aread(lambda c: pipeline_rows.current_runs(c, pipeline_id))
            async with self._engine.lock(*runs):
                await self._folder_sync.open_runs(runs)
                return await asyncio.to_thread(self._repair_drift_now, pipeline_id, at)

    def _repair_drift_now(self, pipeline_id: str, at: datetime) -> RepairReport:
        drift = self.find_drift(pipeline_id)
        outdated = sum(self._own_checksum(pipeline_id, path) is not None for path in drift.changed)
        result = self._repair(drift)
        failed = tuple(f"{path}: {reason}" for path, reason in result.failed)
        for failure in failed:
            log.error("could not repair drift of pipeline %s: %s", pipeline_id, failure)
        report = RepairReport(at, 1, len(result.written) - outdated, len(result.moved_aside), failed)
        if report.rewritten or report.moved_aside:
            self._record_event(pipeline_id, result, at)
        return report

    def find_drift(self, pipeline_id: str) -> Drift:
        """Find the differences between the folder of a pipeline and the database. Slow: call it in a thread."""
        as_of = self._clock.now()  # ignore files that appear after the database was read
        expected, in_progress = self._database.read(
            lambda c: (self._expected_tree(c, pipeline_id), _run_info_paths(c, pipeline_id))
        )
        drift = self._tree.scan(pipeline_id, replace(expected, as_of=as_of))
        # The `run_info.json` of a run in progress is outdated until the run is idle.
        outdated = {path for path in drift.changed if path in in_progress and self._own_checksum(pipeline_id, path)}
        return replace(drift, changed=tuple(path for path in drift.changed if path not in outdated))

    def _repair(self, drift: Drift) -> RepairResult:
        if drift.is_clean:
            return RepairResult()
        self._tree.create_pipeline(drift.pipeline_id)  # empty folders are not part of the drift
        own = set(self._recovery.own_checksums(drift.pipeline_id))
        own.update(filter(None, (self._own_checksum(drift.pipeline_id, path) for path in drift.changed)))
        return self._tree.repair(drift, self._clock.now(), own)

    def _own_checksum(self, pipeline_id: str, path: str) -> str | None:
        """The checksum of a `run_info.json` that was not edited after Cairn wrote it."""
        if not path.endswith(f"/{layout.RUN_INFO}"):
            return None
        try:
            return expected_files.checksum_if_unmodified((self._tree.root / pipeline_id / path).read_bytes())
        except OSError:
            return None

    def _record_event(self, pipeline_id: str, result: RepairResult, at: datetime) -> None:
        """Record an event with the rewritten files and the new paths of user files."""
        metadata = {
            "rewritten": list(result.written[:MAX_PATHS]),
            "moved_aside": [{"from": old, "to": new} for old, new in result.moved_aside[:MAX_PATHS]],
            "counts": {"rewritten": len(result.written), "moved_aside": len(result.moved_aside)},
        }
        self._database.transact_now(
            lambda c: chain.append_pipeline_event(c, pipeline_id, "drift_repaired", ACTOR, at, metadata)
        )

    def _expected_tree(self, connection: Connection, pipeline_id: str) -> ExpectedTree:
        rows = queries.workspaces(connection, pipeline_id)
        return ExpectedTree(
            files=expected_files.list_files(connection, self._database, pipeline_id),
            latest=expected_files.latest_run_folder(connection, pipeline_id),
            workspaces=Workspaces(
                open=frozenset(row.execution_id for row in rows if row.has_workspace and row.archived_by is None),
                known=frozenset(row.execution_id for row in rows),
            ),
        )


def _run_info_paths(connection: Connection, pipeline_id: str) -> frozenset[str]:
    """Paths of the `run_info.json` of runs in progress."""
    return frozenset(
        f"{layout.run_folder(row.run_version, row.run_id)}/{layout.RUN_INFO}"
        for row in queries.runs_in_progress(connection, pipeline_id)
    )
