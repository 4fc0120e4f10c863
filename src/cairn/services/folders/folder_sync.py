"""The files follow the database: what each decision changes in the folder tree, carried out after its commit."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import sqlalchemy as sa

from cairn.core.commands import CommandContext
from cairn.core.decide import Decision
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
from cairn.services.engine.file_plan import FilePlan
from cairn.services.folders import expected_files
from cairn.services.folders.file_effects import FileEffects, is_in_process
from cairn.services.logs.log_writer import LogWriter
from cairn.store import Database, LoadedRun, RunFacts

CHEAP = (CreateWorkspace, PromoteArtifacts, DeleteWorkspaces)
SMALL = 256 * 1024  # bytes that are written without leaving the event loop
SHORT = 128  # executions and artifacts of a run whose whole is written there


class FolderSync:
    def __init__(self, database: Database, tree: Tree, logbook: LogWriter) -> None:
        self._database = database
        self._logbook = logbook
        self._pointing = threading.Lock()
        self.tree = tree

    async def follow(self, loaded: LoadedRun, decision: Decision, given: CommandContext, filing: FilePlan) -> None:
        """Let the tree follow one decision. On the hot path that is a handful of system calls, made at once."""
        facts, run = loaded.facts, decision.run
        effects = [effect for effect in decision.effects if isinstance(effect, FileEffect)]
        if _is_cheap(run, effects, filing):
            self._carry_out(facts, run, given, filing, effects)
        else:
            if any(isinstance(effect, MoveToErrored) for effect in effects):
                await self._logbook.flush()  # what was said last goes with the workspace
            await asyncio.to_thread(self._follow, facts, run, given, filing, effects)

    def _follow(
        self, facts: RunFacts, run: Run, given: CommandContext, filing: FilePlan, effects: list[FileEffect]
    ) -> None:
        self._carry_out(facts, run, given, filing, effects)
        if any(isinstance(effect, ArchiveFiles | RestoreFiles) and _whole(run, effect.rollback) for effect in effects):
            self.point_latest(facts.pipeline_id)

    def _carry_out(
        self, facts: RunFacts, run: Run, given: CommandContext, filing: FilePlan, effects: list[FileEffect]
    ) -> None:
        work = FileEffects(self._database, self.tree, facts, run, given, filing)
        for effect in work.joined(effects):
            work.carry_out(effect)

    # ---- what stands for a whole run -----------------------------------------------------------------
    def is_at_once(self, run: LoadedRun) -> bool:
        """Of a short run it is a few rows and files: a thread and the loop would hold each other up for longer."""
        return self._database.kind == "sqlite" and _is_short(run)

    async def open_run(self, run: LoadedRun, info: bytes | None = None) -> None:
        """Make what stands for a new run. `info`: what it says, where that was read with the change."""

        def opened() -> None:
            if self._write_run_info(run.facts, info):
                self.point_latest(run.facts.pipeline_id)

        await self._beside(run, opened)

    async def bring_up_to_date(self, run: LoadedRun, info: bytes | None = None) -> None:
        """What stands for a run that has changed."""
        if run.run.archived_by is None:
            await self._beside(run, lambda: self._write_run_info(run.facts, info))

    async def _beside(self, run: LoadedRun, work: Callable[[], object]) -> None:
        if self.is_at_once(run):
            work()
        else:
            await asyncio.to_thread(work)

    def _write_run_info(self, facts: RunFacts, info: bytes | None) -> bool:
        """False: the run stands no longer, or its pipeline; there is nothing to write then."""
        content = info or self._database.read(lambda c: expected_files.run_info(c, facts.run_id))
        if content is not None:
            self.tree.write_run_info(facts.pipeline_id, layout.run_folder(facts.run_version, facts.run_id), content)
        return content is not None

    def point_latest(self, pipeline_id: str) -> None:
        """One at a time: who has looked first must not point last."""
        with self._pointing:
            folder = self._database.read(lambda c: expected_files.latest_folder(c, pipeline_id))
            self.tree.point_latest(pipeline_id, folder)

    # ---- what stands for a whole pipeline ------------------------------------------------------------
    def make_pipeline(self, pipeline_id: str) -> None:
        self.tree.make_pipeline(pipeline_id)
        self.write_definition(pipeline_id)

    def write_definition(self, pipeline_id: str) -> None:
        """The files of the newest definition; those of the one before it give way."""

        def read(connection: sa.Connection) -> tuple[expected_files.DefinitionFiles, frozenset[str]]:
            return expected_files.definition_files(connection, pipeline_id), expected_files.former_files(
                connection, pipeline_id, 1
            )

        files, own = self._database.read(read)
        self.tree.write_definition(pipeline_id, files.pipeline, files.checkpoints, files.scripts, former=own)


def _is_short(run: LoadedRun) -> bool:
    many = sum(1 + len(e.outputs) for e in run.run.executions.values())
    return many <= SHORT and len(run.facts.original_prompt) <= SMALL


def _whole(run: Run, rollback: str) -> bool:
    """Whether the rollback took the whole run away."""
    return any(record.id == rollback and record.target is None for record in run.rollbacks)


def _is_cheap(run: Run, effects: list[FileEffect], filing: FilePlan) -> bool:
    if filing.promoted or filing.moved or sum(a.size for a in filing.artifacts) > SMALL:
        return False
    for effect in effects:
        if not isinstance(effect, CHEAP):
            return False
        if isinstance(effect, DeleteWorkspaces) and any(
            not is_in_process(run.executions[e]) for e in effect.executions
        ):
            return False
    return True
