"""The folder tree below `{data}/pipelines/`. The database is the source of truth, the tree a copy for people."""

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
from cairn.files.topdir import mark_top_directory
from cairn.files.workspace_pool import WorkspacePool

_NO_SCRIPTS: Mapping[str, bytes] = MappingProxyType({})


def _now() -> datetime:
    return datetime.now(UTC)


class Tree:
    """Every operation is repeatable. Repeated after a crash, it leads to the same state."""

    def __init__(self, root: Path, now: Callable[[], datetime] = _now) -> None:
        self.root = root.resolve()
        self._root = str(self.root)
        self._now = now
        self._spare_workspaces = WorkspacePool(self._root)

    # Pipelines

    def create_pipeline(self, pipeline_id: str) -> Path:
        """Create the folders that every pipeline has."""
        self.root.mkdir(parents=True, exist_ok=True)
        mark_top_directory(self._root)
        with self._open(pipeline_id) as pipeline:
            for folder in layout.SKELETON:
                with pipeline.open(*layout.split_path(folder), create=True):
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
        """Write exactly these definitions. Other content moves to `.archived/drift_{datetime}/`, unless its checksum
        is in `former`: Cairn wrote that itself."""
        files = [
            FileContent.of(layout.PIPELINE_FILE, pipeline_json),
            *(
                FileContent.of(f"{layout.CHECKPOINTS}/{checked_id(key)}.json", data)
                for key, data in checkpoints.items()
            ),
            *(FileContent.of(f"{layout.SCRIPTS}/{path}", data) for path, data in scripts.items()),
        ]
        with self._open(pipeline_id) as pipeline:
            expected = ExpectedTree({file.path: file for file in files}, folders=(layout.CHECKPOINTS,))
            repair(pipeline, scan(pipeline, expected, (layout.DEFINITIONS,)), self._now(), own=former, strict=True)

    def archive_definition_runs(self, pipeline_id: str, definition_version: int, at: datetime) -> str | None:
        """Move the runs of an earlier definition to the archive; return the new path of `runs`."""
        with self._open(pipeline_id) as pipeline:
            return archive.archive_definition_runs(pipeline, definition_version, at)

    def archive_pipeline(self, pipeline_id: str, at: datetime) -> str:
        """Move a deleted pipeline's folder to the archive; return its path from the root."""
        with self._open(pipeline_id):
            return archive.archive_pipeline(self._root, pipeline_id, at)

    def restore_pipeline(self, pipeline_id: str, location: str) -> None:
        """Move a deleted pipeline's folder back from the archive."""
        with self._open(pipeline_id) as pipeline:
            archive.restore_pipeline(pipeline, location)

    def expired_folders(self, pipeline_id: str, before: datetime, within: str = layout.ERRORED) -> tuple[str, ...]:
        """Folders in `.errored` or `.archived` whose name contains an earlier time."""
        with self._open(pipeline_id) as pipeline:
            return retention.expired(pipeline, before, within)

    def delete_expired(self, pipeline_id: str, path: str) -> None:
        """Permanently delete an archive, an errored workspace or a test run."""
        with self._open(pipeline_id) as pipeline:
            retention.delete(pipeline, path)

    def append_log(self, pipeline_id: str, name: str, data: bytes, *, max_bytes: int, backups: int) -> bool:
        """Append to a log file, and rotate it when it is large. False: the pipeline has no folder."""
        with self._open(pipeline_id) as pipeline:
            return logs.append(pipeline, name, data, max_bytes=max_bytes, backups=backups)

    def read_log_tail(self, pipeline_id: str, name: str, size: int) -> bytes:
        with self._open(pipeline_id) as pipeline:
            return logs.tail(pipeline, name, size)

    # Executions

    def create_workspace(self, pipeline_id: str, execution_id: str) -> Path:
        """Create an execution's folder, with `workspace/` and `artifacts_staging/`. Existing contents stay."""
        with self._open(pipeline_id) as pipeline:
            workspace.create(pipeline, checked_id(execution_id), self._spare_workspaces)
        return Path(f"{self._root}/{pipeline_id}/{layout.workspace_folder(execution_id)}")

    def stage(self, pipeline_id: str, execution_id: str, files: Sequence[FileContent]) -> None:
        """Make `artifacts_staging/` contain exactly these files, named `staged_as`."""
        with self._open(pipeline_id) as pipeline:
            workspace.stage(pipeline, checked_id(execution_id), files)

    def promote(
        self,
        pipeline_id: str,
        execution_id: str,
        folder: str,
        files: Sequence[FileContent],
        superseded: Sequence[FileMove] = (),
    ) -> None:
        """Move these files to `{folder}/outputs/`, and move away the files that they replace."""
        with self._open(pipeline_id) as pipeline:
            promotion.promote(pipeline, checked_id(execution_id), folder, files, superseded)

    def move_to_errored(self, pipeline_id: str, execution_id: str, at: datetime, error_info: bytes, logs: bytes) -> str:
        """Move the workspace to `.errored/`, its staged files to `failed_artifacts/`; return its path."""
        with self._open(pipeline_id) as pipeline:
            return workspace.move_to_errored(pipeline, checked_id(execution_id), at, error_info, logs)

    def delete_workspace(self, pipeline_id: str, execution_id: str, *, is_reusable: bool = False) -> None:
        """Delete the workspace. `is_reusable`: no other process could write to it, so it may be kept if empty."""
        pool = self._spare_workspaces if is_reusable else None
        with self._open(pipeline_id) as pipeline:
            workspace.delete(pipeline, checked_id(execution_id), pool)

    # Runs

    def write_run_info(self, pipeline_id: str, run_folder: str, content: bytes) -> None:
        with self._open(pipeline_id) as pipeline:
            pipeline.write(f"{run_folder}/{layout.RUN_INFO}", content)

    def update_latest_link(self, pipeline_id: str, run_folder: str | None) -> None:
        """Link `runs/latest` to this run, or remove the link."""
        with self._open(pipeline_id) as pipeline:
            pipeline.update_latest_link(run_folder)

    def archive_pass(
        self, pipeline_id: str, run_folder: str, pass_number: int, checkpoint_folders: Sequence[str]
    ) -> None:
        """Move the checkpoint folders of an ended pass to `passes/{k}/`."""
        with self._open(pipeline_id) as pipeline:
            archive.archive_pass(pipeline, run_folder, pass_number, checkpoint_folders)

    def archive_rollback(
        self, pipeline_id: str, rollback_folder: str, metadata: bytes, moves: Sequence[FileMove]
    ) -> None:
        """Move the files of a rollback to its archive. Missing files are written there from the database."""
        with self._open(pipeline_id) as pipeline:
            archive.archive_rollback(pipeline, rollback_folder, metadata, moves)

    def restore_rollback(self, pipeline_id: str, rollback_folder: str, moves: Sequence[FileMove]) -> None:
        """Move back the files that a rollback archived."""
        with self._open(pipeline_id) as pipeline:
            archive.restore_rollback(pipeline, rollback_folder, moves)

    # Drift

    def scan(
        self, pipeline_id: str, expected: ExpectedTree, *, under: Sequence[str] = (layout.RUNS, layout.DEFINITIONS)
    ) -> Drift:
        """Find differences between the pipeline's folder and the expected tree, without changing anything."""
        with self._open(pipeline_id) as pipeline:
            return scan(pipeline, expected, under)

    def repair(self, drift: Drift, at: datetime, own: Container[str] = ()) -> RepairResult:
        """Repair a drift. Nothing else may change these folders meanwhile, unless the scan had `as_of`.

        `own` are checksums of contents that Cairn itself wrote before: those are not set aside."""
        with self._open(drift.pipeline_id) as pipeline:
            return repair(pipeline, drift, at, own=own)

    def _open(self, pipeline_id: str) -> _ExplainErrors:
        return _ExplainErrors(PipelineFolder(self._root, checked_id(pipeline_id), self._now))


class _ExplainErrors:
    """Convert an OSError into a FilesError that says what to do."""

    __slots__ = ("_pipeline",)

    def __init__(self, pipeline: PipelineFolder) -> None:
        self._pipeline = pipeline

    def __enter__(self) -> PipelineFolder:
        return self._pipeline

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, OSError):
            raise explain(error, Path(self._pipeline.root, self._pipeline.pipeline_id)) from error
