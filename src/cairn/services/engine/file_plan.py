"""Plan the final paths of a decision's files in its transaction, so that rows and folders agree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, partial

from cairn.core.commands import CommandContext
from cairn.core.decide import Decision
from cairn.core.effects import ArchiveFiles, ArchivePass, PromoteArtifacts, RestoreFiles
from cairn.core.execution import Execution
from cairn.core.run import Run
from cairn.core.states import ExecutionState
from cairn.files import layout
from cairn.store import Connection, LoadedRun, NewArtifact
from cairn.store.rollbacks import archive_location, find_archived_items
from cairn.store.runs.artifacts import ArtifactFile, find_artifact_files, move_artifact


@dataclass(frozen=True, slots=True)
class MovedArtifact:
    """An artifact whose file moves. Paths are relative to the pipeline's folder."""

    record_id: str
    artifact_id: str
    execution_id: str
    name: str
    checksum: str
    size: int
    original: str
    destination: str
    superseded: bool = False


@dataclass(frozen=True, slots=True)
class ArchivedFolder:
    """A folder of a run or execution that a rollback moves. Paths are relative to the pipeline's folder."""

    item_type: str  # run or execution
    item_id: str
    original: str
    archived: str


@dataclass(frozen=True, slots=True)
class RollbackMoves:
    """The folders and files of one run that a rollback moves to its archive, or that an undo moves back."""

    rollback: str
    archive: str  # folder
    folders: tuple[ArchivedFolder, ...]
    files: tuple[MovedArtifact, ...]


@dataclass(frozen=True)
class FilePlan:
    artifacts: tuple[NewArtifact, ...]  # new artifacts with their final paths
    promoted: Mapping[str, str] = field(default_factory=dict[str, str])  # permanent paths of existing artifacts
    moves: tuple[MovedArtifact, ...] = ()
    rollbacks: Mapping[str, RollbackMoves] = field(default_factory=dict[str, RollbackMoves])


def plan_files(
    connection: Connection,
    before: LoadedRun,
    decision: Decision,
    context: CommandContext,
    artifacts: Sequence[NewArtifact],
) -> FilePlan:
    planner = _FilePlanner(connection, before, decision.run, tuple(artifacts))
    for effect in decision.effects:
        match effect:
            case PromoteArtifacts():
                planner.promote(decision.run.executions[effect.execution])
            case ArchiveFiles():
                planner.archive(effect.rollback, context.at, whole_run=decision.run.archived_by == effect.rollback)
            case RestoreFiles():
                planner.restore(effect.rollback)
            case ArchivePass():
                planner.archive_pass(effect.pass_number)
            case _:
                pass
    return planner.file_plan()


