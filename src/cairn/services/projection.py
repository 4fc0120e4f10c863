"""The files follow the database: what each decision changes in the folder tree, carried out after its commit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from cairn.core.decide import Decision
from cairn.core.messages import (
    Archive,
    DropWorkspaces,
    FileEffect,
    Given,
    MakeWorkspace,
    MoveToErrored,
    Promote,
    SetPassAside,
    Stage,
    Unarchive,
)
from cairn.core.model import Execution, Mode, Run
from cairn.documents import encode_json
from cairn.files import FileContent, Move, Tree, layout
from cairn.services import trees
from cairn.services.filing import Filing, Moved
from cairn.store import Database, Loaded, NewArtifact, RunFacts
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
        work = _FileWork(self._database, self.tree, facts, run, given, filing)
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
        if isinstance(effect, DropWorkspaces) and any(not _in_process(run.executions[e]) for e in effect.executions):
            return False
    return True


def _in_process(e: Execution) -> bool:
    """Nobody but Cairn itself has been let into its workspace."""
    return e.policy.mode in (Mode.HUMAN_ONLY, Mode.FUNCTION)


class _FileWork:
    """The file effects of one decision."""

    def __init__(self, database: Database, tree: Tree, facts: RunFacts, run: Run, given: Given, filing: Filing) -> None:
        self._database = database
        self._tree = tree
        self._facts = facts
        self._pipeline = facts.pipeline_id
        self._run = run
        self._given = given
        self._filing = filing
        self._new = {a.record_id: a for a in filing.artifacts}

    def carry_out(self, effect: FileEffect) -> None:
        match effect:
            case MakeWorkspace():
                self._tree.make_workspace(self._pipeline, effect.execution)
            case Stage():
                self._tree.stage(self._pipeline, effect.execution, self._outputs(effect.execution))
            case Promote():
                self._promote(self._run.executions[effect.execution])
            case MoveToErrored():
                self._move_to_errored(self._run.executions[effect.execution])
            case DropWorkspaces():
                for execution in effect.executions:
                    reusable = _in_process(self._run.executions[execution])
                    self._tree.drop_workspace(self._pipeline, execution, reusable=reusable)
            case Archive():
                self._archive(effect.rollback)
            case Unarchive():
                self._unarchive(effect.rollback)
            case SetPassAside():
                self._set_pass_aside(effect.pass_number)

    # ---- contents ---------------------------------------------------------------------------------------
    def _outputs(self, execution: str) -> list[FileContent]:
        e = self._run.executions[execution]
        if all(record in self._new for record in e.outputs):
            return [self._of_new(self._new[record]) for record in e.outputs]
        return self._database.read(lambda c: self._of_rows(c, e.outputs))

    def _of_new(self, a: NewArtifact) -> FileContent:
        staged = layout.staged_name(a.name, a.artifact_id, a.format)
        if a.content is None:
            return trees.of_blob(self._database, a.file_path, a.checksum, a.size, staged)
        content = a.content
        return FileContent(a.file_path, a.checksum, a.size, lambda: content, staged)

    def _of_rows(self, connection: sa.Connection, records: tuple[str, ...]) -> list[FileContent]:
        a = t.artifacts.c
        rows = connection.execute(sa.select(t.artifacts).where(a.artifact_record_id.in_(records)))
        return [
            trees.of_blob(
                self._database,
                row.file_path,
                row.checksum,
                row.size_bytes,
                layout.staged_name(row.artifact_name, row.artifact_id, row.format),
            )
            for row in rows
        ]

    def _moves(self, of: Callable[[Moved], bool] = lambda _: True) -> list[Move]:
        return [
            Move(m.original, m.to, trees.of_blob(self._database, m.to, m.checksum, m.size))
            for m in self._filing.moved
            if of(m)
        ]

    # ---- one effect each ----------------------------------------------------------------------------------
    def _promote(self, e: Execution) -> None:
        files = self._outputs(e.id)
        if not files:
            return
        folder = files[0].path.rpartition("/")[0].rpartition("/")[0]
        superseded = self._moves(lambda moved: moved.superseded)
        self._tree.promote(self._pipeline, e.id, folder, files, superseded)

    def _move_to_errored(self, e: Execution) -> None:
        logs = self._database.read(lambda c: _log_text(c, e.id))
        self._tree.move_to_errored(self._pipeline, e.id, self._given.at, error_info(self._facts, e), logs)

    def _archive(self, rollback: str) -> None:
        folder = layout.rollback_folder(rollback, self._given.at)
        metadata = self._database.read(lambda c: rollback_metadata(c, rollback))
        self._tree.archive(self._pipeline, folder, metadata, [*self._folder_moves(rollback, folder), *self._moves()])

    def _folder_moves(self, rollback: str, into: str) -> list[Move]:
        """Whole folders move, with whatever else people have put there."""
        facts = self._facts
        run_folder = layout.run_folder(facts.run_version, facts.run_id)
        if self._run.archived_by == rollback:
            return [Move(run_folder, f"{into}/{layout.archived_run(facts.run_version, facts.run_id)}")]
        found: dict[str, Move] = {}
        for moved in self._filing.moved:
            checkpoint = moved.original.removeprefix(f"{run_folder}/").partition("/")[0]
            e = self._run.executions[moved.execution_id]
            archived = layout.archived_execution(facts.run_version, facts.run_id, e.position)
            found.setdefault(checkpoint, Move(f"{run_folder}/{checkpoint}", f"{into}/{archived}"))
        return list(found.values())

    def _unarchive(self, rollback: str) -> None:
        location, folders = self._database.read(lambda c: _archived(c, rollback, self._facts, self._filing))
        moves = [
            Move(m.to, m.original, trees.of_blob(self._database, m.to, m.checksum, m.size)) for m in self._filing.moved
        ]
        self._tree.unarchive(self._pipeline, location, [*folders, *moves])

    def _set_pass_aside(self, pass_number: int) -> None:
        folder = layout.run_folder(self._facts.run_version, self._facts.run_id)
        aside = layout.pass_folder(folder, pass_number)
        paths = [a.file_path for a in self._filing.artifacts if a.promoted] + [m.to for m in self._filing.moved]
        names = {path.removeprefix(f"{aside}/").partition("/")[0] for path in paths if path.startswith(f"{aside}/")}
        self._tree.set_pass_aside(self._pipeline, folder, pass_number, sorted(names))


def error_info(facts: RunFacts, e: Execution) -> bytes:
    error = e.last_error
    return encode_json(
        {
            "execution_id": e.id,
            "run_id": facts.run_id,
            "run_version": facts.run_version,
            "checkpoint": e.key,
            "checkpoint_position": e.position,
            "status": e.status.value,
            "attempt_number": e.attempt,
            "revision_iteration": e.revision,
            "error_count": e.errors,
            "error_type": error.type if error else None,
            "error_message": error.message if error else None,
            "stack_trace": error.trace if error else None,
        },
        indent=True,
    )


def _log_text(connection: sa.Connection, execution: str) -> bytes:
    c = t.execution_logs.c
    rows = connection.execute(
        sa.select(c.timestamp, c.level, c.message).where(c.execution_id == execution).order_by(c.log_id)
    )
    return "".join(f"{row.timestamp.isoformat()} {row.level} {row.message}\n" for row in rows).encode()


def rollback_metadata(connection: sa.Connection, rollback: str) -> bytes:
    """`rollback_metadata.json`: the event record as seed 0 §5 has it."""
    r = t.rollback_events
    row = connection.execute(sa.select(r).where(r.c.rollback_id == rollback)).one()
    record: dict[str, Any] = {str(name): value for name, value in row._asdict().items()}
    for name in ("undone_at", "files_done"):
        record.pop(name)
    record["created_at"] = row.created_at.isoformat().replace("+00:00", "Z")
    return encode_json(record, indent=True)


def _archive_record(connection: sa.Connection, rollback: str) -> tuple[Row, Sequence[Row]]:
    r, i, a = t.rollback_events, t.archived_items.c, t.artifacts.c
    record = connection.execute(sa.select(r).where(r.c.rollback_id == rollback)).one()
    items = connection.execute(
        sa.select(i.item_type, i.original_path, i.archived_path, a.checksum, a.size_bytes)
        .select_from(t.archived_items.outerjoin(t.artifacts, a.artifact_record_id == i.item_id))
        .where(i.rollback_id == rollback)
    ).all()
    return record, items


def _archived(connection: sa.Connection, rollback: str, facts: RunFacts, filing: Filing) -> tuple[str, list[Move]]:
    """Where a rollback's archive is, and the folders of this run in it."""
    r, i = t.rollback_events.c, t.archived_items.c
    location: str = connection.execute(sa.select(r.archive_location).where(r.rollback_id == rollback)).scalar_one()
    location = location.rstrip("/")
    run_folder = layout.run_folder(facts.run_version, facts.run_id)
    whole = connection.execute(
        sa.select(i.archived_path).where(i.rollback_id == rollback, i.item_type == "run", i.item_id == facts.run_id)
    ).scalar_one_or_none()
    if whole is not None:
        return location, [Move(run_folder, whole)]
    found: dict[str, Move] = {}
    for moved in filing.moved:
        checkpoint = moved.to.removeprefix(f"{run_folder}/").partition("/")[0]
        rest = moved.to.removeprefix(f"{run_folder}/{checkpoint}/")
        found.setdefault(checkpoint, Move(f"{run_folder}/{checkpoint}", moved.original.removesuffix(f"/{rest}")))
    return location, list(found.values())
