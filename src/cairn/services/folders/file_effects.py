"""The file effects of one decision, carried out one by one; each may be repeated."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.core.commands import CommandContext
from cairn.core.effects import (
    ArchiveFiles,
    ArchivePass,
    CreateWorkspace,
    DeleteWorkspaces,
    FileEffect,
    MoveToErrored,
    PromoteArtifacts,
    RestoreFiles,
    StageArtifacts,
)
from cairn.core.execution import Execution
from cairn.core.run import Run
from cairn.core.states import ExecutionMode
from cairn.documents import encode_json
from cairn.files import FileContent, FileMove, Tree, layout
from cairn.services.engine.file_plan import FilePlan
from cairn.services.folders import expected_files
from cairn.services.folders.rollback_folders import RollbackFolders
from cairn.store import Connection, Database, NewArtifact, RunFacts
from cairn.store import tables as t


def is_in_process(e: Execution) -> bool:
    """Nobody but Cairn itself has been let into its workspace."""
    return e.policy.mode in (ExecutionMode.HUMAN_ONLY, ExecutionMode.FUNCTION)


class FileEffects:
    """The file effects of one decision."""

    def __init__(
        self, database: Database, tree: Tree, facts: RunFacts, run: Run, given: CommandContext, filing: FilePlan
    ) -> None:
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
            case CreateWorkspace():
                self._tree.create_workspace(self._pipeline, effect.execution)
            case StageArtifacts():
                self._tree.stage(self._pipeline, effect.execution, self._outputs(effect.execution))
            case PromoteArtifacts():
                self._promote(self._run.executions[effect.execution])
            case MoveToErrored():
                self._move_to_errored(self._run.executions[effect.execution])
            case DeleteWorkspaces():
                for execution in effect.executions:
                    self._tree.delete_workspace(self._pipeline, execution)
            case ArchiveFiles():
                folders = RollbackFolders(self._database, self._tree)
                folders.archive(self._pipeline, self._filing.rollbacks[effect.rollback])
            case RestoreFiles():
                folders = RollbackFolders(self._database, self._tree)
                folders.restore(self._pipeline, self._filing.rollbacks[effect.rollback])
            case ArchivePass():
                self._set_pass_aside(effect.pass_number)

    # ---- contents ---------------------------------------------------------------------------------------
    def _outputs(self, execution: str) -> list[FileContent]:
        e = self._run.executions[execution]
        if all(record in self._new for record in e.outputs):
            return [self._of_new(self._new[record]) for record in e.outputs]
        return self._database.read(lambda c: self._of_rows(c, e.outputs))

    def _of_new(self, a: NewArtifact) -> FileContent:
        # One that is promoted in the decision that brought it was never staged.
        staged = None if a.promoted else layout.staged_name(a.name, a.artifact_id, a.format)
        if a.content is None:
            return expected_files.blob_file(self._database, a.file_path, a.checksum, a.size, staged)
        content = a.content
        return FileContent(a.file_path, a.checksum, a.size, lambda: content, staged)

    def _of_rows(self, connection: Connection, records: tuple[str, ...]) -> list[FileContent]:
        a = t.artifacts.c
        rows = connection.execute(sa.select(t.artifacts).where(a.artifact_record_id.in_(records)))
        return [
            expected_files.blob_file(
                self._database,
                row.file_path,
                row.checksum,
                row.size_bytes,
                layout.staged_name(row.artifact_name, row.artifact_id, row.format),
            )
            for row in rows
        ]

    # ---- one effect each ----------------------------------------------------------------------------------
    def _promote(self, e: Execution) -> None:
        files = self._outputs(e.id)
        if not files:
            return
        folder = files[0].path.rpartition("/")[0].rpartition("/")[0]
        superseded = [
            FileMove(
                m.original, m.destination, expected_files.blob_file(self._database, m.destination, m.checksum, m.size)
            )
            for m in self._filing.moves
            if m.superseded
        ]
        self._tree.promote(self._pipeline, e.id, folder, files, superseded)

    def _move_to_errored(self, e: Execution) -> None:
        logs = self._database.read(lambda c: _log_text(c, e.id))
        self._tree.move_to_errored(self._pipeline, e.id, self._given.at, error_info(self._facts, e), logs)

    def _set_pass_aside(self, pass_number: int) -> None:
        folder = layout.run_folder(self._facts.run_version, self._facts.run_id)
        aside = layout.pass_folder(folder, pass_number)
        paths = [a.file_path for a in self._filing.artifacts if a.promoted] + [
            m.destination for m in self._filing.moves
        ]
        names = {path.removeprefix(f"{aside}/").partition("/")[0] for path in paths if path.startswith(f"{aside}/")}
        self._tree.archive_pass(self._pipeline, folder, pass_number, sorted(names))


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


def _log_text(connection: Connection, execution: str) -> bytes:
    c = t.execution_logs.c
    rows = connection.execute(
        sa.select(c.timestamp, c.level, c.message).where(c.execution_id == execution).order_by(c.log_id)
    )
    return "".join(f"{row.timestamp.isoformat()} {row.level} {row.message}\n" for row in rows).encode()