class _FilePlanner:
    """Track the paths of a run's artifacts. Existing artifacts are read only when one of them moves."""

    def __init__(
        self,
        connection: Connection,
        before: LoadedRun,
        run: Run,
        new: tuple[NewArtifact, ...],
    ) -> None:
        self._connection = connection
        self._facts = before.facts
        self._run = run
        self._folders = before.folders  # of executions, never change
        self._new = {a.record_id: a for a in new}
        self._promoted: dict[str, str] = {}
        self._moved: dict[str, MovedArtifact] = {}
        self._rollbacks: dict[str, RollbackMoves] = {}

    @cached_property
    def _existing(self) -> dict[str, ArtifactFile]:
        return {file.record_id: file for file in find_artifact_files(self._connection, self._facts.run_id)}

    @property
    def _run_folder(self) -> str:
        return layout.run_folder(self._facts.run_version, self._facts.run_id)

    def promote(self, e: Execution) -> None:
        self._supersede(e)
        for record_id in e.outputs:
            new = self._new.get(record_id)
            artifact = new or self._existing[record_id]
            facts = self._facts
            file = layout.permanent_name(
                artifact.name, artifact.artifact_id, artifact.format, facts.run_version, facts.run_id
            )
            path = f"{self._run_folder}/{self._folders[e.id]}/{layout.OUTPUTS}/{file}"
            if new is not None:
                self._new[record_id] = new.replace(promoted=True, file_path=path)
            else:
                self._promoted[record_id] = path

    def _supersede(self, e: Execution) -> None:
        """Move the outputs of the execution that this one replaces to `superseded/`."""
        for other in self._run.current:
            if other.key == e.key and other.id != e.id and other.state is ExecutionState.COMPLETED:
                folder = f"{self._run_folder}/{self._folders[other.id]}"
                target = layout.superseded_folder(folder, other.id)
                current = [item for item in self._promoted_by([other.id]) if not item.path.startswith(f"{target}/")]
                self._move(current, partial(_into, target), superseded=True)

    def archive(self, rollback: str, at: datetime, *, whole_run: bool) -> None:
        into = layout.rollback_folder(rollback, at)
        if whole_run:
            base = f"{into}/{layout.archived_run(self._facts.run_version, self._facts.run_id)}"
            folders = [ArchivedFolder("run", self._facts.run_id, self._run_folder, base)]
        else:
            archived = [e for e in self._run.executions.values() if e.archived_by == rollback and e.id in self._folders]
            folders = [self._archived_folder(e, into) for e in archived]
        files: list[MovedArtifact] = []
        for folder in folders:
            items = self._all_promoted() if whole_run else self._promoted_by([folder.item_id])
            files += self._move(items, partial(_rebase, f"{folder.original}/", f"{folder.archived}/"))
        self._rollbacks[rollback] = RollbackMoves(rollback, into, tuple(folders), tuple(files))

    def _archived_folder(self, e: Execution, into: str) -> ArchivedFolder:
        position = layout.archived_execution(self._facts.run_version, self._facts.run_id, e.position)
        return ArchivedFolder("execution", e.id, f"{self._run_folder}/{self._folders[e.id]}", f"{into}/{position}")

    def restore(self, rollback: str) -> None:
        location = archive_location(self._connection, rollback)
        rows = find_archived_items(self._connection, rollback)
        original_paths = {row.item_id: row.original_path for row in rows if row.item_type == "artifact"}
        files: list[MovedArtifact] = []
        for item in self._all_promoted():
            if item.record_id in original_paths:
                files += self._move([item], partial(_replace, original_paths[item.record_id]))
        own = {self._facts.run_id, *self._run.executions}
        folders = tuple(ArchivedFolder(*row) for row in rows if row.item_type != "artifact" and row.item_id in own)
        self._rollbacks[rollback] = RollbackMoves(rollback, location.rstrip("/"), folders, tuple(files))

    def archive_pass(self, pass_number: int) -> None:
        into = layout.pass_folder(self._run_folder, pass_number)
        ids = {e.id for e in self._run.executions.values() if e.pass_number == pass_number and e.archived_by is None}
        self._move(self._promoted_by(ids), partial(_rebase, f"{self._run_folder}/", f"{into}/"))
        for record_id, new in self._new.items():
            if new.promoted and new.execution_id in ids:
                self._new[record_id] = new.replace(
                    file_path=f"{into}/{new.file_path.removeprefix(self._run_folder + '/')}"
                )
        for record_id, path in self._promoted.items():
            if self._existing[record_id].execution_id in ids:
                self._promoted[record_id] = f"{into}/{path.removeprefix(self._run_folder + '/')}"

    def _all_promoted(self) -> list[ArtifactFile]:
        return [item for item in self._existing.values() if item.promoted]

    def _promoted_by(self, executions: Iterable[str]) -> list[ArtifactFile]:
        ids = set(executions)
        return [item for item in self._all_promoted() if item.execution_id in ids]

    def _move(
        self, items: Sequence[ArtifactFile], rename: Callable[[str], str], *, superseded: bool = False
    ) -> list[MovedArtifact]:
        for item in items:
            earlier = self._moved.get(item.record_id)
            path = earlier.destination if earlier else item.path
            self._moved[item.record_id] = MovedArtifact(
                item.record_id,
                item.artifact_id,
                item.execution_id,
                item.name,
                item.checksum,
                item.size,
                item.path,
                rename(path),
                superseded or (earlier is not None and earlier.superseded),
            )
        return [self._moved[item.record_id] for item in items]

    def file_plan(self) -> FilePlan:
        return FilePlan(tuple(self._new.values()), self._promoted, tuple(self._moved.values()), self._rollbacks)


def _into(folder: str, path: str) -> str:
    return f"{folder}/{path.rpartition('/')[2]}"


def _rebase(old_prefix: str, new_prefix: str, path: str) -> str:
    return new_prefix + path.removeprefix(old_prefix)


def _replace(path: str, _: str) -> str:
    return path


def save_moves(connection: Connection, file_plan: FilePlan, context: CommandContext) -> None:
    """Save the new paths of moved files."""
    for moved in file_plan.moves:
        superseded_at = context.at if moved.superseded else None
        move_artifact(connection, moved.record_id, moved.destination, superseded_at=superseded_at)
