"""The folder tree follows each commit; what could not follow is remembered and repaired later."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterable, Mapping, Sequence

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

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
from cairn.services.folders import expected_files
from cairn.services.folders.file_effects import FileEffects, is_in_process
from cairn.services.logs.log_writer import LogWriter
from cairn.services.rollbacks import records as rollback_records
from cairn.store import Connection, Database, LoadedRun, RunFacts
from cairn.store import tables as t

log = logging.getLogger(__name__)

OPEN_AFTER = 0.05  # seconds until a new run that is at work has a folder of its own, if it does not rest before
CHEAP = (CreateWorkspace, PromoteArtifacts, DeleteWorkspaces)
SMALL = 256 * 1024  # bytes that are written without leaving the event loop


class FolderSync:
    """An after-commit step. Whoever calls anything else for a run holds its lock."""

    def __init__(self, database: Database, tree: Tree, log_writer: LogWriter, locks: Locks) -> None:
        self._database = database
        self._log_writer = log_writer
        self._locks = locks
        self._linking = threading.Lock()
        self._synced: dict[str, int] = {}  # by run: the revision that its folder has, until that is saved
        self._unopened: dict[str, LoadedRun] = {}  # new runs without a folder, as they are now
        self._opening: set[asyncio.Task[None]] = set()
        self._runs_behind: set[str] = set()  # whose files could not follow
        self._pipelines_behind: set[str] = set()  # whose folders could not follow
        self.tree = tree

    # ---- after a commit ------------------------------------------------------------------------------
    async def after_commit(self, commits: Sequence[Commit]) -> None:
        for commit in commits:
            await self._sync(commit)
        await self._mark_rollbacks_synced(commits)

    async def _sync(self, commit: Commit) -> None:
        run, run_id = commit.after, commit.run_id
        is_new = not commit.before.is_stored
        if is_new or not self.is_open(run_id):
            self._unopened[run_id] = run
        # A lane writes what describes the whole run once, when the run comes to rest.
        at_rest = not commit.lane_continues and not commit.jobs
        is_open = self.is_open(run_id)
        try:
            await self._apply(commit)
            if at_rest and is_open and run.run.archived_by is None:
                await asyncio.to_thread(self._write_run_info, run.facts)
        except Exception as error:  # noqa: BLE001 - the folder is repaired later
            commit.warnings.append(self.fail_run(run_id, error))
        else:
            self._mark_synced(run_id, run.revision)
        if at_rest and not is_open:
            commit.warnings.extend(await self.open_run(run))
        elif is_new:
            asyncio.get_running_loop().call_later(OPEN_AFTER, self._open_soon, run_id)

    async def _apply(self, commit: Commit) -> None:
        """On the hot path that is a handful of system calls, made at once."""
        facts, run, file_plan = commit.after.facts, commit.decision.run, commit.file_plan
        effects = [effect for effect in commit.decision.effects if isinstance(effect, FileEffect)]
        work = FileEffects(self._database, self.tree, facts, run, commit.context, file_plan)
        if _is_cheap(run, effects, file_plan):
            _apply_all(work, effects)
            return
        if any(isinstance(effect, MoveToErrored) for effect in effects):
            await self._log_writer.flush()  # its last lines go with the workspace

        def apply() -> None:
            _apply_all(work, effects)
            if any(
                isinstance(effect, ArchiveFiles | RestoreFiles) and _whole(run, effect.rollback) for effect in effects
            ):
                self.update_latest_link(facts.pipeline_id)

        await asyncio.to_thread(apply)

    async def _mark_rollbacks_synced(self, commits: Sequence[Commit]) -> None:
        """The folders of these rollbacks have moved: the next start need not check them."""
        effects = [effect for commit in commits for effect in commit.decision.effects]
        done = {effect.rollback for effect in effects if isinstance(effect, ArchiveFiles | RestoreFiles)}
        if done and not any(commit.warnings for commit in commits):
            try:
                await self._database.transact(lambda c: rollback_records.mark_synced(c, done))
            except SQLAlchemyError as error:
                log.warning("rollbacks could not be marked as synced: %s", error)

    # ---- the folder of a new run ---------------------------------------------------------------------
    def is_open(self, run_id: str) -> bool:
        """Whether the folder of a run has been created."""
        return run_id not in self._unopened

    async def open_run(self, run: LoadedRun) -> list[str]:
        """Create the folder of a new run; the answer is what the caller is warned of."""
        run_id = run.facts.run_id
        self._unopened.pop(run_id, None)

        def create() -> None:
            if self._write_run_info(run.facts):
                self.update_latest_link(run.facts.pipeline_id)

        try:
            await asyncio.to_thread(create)
        except Exception as error:  # noqa: BLE001 - it may be anything that the disk does
            return [self.fail_run(run_id, error)]
        self._mark_synced(run_id, run.revision)
        return []

    async def open_runs(self, run_ids: Iterable[str]) -> None:
        """Create the folders that are still to be created."""
        for run_id in run_ids:
            if (run := self._unopened.get(run_id)) is not None:
                await self.open_run(run)

    def _open_soon(self, run_id: str) -> None:
        """A run that has come to rest meanwhile has its folder already."""
        if run_id in self._unopened:
            task = asyncio.get_running_loop().create_task(self._open(run_id))
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)

    async def _open(self, run_id: str) -> None:
        async with self._locks.lock(run_id):  # who moves its pipeline's folder holds every run in it
            await self.open_runs([run_id])

    async def drain(self) -> None:
        """Create now the folders that were to be created soon."""
        for run_id in tuple(self._unopened):
            self._open_soon(run_id)
        while self._opening:
            await asyncio.wait(tuple(self._opening))

    # ---- what describes a whole run or pipeline --------------------------------------------------------
    def _write_run_info(self, facts: RunFacts) -> bool:
        """False: the run or its pipeline is gone, so there is nothing to write."""
        content = self._database.read(lambda c: expected_files.run_info(c, facts.run_id))
        if content is not None:
            self.tree.write_run_info(facts.pipeline_id, layout.run_folder(facts.run_version, facts.run_id), content)
        return content is not None

    def update_latest_link(self, pipeline_id: str) -> None:
        """One at a time: who has looked first must not link last."""
        with self._linking:
            folder = self._database.read(lambda c: expected_files.latest_folder(c, pipeline_id))
            self.tree.update_latest_link(pipeline_id, folder)

    def create_pipeline(self, pipeline_id: str) -> None:
        self.tree.create_pipeline(pipeline_id)
        self.write_definition(pipeline_id)

    def write_definition(self, pipeline_id: str) -> None:
        """The files of the newest definition replace those of the one before."""

        def read(connection: Connection) -> tuple[expected_files.DefinitionFiles, frozenset[str]]:
            return expected_files.definition_files(
                connection, pipeline_id
            ), expected_files.earlier_definition_checksums(connection, pipeline_id, 1)

        files, own = self._database.read(read)
        self.tree.write_definition(pipeline_id, files.pipeline, files.checkpoints, files.scripts, former=own)

    # ---- what is in sync, and what could not follow ----------------------------------------------------
    def _mark_synced(self, run_id: str, revision: int) -> None:
        """Not a run whose folder is still to be created, or that could not follow."""
        if run_id not in self._runs_behind and run_id not in self._unopened:
            self._synced[run_id] = revision

    def pop_synced(self, run_id: str) -> int | None:
        """The revision of a run that its folder has, if that is not saved yet."""
        return self._synced.pop(run_id, None)

    def pop_all_synced(self) -> dict[str, int]:
        synced, self._synced = self._synced, {}
        return synced

    def fail_run(self, run_id: str, error: Exception) -> str:
        """The files of a run could not follow; the answer is what its caller is warned of."""
        trace = None if run_id in self._runs_behind else error  # once is enough
        log.error("files of run %s could not be brought up to date: %s", run_id, error, exc_info=trace)
        self._runs_behind.add(run_id)
        self._synced.pop(run_id, None)
        return f"Saved, but the files on disk could not be brought up to date: {error}"

    def fail_pipeline(self, pipeline_id: str, error: Exception) -> str:
        """The folder of a pipeline could not follow; the answer is what its caller is warned of."""
        trace = None if pipeline_id in self._pipelines_behind else error  # once is enough
        log.error("the folder of pipeline %s could not be brought up to date: %s", pipeline_id, error, exc_info=trace)
        self._pipelines_behind.add(pipeline_id)
        return f"Saved, but the files on disk could not be brought up to date: {error}"

    def failed_pipelines(self, connection: Connection) -> set[str]:
        r = t.pipeline_runs.c
        found = connection.execute(sa.select(r.pipeline_id).where(r.run_id.in_(tuple(self._runs_behind)))).scalars()
        return self._pipelines_behind.union(found)

    def mark_repaired(self, pipeline_id: str, runs: Mapping[str, int]) -> None:
        """The folder of the pipeline is in order, and has these runs at these revisions."""
        self._pipelines_behind.discard(pipeline_id)
        self._runs_behind.difference_update(runs)
        for run_id, revision in runs.items():
            self._mark_synced(run_id, revision)

    def forget_run(self, run_id: str) -> None:
        """The run is removed: nothing is left to do for its files."""
        self._unopened.pop(run_id, None)
        self._runs_behind.discard(run_id)
        self._synced.pop(run_id, None)


def _apply_all(work: FileEffects, effects: list[FileEffect]) -> None:
    for effect in effects:
        work.carry_out(effect)


def _whole(run: Run, rollback: str) -> bool:
    """Whether the rollback archived the whole run."""
    return any(record.id == rollback and record.target is None for record in run.rollbacks)


def _is_cheap(run: Run, effects: list[FileEffect], file_plan: FilePlan) -> bool:
    if file_plan.promoted or file_plan.moves or sum(a.size for a in file_plan.artifacts) > SMALL:
        return False
    for effect in effects:
        if not isinstance(effect, CHEAP):
            return False
        if isinstance(effect, DeleteWorkspaces) and any(
            not is_in_process(run.executions[e]) for e in effect.executions
        ):
            return False
    return True
