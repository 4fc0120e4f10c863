"""Permanently delete data whose retention time has ended. Files of users are never deleted."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from cairn.core.commands import CancelRun
from cairn.core.errors import CommandRefused
from cairn.files import layout
from cairn.ports import JobEngine
from cairn.services.engine.engine import Engine
from cairn.services.folders import queries
from cairn.services.folders.folder_sync import FolderSync
from cairn.services.idempotency import RESPONSE_LIFETIME
from cairn.services.notifications.records import delete_old_notifications
from cairn.store import Connection, blobs
from cairn.store import tables as t
from cairn.store.events import chain
from cairn.store.runs.run_rows import Row
from cairn.store.settings import save_setting

log = logging.getLogger(__name__)

ACTOR = "retention"  # the actor of events
KEY = "retention"  # setting: time of the last sweep
DAY = timedelta(days=1)
BLOB_GRACE = timedelta(days=1)  # a blob is stored before the row that refers to it
JOB_GRACE = timedelta(hours=1)  # after the end of a job


@dataclass(frozen=True, slots=True)
class RetentionDays:
    """Retention times in days. 0 means forever."""

    archives: int = 365
    errored: int = 90
    tests: int = 7
    deliveries: int = 90


class Retention:
    def __init__(self, engine: Engine, folder_sync: FolderSync, jobs: JobEngine, days: RetentionDays) -> None:
        self._engine = engine
        self._database = engine.database
        self._folder_sync = folder_sync
        self._tree = folder_sync.tree
        self._jobs = jobs
        self._days = days

    async def sweep_daily(self) -> None:
        """Sweep once a day, in one of the processes."""
        now = self._engine.clock.now()
        if await self._database.transact(lambda c: _claim_daily_sweep(c, now)):
            await self.sweep()

    async def sweep(self) -> None:
        """Delete all data whose retention time has ended."""
        now = self._engine.clock.now()
        await self.sweep_jobs()
        await self._sweep_rows(now)
        for pipeline_id in await self._database.aread(queries.active_pipelines):
            if self._days.errored:
                await self._sweep_failed_workspaces(pipeline_id, now - timedelta(days=self._days.errored))
            if self._days.archives:
                await self._sweep_archives(pipeline_id, now - timedelta(days=self._days.archives))
        if self._days.tests:
            before = now - timedelta(days=self._days.tests)
            for row in await self._database.aread(lambda c: _expired_test_runs(c, before)):
                await self._remove_test_run(row)

    # Rows
    async def sweep_jobs(self) -> None:
        """Delete ended jobs, in batches."""
        before = self._engine.clock.now() - JOB_GRACE
        while await asyncio.to_thread(self._jobs.delete_finished, before):
            pass

    async def _sweep_rows(self, now: datetime) -> None:
        s, k = t.sessions, t.idempotency_keys
        await self._database.transact(lambda c: c.execute(sa.delete(s).where(s.c.expires_at < now)))
        await self._database.transact(lambda c: c.execute(sa.delete(k).where(k.c.created_at < now - RESPONSE_LIFETIME)))
        if self._days.deliveries:
            before = now - timedelta(days=self._days.deliveries)
            while await self._database.transact(lambda c: delete_old_notifications(c, before)):
                pass
        await self.sweep_blobs()

    async def sweep_blobs(self) -> None:
        """Delete unreferenced blobs, in batches."""
        before = self._engine.clock.now() - BLOB_GRACE
        while await self._database.transact(lambda c: blobs.sweep(c, before, limit=100)):
            pass

    # Folders
    async def _sweep_failed_workspaces(self, pipeline_id: str, before: datetime) -> None:
        expired = await asyncio.to_thread(self._tree.expired_folders, pipeline_id, before, layout.ERRORED)
        if await self._delete(pipeline_id, expired):
            await self._record_event(pipeline_id, "failed_workspaces_deleted", paths=list(expired))

    async def _sweep_archives(self, pipeline_id: str, before: datetime) -> None:
        """Delete expired archives, except files of users that drift repair has moved aside."""
        expired = await asyncio.to_thread(self._tree.expired_folders, pipeline_id, before, layout.ARCHIVED)
        for path in expired:
            name = path.removeprefix(f"{layout.ARCHIVED}/")
            if name.startswith("rollback_"):
                await self._delete_rollback_archive(pipeline_id, path)
            elif name.startswith("definition_") and await self._delete(pipeline_id, (path,)):
                await self._record_event(pipeline_id, "archive_deleted", paths=[path])

    async def _delete_rollback_archive(self, pipeline_id: str, path: str) -> None:
        """Delete the archive of a rollback, which can't be undone afterwards."""
        row = await self._database.aread(lambda c: _rollback_at(c, pipeline_id, path))
        if row is not None:
            now = self._engine.clock.now()
            async with self._engine.lock(row.target_run_id):
                await self._database.transact(lambda c: _mark_archive_deleted(c, row, path, now))
                self._engine.forget(row.target_run_id)
        await self._delete(pipeline_id, (path,))

    async def _delete(self, pipeline_id: str, paths: tuple[str, ...]) -> bool:
        for path in paths:
            try:
                await asyncio.to_thread(self._tree.delete_expired, pipeline_id, path)
            except OSError as error:
                log.warning("could not delete %s of pipeline %s: %s", path, pipeline_id, error)
                return False
        return bool(paths)

    async def _record_event(self, pipeline_id: str, type: str, **metadata: Any) -> None:
        at = self._engine.clock.now()
        await self._database.transact(lambda c: chain.append_pipeline_event(c, pipeline_id, type, ACTOR, at, metadata))

    # Test runs
    async def _remove_test_run(self, row: Row) -> None:
        """Delete the folder first. After an interruption, it is recreated from the rows, and the next sweep retries."""
        with suppress(CommandRefused):  # the run is already closed
            await self._engine.send(row.run_id, CancelRun(), self._engine.context(ACTOR))
        async with self._engine.lock(row.pipeline_id), self._engine.lock(row.run_id):
            if not await self._delete(row.pipeline_id, (layout.run_folder(None, row.run_id),)):
                return
            await self._database.transact(lambda c: _delete_run(c, row.run_id))
            self._engine.forget(row.run_id)
            self._folder_sync.forget_run(row.run_id)
        await self._record_event(row.pipeline_id, "test_run_deleted", run_id=row.run_id)


