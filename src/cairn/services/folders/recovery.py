"""What was committed and has not reached the folders yet: after a crash, or when the disk failed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar
from uuid import UUID

import sqlalchemy as sa

from cairn.core.commands import CommandContext
from cairn.core.effects import CreateWorkspace, FileEffect, MoveToErrored, StageArtifacts
from cairn.core.execution import Execution
from cairn.core.states import ExecutionState
from cairn.files import Tree, layout
from cairn.ports import Clock
from cairn.services.engine.file_plan import FilePlan
from cairn.services.engine.plans import DefinitionCache
from cairn.services.folders import expected_files, records
from cairn.services.folders.file_effects import FileEffects
from cairn.services.folders.folder_sync import FolderSync
from cairn.services.folders.rollback_folders import RollbackFolders
from cairn.store import Connection, Database, LoadedRun, load_run
from cairn.store import tables as t
from cairn.store.runs.run_rows import Row

log = logging.getLogger(__name__)

T = TypeVar("T")
NO_COMMAND = UUID(int=0)  # nobody gives one for what is carried out again
FORMER = 20  # earlier definitions whose files are known as Cairn's own


class FileRecovery:
    """Carries out again what a state implies; repeated, it changes nothing."""

    def __init__(self, database: Database, plans: DefinitionCache, folder_sync: FolderSync, clock: Clock) -> None:
        self._database = database
        self._plans = plans
        self._folder_sync = folder_sync
        self._clock = clock

    @property
    def _tree(self) -> Tree:
        return self._folder_sync.tree

    def _read(self, query: Callable[[Connection], T]) -> T:
        return self._database.read(query)

    # ---- whole folders -------------------------------------------------------------------------------
    def unfinished(self) -> list[str]:
        """Pipelines whose folders, or whose runs' files, may not have followed."""
        standing, deleted, behind = self._read(lambda c: (active_pipelines(c), _deleted(c), _behind(c)))
        left = list[str]()
        try:
            left = [pipeline_id for pipeline_id in deleted if (self._tree.root / pipeline_id).exists()]
            behind.update(folder.rpartition("_")[0] for folder in self._archive())
        except OSError as error:  # what the database knows of is tried all the same, and tells what is wrong
            log.error("the pipelines' folders could not be looked at: %s", error)  # noqa: TRY400
        return [*left, *(pipeline_id for pipeline_id in standing if pipeline_id in behind)]

    def finish_moves(self, pipeline_id: str) -> None:
        """Its deletion or restoration, ended definitions and rollbacks that had not moved. Its caller holds it."""
        deleted_at = self._read(_deleted).get(pipeline_id)
        if deleted_at is not None:
            self._tree.archive_pipeline(pipeline_id, deleted_at)
            return
        for folder in self._archive():  # restoring it was cut off
            if folder.rpartition("_")[0] == pipeline_id:
                self._tree.restore_pipeline(pipeline_id, f"{layout.ARCHIVED}/{folder}")
        for row in self._read(lambda c: _ended_definitions(c, pipeline_id)):
            self._tree.archive_definition_runs(pipeline_id, row.version, row.ended_at)
            self.note_ended(pipeline_id, row.version)
        for rollback in self._read(lambda c: _unfinished_rollbacks(c, pipeline_id)):
            RollbackFolders(self._database, self._tree).recover(rollback)
            mark = sa.update(t.rollback_events).where(t.rollback_events.c.rollback_id == rollback)
            done = mark.values(files_synced=True)
            self._database.transact_now(lambda c, done=done: c.execute(done))

    def _archive(self) -> list[str]:
        """The folders of pipelines that were deleted, by name."""
        archive = self._tree.root / layout.ARCHIVED
        return sorted(folder.name for folder in archive.iterdir()) if archive.is_dir() else []

    def note_ended(self, pipeline_id: str, version: int) -> None:
        """The runs of this definition lie in the archive."""
        r = t.pipeline_runs
        mark = sa.update(r).where(r.c.pipeline_id == pipeline_id, r.c.pipeline_definition_version == version)
        self._database.transact_now(lambda c: c.execute(mark.values(synced_revision=r.c.revision)))

    # ---- one run -------------------------------------------------------------------------------------
    def finish_run(self, run_id: str) -> None:
        """Workspaces, staged files and earlier passes; everything else is the drift repair's."""
        loaded = self._read(lambda c: load_run(c, run_id, self._plans))
        if loaded is None or loaded.run.archived_by is not None:
            return
        temp = self._tree.root / loaded.facts.pipeline_id / layout.TEMP
        for e in loaded.run.executions.values():
            for effect in _implied(e, has_folder=(temp / f"exec_{e.id}").is_dir()):
                self._carry_out(loaded, e, effect)
        if loaded.run.pass_number > 1:
            self._set_passes_aside(loaded)

    def _carry_out(self, loaded: LoadedRun, e: Execution, effect: FileEffect) -> None:
        given = CommandContext(e.failed_at or self._clock.now(), "", NO_COMMAND)
        FileEffects(self._database, self._tree, loaded.facts, loaded.run, given, FilePlan(())).carry_out(effect)

    def _set_passes_aside(self, loaded: LoadedRun) -> None:
        a = t.artifacts.c
        query = sa.select(a.file_path).where(a.run_id == loaded.facts.run_id, a.promoted_to_permanent_at.is_not(None))
        paths = self._read(lambda c: list(c.execute(query).scalars()))
        for number in range(1, loaded.run.pass_number):
            aside = layout.pass_folder(loaded.run_folder, number)
            names = {p.removeprefix(f"{aside}/").partition("/")[0] for p in paths if p.startswith(f"{aside}/")}
            taken = {n for n in names if any(p.startswith(f"{loaded.run_folder}/{n}/") for p in paths)}
            self._tree.archive_pass(loaded.facts.pipeline_id, loaded.run_folder, number, sorted(names - taken))

    # ---- what Cairn has written itself ---------------------------------------------------------------
    def own(self, pipeline_id: str) -> frozenset[str]:
        """Checksums of contents that were Cairn's own and may give way: earlier definitions, unfinished runs."""

        def read(connection: Connection) -> frozenset[str]:
            a = t.artifacts.c
            runs = unfinished_runs(connection, pipeline_id)
            outputs = connection.execute(sa.select(a.checksum).where(a.run_id.in_(runs))).scalars()
            return expected_files.earlier_definition_checksums(connection, pipeline_id, FORMER).union(outputs)

        return self._read(read)


