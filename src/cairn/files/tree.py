"""The folder tree that people see, below `{data}/pipelines/`. The database is the truth, the tree follows it."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType, TracebackType

from cairn.files import archive, layout, promotion, retention, workspace
from cairn.files import log_files as logs
from cairn.files.content import FileContent, FileMove
from cairn.files.drift import Drift, ExpectedTree, scan
from cairn.files.errors import explain
from cairn.files.layout import checked_id
from cairn.files.pipeline_folder import PipelineFolder
from cairn.files.repair import RepairResult, repair

_NO_SCRIPTS: Mapping[str, bytes] = MappingProxyType({})


def _now() -> datetime:
    return datetime.now(UTC)


class Tree:
    """Every operation may be repeated: after a crash it ends in the same state."""

    def __init__(self, root: Path, now: Callable[[], datetime] = _now) -> None:
        self.root = root.resolve()
        self._root = str(self.root)
        self._now = now

    # ---- pipelines ---------------------------------------------------------------------------------

    def create_pipeline(self, pipeline_id: str) -> Path:
        """Make the folders that every pipeline has."""
        with self._enter(pipeline_id) as room:
            for folder in layout.SKELETON:
                with room.open(*layout.parts(folder), make=True):
                    pass
        return self.root / pipeline_id

    def write_definition(
        self,
        pipeline_id: str,
        pipeline_json: bytes,
        checkpoints: Mapping[str, bytes],
        scripts: Mapping[str, bytes] = _NO_SCRIPTS,
        former: Container[str] = (),
    ) -> None:
        """Exactly these definitions lie there afterwards. `former`: checksums of what Cairn wrote there before;
        anything else that has to give way is kept in `.archived/drift_{datetime}/`."""
        files = [
            FileContent.of(layout.PIPELINE_FILE, pipeline_json),
            *(
                FileContent.of(f"{layout.CHECKPOINTS}/{checked_id(key)}.json", data)
                for key, data in checkpoints.items()
            ),
            *(FileContent.of(f"{layout.SCRIPTS}/{path}", data) for path, data in scripts.items()),
        ]
        with self._enter(pipeline_id) as room:
            expected = ExpectedTree({file.path: file for file in files}, folders=(layout.CHECKPOINTS,))
            repair(room, scan(room, expected, (layout.DEFINITIONS,)), self._now(), own=former, strict=True)

    def archive_definition_runs(self, pipeline_id: str, definition_version: int, at: datetime) -> str | None:
        """Move the runs of an earlier definition to the archive; the answer is the folder that `runs` became."""
        with self._enter(pipeline_id) as room:
            return archive.archive_definition_runs(room, definition_version, at)

    def archive_pipeline(self, pipeline_id: str, at: datetime) -> str:
        """Move a deleted pipeline's folder to the archive; the answer is its place from the root."""
        with self._enter(pipeline_id):
            return archive.archive_pipeline(self._root, pipeline_id, at)

    def restore_pipeline(self, pipeline_id: str, location: str) -> None:
        """Bring a deleted pipeline's folder back from there."""
        with self._enter(pipeline_id) as room:
            archive.restore_pipeline(room, location)

    def expired_folders(self, pipeline_id: str, before: datetime, within: str = layout.ERRORED) -> tuple[str, ...]:
        """What has lain in `.errored` or `.archived` since before that time, by its name."""
        with self._enter(pipeline_id) as room:
            return retention.expired(room, before, within)

    def delete_expired(self, pipeline_id: str, path: str) -> None:
        """Delete for good what is past its time: an archive, an errored workspace, a test run."""
        with self._enter(pipeline_id) as room:
            retention.discard(room, path)

    def append_log(self, pipeline_id: str, name: str, data: bytes, *, max_bytes: int, backups: int) -> bool:
        """Add to a log file, rotated when it is large; False if the pipeline has no folder now."""
        with self._enter(pipeline_id) as room:
            return logs.append(room, name, data, max_bytes=max_bytes, backups=backups)

    def read_log_tail(self, pipeline_id: str, name: str, size: int) -> bytes:
        with self._enter(pipeline_id) as room:
            return logs.tail(room, name, size)

    # ---- executions --------------------------------------------------------------------------------

    def create_workspace(self, pipeline_id: str, execution_id: str) -> Path:
        """The execution's folder, with `workspace/` and `artifacts_staging/`; what lies there already stays."""
        with self._enter(pipeline_id) as room:
            workspace.make(room, checked_id(execution_id))
        return Path(f"{self._root}/{pipeline_id}/{layout.workspace_folder(execution_id)}")

    def stage(self, pipeline_id: str, execution_id: str, files: Sequence[FileContent]) -> None:
        """Exactly these files lie in `artifacts_staging/` afterwards, under `staged_as`."""
        with self._enter(pipeline_id) as room:
            workspace.stage(room, checked_id(execution_id), files)

    def promote(
        self,
        pipeline_id: str,
        execution_id: str,
        folder: str,
        files: Sequence[FileContent],
        superseded: Sequence[FileMove] = (),
    ) -> None:
        """These files stand in `{folder}/outputs/` afterwards; those that they replace have moved."""
        with self._enter(pipeline_id) as room:
            promotion.promote(room, checked_id(execution_id), folder, files, superseded)

    def move_to_errored(self, pipeline_id: str, execution_id: str, at: datetime, error_info: bytes, logs: bytes) -> str:
        """Move the workspace to `.errored/`, its staged files as `failed_artifacts/`; the answer is its place."""
        with self._enter(pipeline_id) as room:
            return workspace.move_to_errored(room, checked_id(execution_id), at, error_info, logs)

    def delete_workspace(self, pipeline_id: str, execution_id: str) -> None:
        with self._enter(pipeline_id) as room:
            workspace.drop(room, checked_id(execution_id))

    # ---- runs --------------------------------------------------------------------------------------

    def write_run_info(self, pipeline_id: str, run_folder: str, content: bytes) -> None:
        with self._enter(pipeline_id) as room:
            room.write(f"{run_folder}/{layout.RUN_INFO}", content)

    def update_latest_link(self, pipeline_id: str, run_folder: str | None) -> None:
        """Let `runs/latest` lead to this run, or to none."""
        with self._enter(pipeline_id) as room:
            room.update_latest_link(run_folder)

    def archive_pass(
        self, pipeline_id: str, run_folder: str, pass_number: int, checkpoint_folders: Sequence[str]
    ) -> None:
        """The folders of a pass that is over move to `passes/{k}/`."""
        with self._enter(pipeline_id) as room:
            archive.archive_pass(room, run_folder, pass_number, checkpoint_folders)

    def archive_rollback(
        self, pipeline_id: str, rollback_folder: str, metadata: bytes, moves: Sequence[FileMove]
    ) -> None:
        """Move what a rollback takes away into its folder; what is missing is written there from its content."""
        with self._enter(pipeline_id) as room:
            archive.archive(room, rollback_folder, metadata, moves)

    def restore_rollback(self, pipeline_id: str, rollback_folder: str, moves: Sequence[FileMove]) -> None:
        """Put back what a rollback took away, by the same moves."""
        with self._enter(pipeline_id) as room:
            archive.unarchive(room, rollback_folder, moves)

    # ---- drift -------------------------------------------------------------------------------------

    def scan(
        self, pipeline_id: str, expected: ExpectedTree, *, under: Sequence[str] = (layout.RUNS, layout.DEFINITIONS)
    ) -> Drift:
        """How the pipeline's folder differs from what the database expects there. Changes nothing."""
        with self._enter(pipeline_id) as room:
            return scan(room, expected, under)

    def repair(self, drift: Drift, at: datetime, own: Container[str] = ()) -> RepairResult:
        """Put a drift right. Nothing may act on these folders meanwhile, unless `as_of` was given to the scan.

        `own` are checksums of contents that Cairn wrote there before: those need not be kept."""
        with self._enter(drift.pipeline_id) as room:
            return repair(room, drift, at, own=own)

    def _enter(self, pipeline_id: str) -> _Entry:
        return _Entry(PipelineFolder(self._root, checked_id(pipeline_id), self._now))


class _Entry:
    """Gives the room, and explains what goes wrong in it."""

    __slots__ = ("_room",)

    def __init__(self, room: PipelineFolder) -> None:
        self._room = room

    def __enter__(self) -> PipelineFolder:
        return self._room

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, OSError):
            raise explain(error, Path(self._room.root, self._room.pipeline_id)) from error
