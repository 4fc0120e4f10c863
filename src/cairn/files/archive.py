"""Archive and restore: rollbacks, passes, runs of earlier definitions, deleted pipelines."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime

from cairn.files import layout, safe_folder
from cairn.files.content import FileMove
from cairn.files.errors import UnsafePath
from cairn.files.pipeline_folder import PipelineFolder


def archive_rollback(
    pipeline: PipelineFolder, rollback_folder: str, metadata: bytes, moves: Sequence[FileMove]
) -> None:
    """Move what a rollback archives into its folder. The metadata is written first: it explains a partial archive."""
    _check_inside(rollback_folder, layout.ARCHIVED)
    pipeline.write(f"{rollback_folder}/{layout.ROLLBACK_METADATA}", metadata)
    for move in sorted(moves, key=_depth):
        _check_inside(move.archived, rollback_folder)
        pipeline.move(move)


def restore_rollback(pipeline: PipelineFolder, rollback_folder: str, moves: Sequence[FileMove]) -> None:
    """Move everything back. The metadata stays as a record."""
    _check_inside(rollback_folder, layout.ARCHIVED)
    for move in sorted(moves, key=_depth):
        _check_inside(move.archived, rollback_folder)
        pipeline.move_back(move)
    pipeline.remove_empty_folders(f"{rollback_folder}/archived_data")


def archive_pass(
    pipeline: PipelineFolder, run_folder: str, pass_number: int, checkpoint_folders: Sequence[str]
) -> None:
    """Move the checkpoint folders of an ended pass to `passes/{k}/`."""
    target = layout.pass_folder(run_folder, pass_number)
    for name in checkpoint_folders:
        pipeline.move(FileMove(f"{run_folder}/{name}", f"{target}/{name}"))


def archive_definition_runs(pipeline: PipelineFolder, definition_version: int, at: datetime) -> str | None:
    """Move the runs of an earlier definition version; return their new `runs` folder, if there were any."""
    target = f"{layout.definition_archive(definition_version, at)}/{layout.RUNS}"
    if not pipeline.exists(target):
        with pipeline.open(layout.RUNS, create=True) as runs:
            if not safe_folder.list_names(runs):
                return None
        pipeline.rename(layout.RUNS, target)
    with pipeline.open(layout.RUNS, create=True):
        return target


def archive_pipeline(root: str, pipeline_id: str, at: datetime) -> str:
    """Move a deleted pipeline's folder into the archive of the root; return its path from the root."""
    location = layout.deleted_pipeline(pipeline_id, at)
    with (
        safe_folder.SafeFolder(root, layout.ARCHIVED, create=True) as archived,
        safe_folder.SafeFolder(root, ".") as top,
    ):
        name = location.rpartition("/")[2]
        if safe_folder.file_type(archived, name) is None and safe_folder.file_type(top, pipeline_id) is not None:
            os.rename(pipeline_id, name, src_dir_fd=top, dst_dir_fd=archived)
    return location


def restore_pipeline(pipeline: PipelineFolder, location: str) -> None:
    """Restore a deleted pipeline's folder. A folder created in its place since then is set aside inside it."""
    name = layout.checked_id(location.removeprefix(f"{layout.ARCHIVED}/"))
    newer = f"{layout.TEMPORARY_PREFIX}{pipeline.pipeline_id}"
    with (
        safe_folder.SafeFolder(pipeline.root, layout.ARCHIVED, create=True) as archived,
        safe_folder.SafeFolder(pipeline.root, ".") as top,
    ):
        if safe_folder.file_type(archived, name) is not None:
            if safe_folder.file_type(top, pipeline.pipeline_id) is not None:
                os.rename(pipeline.pipeline_id, newer, src_dir_fd=top, dst_dir_fd=top)
            os.rename(name, pipeline.pipeline_id, src_dir_fd=archived, dst_dir_fd=top)
        if safe_folder.file_type(top, newer) is not None:
            *steps, name_aside = layout.split_path(layout.drift_folder(pipeline.now()))
            with pipeline.open(*steps, create=True) as archived_drift:
                os.rename(newer, name_aside, src_dir_fd=top, dst_dir_fd=archived_drift)


def _depth(move: FileMove) -> int:
    """Sort folders before their contents: a folder that already exists at the target is not moved."""
    return move.archived.count("/")


def _check_inside(path: str, folder: str) -> None:
    layout.split_path(path)
    if not path.startswith(f"{folder}/"):
        raise UnsafePath(f"{path!r} is not inside {folder!r}")
