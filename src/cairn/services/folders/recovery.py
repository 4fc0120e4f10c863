"""Finish committed file changes that a crash or a disk error interrupted."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

from cairn.core.commands import CommandContext
from cairn.core.effects import CreateWorkspace, FileEffect, MoveToErrored, StageArtifacts
from cairn.core.execution import Execution
from cairn.core.states import ExecutionState
from cairn.files import Tree, layout
from cairn.ports import Clock
from cairn.services.engine.file_plan import FilePlan
from cairn.services.engine.plans import DefinitionCache
from cairn.services.folders import expected_files, queries, records
from cairn.services.folders.file_effects import FileEffects
from cairn.services.folders.folder_sync import FolderSync
from cairn.services.folders.rollback_folders import RollbackFolders
from cairn.services.rollbacks import records as rollback_records
from cairn.store import Connection, Database, LoadedRun, load_run

log = logging.getLogger(__name__)

T = TypeVar("T")
NO_COMMAND = UUID(int=0)
KNOWN_REVISIONS = 20  # earlier revisions whose files are recognized as Cairn's own


class FileRecovery:
    """Derives the missing file changes from the database. Repeating them changes nothing."""

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

    # Pipelines
    def unfinished_pipelines(self) -> list[str]:
        """Pipelines whose folders may lack a committed change."""
        active, deleted, unsynced = self._read(
            lambda c: (
                queries.active_pipelines(c),
                queries.deleted_pipelines(c),
                records.out_of_sync_pipelines(c) | queries.unsynced_pipelines(c),
            )
        )
        not_archived = list[str]()
        try:
            not_archived = [pipeline_id for pipeline_id in deleted if (self._tree.root / pipeline_id).exists()]
            unsynced.update(folder.rpartition("_")[0] for folder in self._archived_folders())
        except OSError as error:  # repair the pipelines known from the database; that reports the disk error
            log.error("could not read the folder of the pipelines: %s", error)  # noqa: TRY400
        return [*not_archived, *(pipeline_id for pipeline_id in active if pipeline_id in unsynced)]

    def finish_moves(self, pipeline_id: str) -> None:
        """Finish deletions, restorations, new definition versions and rollbacks. The caller holds the lock."""
        deleted_at = self._read(queries.deleted_pipelines).get(pipeline_id)
        if deleted_at is not None:
            self._tree.archive_pipeline(pipeline_id, deleted_at)
            return
        for folder in self._archived_folders():  # an interrupted restoration
            if folder.rpartition("_")[0] == pipeline_id:
                self._tree.restore_pipeline(pipeline_id, f"{layout.ARCHIVED}/{folder}")
        for row in self._read(lambda c: queries.unsynced_definition_versions(c, pipeline_id)):
            self._tree.archive_definition_runs(pipeline_id, row.version, row.ended_at)
            self.mark_version_synced(pipeline_id, row.version)
        for rollback_id in self._read(lambda c: queries.unsynced_rollbacks(c, pipeline_id)):
            RollbackFolders(self._database, self._tree).recover(rollback_id)
            self._database.transact_now(lambda c, rollback=rollback_id: rollback_records.mark_synced(c, [rollback]))

    def _archived_folders(self) -> list[str]:
        """Names of the folders of deleted pipelines."""
        archive = self._tree.root / layout.ARCHIVED
        return sorted(folder.name for folder in archive.iterdir()) if archive.is_dir() else []

    def mark_version_synced(self, pipeline_id: str, version: int) -> None:
        """Record that the runs of a definition version are archived in the folder."""
        self._database.transact_now(lambda c: records.mark_definition_version_synced(c, pipeline_id, version))

    # Runs
    def finish_run(self, run_id: str) -> None:
        """Finish workspaces, staged files and earlier passes. Drift repair does the rest."""
        loaded = self._read(lambda c: load_run(c, run_id, self._plans))
        if loaded is None or loaded.run.archived_by is not None:
            return
        temp = self._tree.root / loaded.facts.pipeline_id / layout.TEMP
        for e in loaded.run.executions.values():
            for effect in _implied_effects(e, has_folder=(temp / f"exec_{e.id}").is_dir()):
                self._apply(loaded, e, effect)
        if loaded.run.pass_number > 1:
            self._archive_passes(loaded)

    def _apply(self, loaded: LoadedRun, e: Execution, effect: FileEffect) -> None:
        context = CommandContext(e.failed_at or self._clock.now(), "", NO_COMMAND)
        FileEffects(self._database, self._tree, loaded.facts, loaded.run, context, FilePlan(())).apply(effect)

    def _archive_passes(self, loaded: LoadedRun) -> None:
        paths = self._read(lambda c: queries.promoted_paths(c, loaded.facts.run_id))
        for number in range(1, loaded.run.pass_number):
            prefix = f"{layout.pass_folder(loaded.run_folder, number)}/"
            names = {p.removeprefix(prefix).partition("/")[0] for p in paths if p.startswith(prefix)}
            in_use = {n for n in names if any(p.startswith(f"{loaded.run_folder}/{n}/") for p in paths)}
            self._tree.archive_pass(loaded.facts.pipeline_id, loaded.run_folder, number, sorted(names - in_use))

    # Contents
    def own_checksums(self, pipeline_id: str) -> frozenset[str]:
        """Checksums of files that Cairn wrote and can replace: earlier definitions and outputs of unsynced runs."""

        def read(connection: Connection) -> frozenset[str]:
            definitions = expected_files.earlier_definition_checksums(connection, pipeline_id, KNOWN_REVISIONS)
            runs = queries.unsynced_runs(connection, pipeline_id)
            return definitions | queries.artifact_checksums(connection, runs)

        return self._read(read)


def _implied_effects(e: Execution, *, has_folder: bool) -> list[FileEffect]:
    """The file effects that the state of an execution implies."""
    if e.has_workspace and e.archived_by is None:
        is_staged = e.outputs and e.state in (ExecutionState.AWAITING_COMPLETION_APPROVAL, ExecutionState.WAITING)
        return [CreateWorkspace(e.id), *([StageArtifacts(e.id)] if is_staged else [])]
    if has_folder and e.started_at is not None and e.state in (ExecutionState.FAILED, ExecutionState.CANCELLED):
        return [MoveToErrored(e.id)]
    return []