def _implied(e: Execution, *, has_folder: bool) -> list[FileEffect]:
    if e.has_workspace and e.archived_by is None:
        shown = e.outputs and e.state in (ExecutionState.AWAITING_COMPLETION_APPROVAL, ExecutionState.WAITING)
        return [CreateWorkspace(e.id), *([StageArtifacts(e.id)] if shown else [])]
    if has_folder and e.started_at is not None and e.state in (ExecutionState.FAILED, ExecutionState.CANCELLED):
        return [MoveToErrored(e.id)]
    return []


def active_pipelines(connection: Connection) -> list[str]:
    p = t.pipelines.c
    return list(
        connection.execute(sa.select(p.pipeline_id).where(p.deleted_at.is_(None)).order_by(p.created_at)).scalars()
    )


def _behind(connection: Connection) -> set[str]:
    """Pipelines that the database knows of something unfinished in."""
    r, back = t.pipeline_runs.c, t.rollback_events.c
    runs = connection.execute(sa.select(r.pipeline_id).where(r.synced_revision < r.revision).distinct()).scalars()
    rollbacks = connection.execute(sa.select(back.pipeline_id).where(back.files_synced.is_(False)).distinct()).scalars()
    return records.out_of_sync_pipelines(connection).union(runs, rollbacks)


def unfinished_runs(connection: Connection, pipeline_id: str) -> list[str]:
    """Runs of the current definition whose files may not stand yet."""
    r, p = t.pipeline_runs.c, t.pipelines.c
    return list(
        connection.execute(
            sa.select(r.run_id)
            .select_from(t.pipeline_runs.join(t.pipelines))
            .where(
                r.pipeline_id == pipeline_id,
                r.pipeline_definition_version == p.pipeline_definition_version,
                r.synced_revision < r.revision,
                r.archived_by.is_(None),
            )
        ).scalars()
    )


def _deleted(connection: Connection) -> dict[str, datetime]:
    """The pipelines that are deleted, and since when."""
    p = t.pipelines.c
    found = connection.execute(sa.select(p.pipeline_id, p.deleted_at).where(p.deleted_at.is_not(None)))
    return {row.pipeline_id: row.deleted_at for row in found}


def _ended_definitions(connection: Connection, pipeline_id: str) -> Sequence[Row]:
    """Definition versions that have ended, with runs whose folders may not have moved; the oldest first."""
    r, p, d = t.pipeline_runs.c, t.pipelines.c, t.definition_revisions.c
    return connection.execute(
        sa.select(r.pipeline_definition_version.label("version"), sa.func.min(d.created_at).label("ended_at"))
        .select_from(
            t.pipeline_runs.join(t.pipelines).join(
                t.definition_revisions,
                (d.pipeline_id == r.pipeline_id) & (d.pipeline_definition_version == r.pipeline_definition_version + 1),
            )
        )
        .where(
            r.pipeline_id == pipeline_id,
            r.synced_revision < r.revision,
            r.pipeline_definition_version < p.pipeline_definition_version,
        )
        .group_by(r.pipeline_definition_version)
        .order_by(r.pipeline_definition_version)
    ).all()


def _unfinished_rollbacks(connection: Connection, pipeline_id: str) -> list[str]:
    r = t.rollback_events.c
    mine = sa.select(r.rollback_id).where(r.pipeline_id == pipeline_id, r.files_synced.is_(False))
    return list(connection.execute(mine.order_by(r.created_at)).scalars())


def revisions(connection: Connection, run_ids: Sequence[str]) -> dict[str, int]:
    r = t.pipeline_runs.c
    rows = connection.execute(sa.select(r.run_id, r.revision).where(r.run_id.in_(run_ids)))
    return {row.run_id: row.revision for row in rows}
