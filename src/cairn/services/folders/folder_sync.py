"""Sync the folder tree after each commit. Failures are recorded and repaired later."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterable, Mapping, Sequence

from cairn.core.effects import (
    ArchiveFiles,
    CreateWorkspace,
    DeleteWorkspaces,
    FileEffect,
    MoveToErrored,
    PromoteArtifacts,
    RestoreFiles,
)
from cairn.core.run import Run
from cairn.files import Tree, layout
from cairn.services.engine.commit import Commit
from cairn.services.engine.file_plan import FilePlan
from cairn.services.engine.locks import Locks
from cairn.services.folders import expected_files, queries
from cairn.services.folders.file_effects import FileEffects, is_in_process
from cairn.services.logs.log_writer import LogWriter
from cairn.services.rollbacks import records as rollback_records
from cairn.store import Connection, Database, LoadedRun, RunFacts
from cairn.store.errors import TRANSIENT_ERRORS

log = logging.getLogger(__name__)

OPEN_AFTER = 0.05  # seconds until a new run gets its folder; a run that is idle sooner gets it at once
CHEAP_EFFECTS = (CreateWorkspace, PromoteArtifacts, DeleteWorkspaces)
MAX_CHEAP_BYTES = 256 * 1024  # more is written in a thread


class FolderSync:
    """An after-commit step. Lock a run before you call any other method for it."""

    def __init__(self, database: Database, tree: Tree, log_writer: LogWriter, locks: Locks) -> None:
        self._database = database
        self._log_writer = log_writer
        self._locks = locks
        self._linking = threading.Lock()
        self._synced: dict[str, int] = {}  # by run: the revision in its folder, not saved yet
        self._unopened: dict[str, LoadedRun] = {}  # new runs without a folder, in their current state
        self._opening: set[asyncio.Task[None]] = set()
        self._failed_runs: set[str] = set()
        self._failed_pipelines: set[str] = set()
        self.tree = tree

    # After a commit
    async def after_commit(self, commits: Sequence[Commit]) -> None:
        for commit in commits:
            await self._sync(commit)
        await self._mark_rollbacks_synced(commits)

    async def _sync(self, commit: Commit) -> None:
        run, run_id = commit.after, commit.run_id
        is_new = not commit.before.is_stored
        if is_new or not self.is_open(run_id):
            self._unopened[run_id] = run
        # While a lane continues, `run_info.json` stays as it is. It is written once, when the run is idle.
        is_idle = not commit.lane_continues and not commit.jobs
        is_open = self.is_open(run_id)
        try:
            await self._apply(commit)
            if is_idle and is_open and run.run.archived_by is None:
                await asyncio.to_thread(self._write_run_info, run.facts)
        except Exception as error:  # noqa: BLE001 - any failure is repaired later
            commit.warnings.append(self.fail_run(run_id, error))
        else:
            self._mark_synced(run_id, run.revision)
        if is_idle and not is_open:
            commit.warnings.extend(await self.open_run(run))
        elif is_new:
            asyncio.get_running_loop().call_later(OPEN_AFTER, self._open_soon, run_id)

    async def _apply(self, commit: Commit) -> None:
        """Apply the file effects: in the event loop if they are cheap, otherwise in a thread."""
        facts, run, file_plan = commit.after.facts, commit.decision.run, commit.file_plan
        effects = [effect for effect in commit.decision.effects if isinstance(effect, FileEffect)]
        file_effects = FileEffects(self._database, self.tree, facts, run, commit.context, file_plan)
        if _is_cheap(run, effects, file_plan):
            _apply_all(file_effects, effects)
            return
        if any(isinstance(effect, MoveToErrored) for effect in effects):
            await self._log_writer.flush()  # the last log lines move with the workspace

        def apply() -> None:
            _apply_all(file_effects, effects)
            if any(
                isinstance(effect, ArchiveFiles | RestoreFiles) and _is_run_archived(run, effect.rollback)
                for effect in effects
            ):
                self.update_latest_link(facts.pipeline_id)

        await asyncio.to_thread(apply)

    async def _mark_rollbacks_synced(self, commits: Sequence[Commit]) -> None:
        """Record that the folders of these rollbacks have moved, so that the next start doesn't check them."""
        effects = [effect for commit in commits for effect in commit.decision.effects]
        rollbacks = {effect.rollback for effect in effects if isinstance(effect, ArchiveFiles | RestoreFiles)}
        if rollbacks and not any(commit.warnings for commit in commits):
            try:
                await self._database.transact(lambda c: rollback_records.mark_synced(c, rollbacks))
            except TRANSIENT_ERRORS as error:
                log.warning("could not mark rollbacks as synced: %s", error)

    # Folders of new runs
    def is_open(self, run_id: str) -> bool:
        """Whether the folder of a run has been created."""
        return run_id not in self._unopened

    async def open_run(self, run: LoadedRun) -> list[str]:
        """Create the folder of a new run. Return warnings for the caller."""
        run_id = run.facts.run_id
        self._unopened.pop(run_id, None)

        def create() -> None:
            if self._write_run_info(run.facts):
                self.update_latest_link(run.facts.pipeline_id)

        try:
            await asyncio.to_thread(create)
        except Exception as error:  # noqa: BLE001 - any failure is repaired later
            return [self.fail_run(run_id, error)]
        self._mark_synced(run_id, run.revision)
        return []

    async def open_runs(self, run_ids: Iterable[str]) -> None:
        """Create the folders of these runs that don't exist yet."""
        for run_id in run_ids:
            if (run := self._unopened.get(run_id)) is not None:
                await self.open_run(run)

    def _open_soon(self, run_id: str) -> None:
        if run_id in self._unopened:  # otherwise the run became idle and already has its folder
            task = asyncio.get_running_loop().create_task(self._open(run_id))
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)

    async def _open(self, run_id: str) -> None:
        async with self._locks.lock(run_id):  # moving the pipeline's folder locks all its runs
            await self.open_runs([run_id])

    async def drain(self) -> None:
        """Create all missing folders now."""
        for run_id in tuple(self._unopened):
            self._open_soon(run_id)
        while self._opening:
            await asyncio.wait(tuple(self._opening))

    # Files of runs and pipelines
    def _write_run_info(self, facts: RunFacts) -> bool:
        """Write `run_info.json`. False: the run is archived or its pipeline deleted."""
        content = self._database.read(lambda c: expected_files.run_info(c, facts.run_id))
        if content is not None:
            self.tree.write_run_info(facts.pipeline_id, layout.run_folder(facts.run_version, facts.run_id), content)
        return content is not None

    def update_latest_link(self, pipeline_id: str) -> None:
        with self._linking:  # read and write in one step, so that an older link can't win
            folder = self._database.read(lambda c: expected_files.latest_run_folder(c, pipeline_id))
            self.tree.update_latest_link(pipeline_id, folder)

    def create_pipeline(self, pipeline_id: str) -> None:
        self.tree.create_pipeline(pipeline_id)
        self.write_definition(pipeline_id)

    def write_definition(self, pipeline_id: str) -> None:
        """Replace the files of the previous definition with those of the newest."""

        def read(connection: Connection) -> tuple[expected_files.DefinitionFiles, frozenset[str]]:
            files = expected_files.definition_files(connection, pipeline_id)
            return files, expected_files.earlier_definition_checksums(connection, pipeline_id, limit=1)

        files, former = self._database.read(read)
        self.tree.write_definition(pipeline_id, files.pipeline, files.checkpoints, files.scripts, former=former)

    # State of the sync
    def _mark_synced(self, run_id: str, revision: int) -> None:
        """Record the revision in the folder, unless the folder is missing or failed to sync."""
        if run_id not in self._failed_runs and run_id not in self._unopened:
            self._synced[run_id] = revision

    def pop_synced(self, run_id: str) -> int | None:
        """The revision in the folder of a run, if it is not saved yet."""
        return self._synced.pop(run_id, None)

    def pop_all_synced(self) -> dict[str, int]:
        synced, self._synced = self._synced, {}
        return synced

    def fail_run(self, run_id: str, error: Exception) -> str:
        """Record that the files of a run could not be synced. Return a warning for the caller."""
        trace = None if run_id in self._failed_runs else error  # only the first time
        log.error("could not update the files of run %s: %s", run_id, error, exc_info=trace)
        self._failed_runs.add(run_id)
        self._synced.pop(run_id, None)
        return f"Saved, but the files on disk could not be updated: {error}"

    def fail_pipeline(self, pipeline_id: str, error: Exception) -> str:
        """Record that the folder of a pipeline could not be synced. Return a warning for the caller."""
        trace = None if pipeline_id in self._failed_pipelines else error  # only the first time
        log.error("could not update the folder of pipeline %s: %s", pipeline_id, error, exc_info=trace)
        self._failed_pipelines.add(pipeline_id)
        return f"Saved, but the files on disk could not be updated: {error}"

    def failed_pipelines(self, connection: Connection) -> set[str]:
        """Pipelines with a folder or a run that could not be synced."""
        return self._failed_pipelines | queries.pipelines_of_runs(connection, self._failed_runs)

    def mark_repaired(self, pipeline_id: str, runs: Mapping[str, int]) -> None:
        """Record that the folder of a pipeline is repaired and contains these revisions of its runs."""
        self._failed_pipelines.discard(pipeline_id)
        self._failed_runs.difference_update(runs)
        for run_id, revision in runs.items():
            self._mark_synced(run_id, revision)

    def forget_run(self, run_id: str) -> None:
        """Drop the sync state of a run that was removed."""
        self._unopened.pop(run_id, None)
        self._failed_runs.discard(run_id)
        self._synced.pop(run_id, None)


def _apply_all(file_effects: FileEffects, effects: list[FileEffect]) -> None:
    for effect in effects:
        file_effects.apply(effect)


def _is_run_archived(run: Run, rollback_id: str) -> bool:
    """Whether the rollback archives the whole run."""
    return any(rollback.id == rollback_id and rollback.target is None for rollback in run.rollbacks)


def _is_cheap(run: Run, effects: list[FileEffect], file_plan: FilePlan) -> bool:
    if file_plan.promoted or file_plan.moves or sum(a.size for a in file_plan.artifacts) > MAX_CHEAP_BYTES:
        return False
    for effect in effects:
        if not isinstance(effect, CHEAP_EFFECTS):
            return False
        if isinstance(effect, DeleteWorkspaces) and any(
            not is_in_process(run.executions[e]) for e in effect.executions
        ):
            return False
    return True