def _claim_daily_sweep(connection: Connection, now: datetime) -> bool:
    """Whether the sweep is due. Only one process gets True."""
    c = t.settings.c
    value: Any = connection.execute(sa.select(c.value).where(c.key == KEY).with_for_update()).scalar_one_or_none()
    if value is not None and now - datetime.fromisoformat(value) < DAY:
        return False
    save_setting(connection, KEY, now.isoformat())
    return True


def _rollback_at(connection: Connection, pipeline_id: str, path: str) -> Row | None:
    r = t.rollback_events.c
    return connection.execute(
        sa.select(r.rollback_id, r.target_run_id, r.undone_at).where(
            r.pipeline_id == pipeline_id, r.archive_location == f"{path}/"
        )
    ).one_or_none()


def _mark_archive_deleted(connection: Connection, row: Row, path: str, at: datetime) -> None:
    r = t.rollback_events
    connection.execute(sa.update(r).where(r.c.rollback_id == row.rollback_id).values(archive_location=""))
    event = chain.EventRecord("archive_deleted", {"paths": [path]}, rollback_id=row.rollback_id)
    chain.append_run_event(connection, row.target_run_id, event, ACTOR, at)


def _expired_test_runs(connection: Connection, before: datetime) -> list[Row]:
    r = t.pipeline_runs.c
    query = sa.select(r.run_id, r.pipeline_id).where(r.is_test, r.created_at < before).order_by(r.created_at)
    return list(connection.execute(query))


def _delete_run(connection: Connection, run_id: str) -> None:
    """Delete the rows of a run. Its events stay, because they are the audit log."""
    for table, condition in reversed(_owned_rows(run_id).items()):
        connection.execute(sa.delete(table).where(condition))


def _owned_rows(run_id: str) -> dict[sa.Table, sa.ColumnElement[bool]]:
    """Every table with direct or indirect references to the run, with a condition for its rows. Parents first."""
    owned: dict[sa.Table, sa.ColumnElement[bool]] = {t.pipeline_runs: t.pipeline_runs.c.run_id == run_id}
    for table in t.metadata.sorted_tables:
        references = [
            key.parent.in_(sa.select(key.column).where(owned[key.column.table]))
            for key in table.foreign_keys
            if key.column.table in owned and key.column.table is not table
        ]
        if references:
            owned[table] = sa.or_(*references)
    return owned
