"""Apply the file effects of a decision to the folder tree. Every effect can be repeated."""

from __future__ import annotations

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
from cairn.services.folders import queries
from cairn.services.folders.expected_files import blob_file
from cairn.services.folders.rollback_folders import RollbackFolders
from cairn.store import Connection, Database, NewArtifact, RunFacts


def is_in_process(e: Execution) -> bool:
    """Whether only this process can write to the workspace of the execution."""
    return e.policy.mode in (ExecutionMode.HUMAN_ONLY, ExecutionMode.FUNCTION)


class FileEffects:
    def __init__(
        self, database: Database, tree: Tree, facts: RunFacts, run: Run, context: CommandContext, file_plan: FilePlan
    ) -> None:
        self._database = database
        self._tree = tree
        self._facts = facts
        self._pipeline_id = facts.pipeline_id
        self._run = run
        self._context = context
        self._file_plan = file_plan
        self._new = {a.record_id: a for a in file_plan.artifacts}

    def apply(self, effect: FileEffect) -> None:
        match effect:
            case CreateWorkspace():
                self._tree.create_workspace(self._pipeline_id, effect.execution)
            case StageArtifacts():
                self._tree.stage(self._pipeline_id, effect.execution, self._outputs(effect.execution))
            case PromoteArtifacts():
                self._promote(self._run.executions[effect.execution])
            case MoveToErrored():
                self._move_to_errored(self._run.executions[effect.execution])
            case DeleteWorkspaces():
                for execution in effect.executions:
                    is_reusable = is_in_process(self._run.executions[execution])
                    self._tree.delete_workspace(self._pipeline_id, execution, is_reusable=is_reusable)
            case ArchiveFiles():
                folders = RollbackFolders(self._database, self._tree)
                folders.archive(self._pipeline_id, self._file_plan.rollbacks[effect.rollback])
            case RestoreFiles():
                folders = RollbackFolders(self._database, self._tree)
                folders.restore(self._pipeline_id, self._file_plan.rollbacks[effect.rollback])
            case ArchivePass():
                self._archive_pass(effect.pass_number)

    def _outputs(self, execution_id: str) -> list[FileContent]:
        e = self._run.executions[execution_id]
        if all(record_id in self._new for record_id in e.outputs):
            return [self._new_file(self._new[record_id]) for record_id in e.outputs]
        return self._database.read(lambda c: self._stored_files(c, e.outputs))

    def _new_file(self, a: NewArtifact) -> FileContent:
        # An artifact that is created and promoted in the same decision was never staged.
        staged = None if a.promoted else layout.staged_name(a.name, a.artifact_id, a.format)
        if a.content is None:
            return blob_file(self._database, a.file_path, a.checksum, a.size, staged)
        content = a.content
        return FileContent(a.file_path, a.checksum, a.size, lambda: content, staged)

    def _stored_files(self, connection: Connection, record_ids: tuple[str, ...]) -> list[FileContent]:
        return [
            blob_file(
                self._database,
                row.file_path,
                row.checksum,
                row.size_bytes,
                layout.staged_name(row.artifact_name, row.artifact_id, row.format),
            )
            for row in queries.artifacts_by_id(connection, record_ids)
        ]

    def _promote(self, e: Execution) -> None:
        files = self._outputs(e.id)
        if not files:
            return
        folder = files[0].path.rpartition("/")[0].rpartition("/")[0]
        superseded = [
            FileMove(m.original, m.destination, blob_file(self._database, m.destination, m.checksum, m.size))
            for m in self._file_plan.moves
            if m.superseded
        ]
        self._tree.promote(self._pipeline_id, e.id, folder, files, superseded)

    def _move_to_errored(self, e: Execution) -> None:
        logs = self._database.read(lambda c: _log_text(c, e.id))
        self._tree.move_to_errored(self._pipeline_id, e.id, self._context.at, error_info(self._facts, e), logs)

    def _archive_pass(self, pass_number: int) -> None:
        run_folder = layout.run_folder(self._facts.run_version, self._facts.run_id)
        prefix = f"{layout.pass_folder(run_folder, pass_number)}/"
        new = [a.file_path for a in self._file_plan.artifacts if a.promoted]
        moved = [m.destination for m in self._file_plan.moves]
        names = {path.removeprefix(prefix).partition("/")[0] for path in (*new, *moved) if path.startswith(prefix)}
        self._tree.archive_pass(self._pipeline_id, run_folder, pass_number, sorted(names))


def error_info(facts: RunFacts, e: Execution) -> bytes:
    """The content of `error_info.json`."""
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


def _log_text(connection: Connection, execution_id: str) -> bytes:
    """The content of `error_logs.txt`."""
    rows = queries.log_lines(connection, execution_id)
    return "".join(f"{row.timestamp.isoformat()} {row.level} {row.message}\n" for row in rows).encode()
