"""What was committed and has not reached the folders yet: after a crash, or when the disk failed (D13, R9)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar
from uuid import UUID

import sqlalchemy as sa

from cairn.core.messages import FileEffect, Given, MakeWorkspace, MoveToErrored, Stage
from cairn.core.model import Execution, State
from cairn.files import Tree, layout
from cairn.ports import Clock
from cairn.services import pipeline_rows as rows
from cairn.services import trees
from cairn.services.file_work import FileWork
from cairn.services.filing import Filing
from cairn.services.plans import Plans
from cairn.services.projection import Projection
from cairn.services.rollback_files import RollbackFiles
from cairn.store import Database, Loaded, load_run
from cairn.store import tables as t
from cairn.store.aggregate import Row

T = TypeVar("T")
NO_COMMAND = UUID(int=0)  # nobody gives one for what is carried out again
FORMER = 20  # earlier definitions whose files are known as Cairn's own


class Mending:
    """Carries out again what a state implies; repeated, it changes nothing."""

    def __init__(self, database: Database, plans: Plans, projection: Projection, clock: Clock) -> None:
        self._database = database
        self._plans = plans
        self._projection = projection
        self._clock = clock

    @property
    def _tree(self) -> Tree:
        return self._projection.tree

    def _read(self, query: Callable[[sa.Connection], T]) -> T:
        return self._database.read(query)

    # ---- whole folders -------------------------------------------------------------------------------
    def finish_moves(self, only: str | None = None) -> None:
        """Deletions, restorations, ended definitions and rollbacks, of one pipeline or of all, that had not moved."""
        for row in self._read(lambda c: _deleted(c, only)):
            self._tree.archive_pipeline(row.pipeline_id, row.deleted_at)
        self._restore(only)
        for row in self._read(lambda c: _ended_definitions(c, only)):
            self._tree.archive_definition_runs(row.pipeline_id, row.version, row.ended_at)
            self.note_ended(row.pipeline_id, row.version)
        for rollback in self._read(lambda c: _unfinished_rollbacks(c, only)):
            RollbackFiles(self._database, self._tree).follow(rollback)
            mark = sa.update(t.rollback_events).where(t.rollback_events.c.rollback_id == rollback)
            done = mark.values(files_done=True)
            self._database.transact_now(lambda c, done=done: c.execute(done))

    def _restore(self, only: str | None) -> None:
        """A folder in the archive of a pipeline that is not deleted: restoring it was cut off (P4)."""
        standing = set(self._read(standing_pipelines))
        archive = self._tree.root / layout.ARCHIVED
        for folder in sorted(archive.iterdir()) if archive.is_dir() else ():
            pipeline_id = folder.name.rpartition("_")[0]
            if pipeline_id in standing and only in (None, pipeline_id):
                self._tree.restore_pipeline(pipeline_id, f"{layout.ARCHIVED}/{folder.name}")

    def note_ended(self, pipeline_id: str, version: int) -> None:
        """The runs of this definition lie in the archive."""
        r = t.pipeline_runs
        mark = sa.update(r).where(r.c.pipeline_id == pipeline_id, r.c.pipeline_definition_version == version)
        self._database.transact_now(lambda c: c.execute(mark.values(files_revision=r.c.revision)))

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

    def _carry_out(self, loaded: Loaded, e: Execution, effect: FileEffect) -> None:
        given = Given(e.failed_at or self._clock.now(), "", NO_COMMAND)
        FileWork(self._database, self._tree, loaded.facts, loaded.run, given, Filing(())).carry_out(effect)

    def _set_passes_aside(self, loaded: Loaded) -> None:
        a = t.artifacts.c
        query = sa.select(a.file_path).where(a.run_id == loaded.facts.run_id, a.promoted_to_permanent_at.is_not(None))
        paths = self._read(lambda c: list(c.execute(query).scalars()))
        for number in range(1, loaded.run.pass_number):
            aside = layout.pass_folder(loaded.run_folder, number)
            names = {p.removeprefix(f"{aside}/").partition("/")[0] for p in paths if p.startswith(f"{aside}/")}
            taken = {n for n in names if any(p.startswith(f"{loaded.run_folder}/{n}/") for p in paths)}
            self._tree.set_pass_aside(loaded.facts.pipeline_id, loaded.run_folder, number, sorted(names - taken))

    # ---- what Cairn has written itself ---------------------------------------------------------------
    def own(self, pipeline_id: str) -> frozenset[str]:
        """Checksums of contents that were Cairn's own and may give way: earlier definitions, unfinished runs."""

        def read(connection: sa.Connection) -> frozenset[str]:
            a = t.artifacts.c
            runs = unfinished_runs(connection, pipeline_id)
            outputs = connection.execute(sa.select(a.checksum).where(a.run_id.in_(runs))).scalars()
            return trees.former_files(connection, pipeline_id, FORMER).union(outputs)

        return self._read(read)


