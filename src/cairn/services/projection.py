"""The files follow the database: what each decision changes in the folder tree, carried out after its commit."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from hashlib import sha256

import sqlalchemy as sa

from cairn.core.decide import Decision
from cairn.core.messages import Archive, DropWorkspaces, FileEffect, Given, MakeWorkspace, Promote, Unarchive
from cairn.core.model import Run
from cairn.files import FileContent, Move, Tree, layout
from cairn.services import trees
from cairn.services.file_work import FileWork, is_in_process, rollback_metadata
from cairn.services.filing import Filing
from cairn.store import Database, Loaded, RunFacts
from cairn.store import tables as t
from cairn.store.aggregate import Row

CHEAP = (MakeWorkspace, Promote, DropWorkspaces)
SMALL = 256 * 1024  # bytes that are written without leaving the event loop


class Projection:
    def __init__(self, database: Database, tree: Tree) -> None:
        self._database = database
        self.tree = tree

    async def follow(self, loaded: Loaded, decision: Decision, given: Given, filing: Filing, *, resting: bool) -> None:
        """Let the tree follow one decision. On the hot path that is a handful of system calls, made at once."""
        effects = [effect for effect in decision.effects if isinstance(effect, FileEffect)]
        if not resting and _is_cheap(decision.run, effects, filing):
            self._carry_out(loaded.facts, decision.run, given, filing, effects)
            return
        await asyncio.to_thread(self._follow, loaded.facts, decision.run, given, filing, effects, resting)

    def _follow(
        self, facts: RunFacts, run: Run, given: Given, filing: Filing, effects: list[FileEffect], resting: bool
    ) -> None:
        self._carry_out(facts, run, given, filing, effects)
        if any(isinstance(effect, Archive | Unarchive) for effect in effects):
            self.point_latest(facts.pipeline_id)
        if resting and run.archived_by is None:
            self.write_run_info(facts)

    def _carry_out(self, facts: RunFacts, run: Run, given: Given, filing: Filing, effects: list[FileEffect]) -> None:
        work = FileWork(self._database, self.tree, facts, run, given, filing)
        for effect in effects:
            work.carry_out(effect)

    # ---- what stands for a whole run ---------------------------------------------------------------
    async def open_run(self, facts: RunFacts) -> None:
        def opened() -> None:
            self.write_run_info(facts)
            self.point_latest(facts.pipeline_id)

        await asyncio.to_thread(opened)

    async def rest(self, facts: RunFacts) -> None:
        await asyncio.to_thread(self.write_run_info, facts)

    def write_run_info(self, facts: RunFacts) -> None:
        content = self._database.read(lambda c: trees.run_info(c, facts.run_id))
        self.tree.write_run_info(facts.pipeline_id, layout.run_folder(facts.run_version, facts.run_id), content)

    def renew_run_info(self, pipeline_id: str, run_id: str, run_version: int | None) -> None:
        """An old one of Cairn's own gives way; one that somebody has changed is left to the drift repair."""
        folder = layout.run_folder(run_version, run_id)
        try:
            own = trees.is_own_run_info((self.tree.root / pipeline_id / folder / layout.RUN_INFO).read_bytes())
        except FileNotFoundError:
            own = True
        if own:
            content = self._database.read(lambda c: trees.run_info(c, run_id))
            self.tree.write_run_info(pipeline_id, folder, content)

    def point_latest(self, pipeline_id: str) -> None:
        folder = self._database.read(lambda c: trees.latest_folder(c, pipeline_id))
        self.tree.point_latest(pipeline_id, folder)

    def write_definition(self, pipeline_id: str) -> None:
        """The files of the newest definition; those of the one before it give way."""

        def both(connection: sa.Connection) -> tuple[trees.DefinitionFiles | None, trees.DefinitionFiles | None]:
            return trees.definition_files(connection, pipeline_id), trees.definition_files(connection, pipeline_id, 1)

        files, former = self._database.read(both)
        if files is not None:
            own = (
                {sha256(content).hexdigest() for content in former.paths().values()}
                if former is not None
                else set[str]()
            )
            self.tree.write_definition(pipeline_id, files.pipeline, files.checkpoints, former=own)

    # ---- what a crash left half done ---------------------------------------------------------------------
    def finish_rollback(self, rollback: str) -> None:
        """Move what a rollback, or its undoing, had not moved yet."""
        record, items = self._database.read(lambda c: _archive_record(c, rollback))
        moves = {
            (item.original_path, item.archived_path): Move(item.original_path, item.archived_path, self._content(item))
            for item in items
        }
        location = record.archive_location.rstrip("/")
        if record.undone_at is None:
            metadata = self._database.read(lambda c: rollback_metadata(c, rollback))
            self.tree.archive(record.pipeline_id, location, metadata, list(moves.values()))
        else:
            self.tree.unarchive(record.pipeline_id, location, list(moves.values()))

    def _content(self, item: Row) -> FileContent | None:
        if item.checksum is None:
            return None
        return trees.of_blob(self._database, item.original_path, item.checksum, item.size_bytes)

    def finish_deletions(self) -> None:
        """Folders of deleted pipelines go to the archive, those of restored ones come back (P4)."""
        p = t.pipelines.c
        rows = self._database.read(
            lambda c: c.execute(sa.select(p.pipeline_id, p.deleted_at).where(p.deleted_at.is_not(None))).all()
        )
        for row in rows:
            self.tree.archive_pipeline(row.pipeline_id, row.deleted_at)


def _is_cheap(run: Run, effects: list[FileEffect], filing: Filing) -> bool:
    if filing.promoted or filing.moved or sum(a.size for a in filing.artifacts) > SMALL:
        return False
    for effect in effects:
        if not isinstance(effect, CHEAP):
            return False
        if isinstance(effect, DropWorkspaces) and any(not is_in_process(run.executions[e]) for e in effect.executions):
            return False
    return True


def _archive_record(connection: sa.Connection, rollback: str) -> tuple[Row, Sequence[Row]]:
    r, i, a = t.rollback_events, t.archived_items.c, t.artifacts.c
    record = connection.execute(sa.select(r).where(r.c.rollback_id == rollback)).one()
    items = connection.execute(
        sa.select(i.item_type, i.original_path, i.archived_path, a.checksum, a.size_bytes)
        .select_from(t.archived_items.outerjoin(t.artifacts, a.artifact_record_id == i.item_id))
        .where(i.rollback_id == rollback)
    ).all()
    return record, items