def _implied(e: Execution, *, has_folder: bool) -> list[FileEffect]:
    if e.has_workspace and e.archived_by is None:
        shown = e.outputs and e.state in (State.COMPLETION_ASKED, State.WAITING)
        return [MakeWorkspace(e.id), *([Stage(e.id)] if shown else [])]
    if has_folder and e.started_at is not None and e.state in (State.FAILED, State.CANCELLED):
        return [MoveToErrored(e.id)]
    return []


def standing_pipelines(connection: sa.Connection) -> list[str]:
    p = t.pipelines.c
    return list(
        connection.execute(sa.select(p.pipeline_id).where(p.deleted_at.is_(None)).order_by(p.created_at)).scalars()
    )


def unfinished_pipelines(connection: sa.Connection) -> list[str]:
    """Those whose folders, or whose runs' files, may not have followed."""
    r = t.pipeline_runs.c
    runs = connection.execute(sa.select(r.pipeline_id).where(r.files_revision < r.revision).distinct()).scalars()
    left = rows.unfiled(connection).union(runs)
    return [pipeline_id for pipeline_id in standing_pipelines(connection) if pipeline_id in left]


def unfinished_runs(connection: sa.Connection, pipeline_id: str) -> list[str]:
    """Runs of the current definition whose files may not stand yet."""
    r, p = t.pipeline_runs.c, t.pipelines.c
    return list(
        connection.execute(
            sa.select(r.run_id)
            .select_from(t.pipeline_runs.join(t.pipelines))
            .where(
                r.pipeline_id == pipeline_id,
                r.pipeline_definition_version == p.pipeline_definition_version,
                r.files_revision < r.revision,
                r.archived_by.is_(None),
            )
        ).scalars()
    )


def _of(only: str | None) -> sa.ColumnElement[bool]:
    return t.pipelines.c.pipeline_id == only if only is not None else sa.true()


def _deleted(connection: sa.Connection, only: str | None) -> Sequence[Row]:
    p = t.pipelines.c
    return connection.execute(sa.select(p.pipeline_id, p.deleted_at).where(p.deleted_at.is_not(None), _of(only))).all()


def _ended_definitions(connection: sa.Connection, only: str | None) -> Sequence[Row]:
    """Definition versions that have ended, with runs whose folders may not have moved; the oldest first."""
    r, p, d = t.pipeline_runs.c, t.pipelines.c, t.definition_revisions.c
    return connection.execute(
        sa.select(
            r.pipeline_id,
            r.pipeline_definition_version.label("version"),
            sa.func.min(d.created_at).label("ended_at"),
        )
        .select_from(
            t.pipeline_runs.join(t.pipelines).join(
                t.definition_revisions,
                (d.pipeline_id == r.pipeline_id) & (d.pipeline_definition_version == r.pipeline_definition_version + 1),
            )
        )
        .where(
            r.files_revision < r.revision,
            r.pipeline_definition_version < p.pipeline_definition_version,
            p.deleted_at.is_(None),
            _of(only),
        )
        .group_by(r.pipeline_id, r.pipeline_definition_version)
        .order_by(r.pipeline_definition_version)
    ).all()


def _unfinished_rollbacks(connection: sa.Connection, only: str | None) -> list[str]:
    r, p = t.rollback_events.c, t.pipelines.c
    return list(
        connection.execute(
            sa.select(r.rollback_id)
            .select_from(t.rollback_events.join(t.pipelines))
            .where(r.files_done.is_(False), p.deleted_at.is_(None), _of(only))
            .order_by(r.created_at)
        ).scalars()
    )


def revisions(connection: sa.Connection, run_ids: Sequence[str]) -> dict[str, int]:
    r = t.pipeline_runs.c
    rows = connection.execute(sa.select(r.run_id, r.revision).where(r.run_id.in_(run_ids)))
    return {row.run_id: row.revision for row in rows}
