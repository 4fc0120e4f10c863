"""What is taken away and can be brought back: rollbacks, passes, runs of earlier definitions, deleted pipelines."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime

from cairn.files import layout, safe_folder
from cairn.files.content import FileMove
from cairn.files.errors import UnsafePath
from cairn.files.pipeline_folder import PipelineFolder


def archive(room: PipelineFolder, rollback_folder: str, metadata: bytes, moves: Sequence[FileMove]) -> None:
    """Move what a rollback takes away into its folder. The metadata comes first and explains a half archive."""
    _inside(rollback_folder, layout.ARCHIVED)
    room.write(f"{rollback_folder}/{layout.ROLLBACK_METADATA}", metadata)
    for move in sorted(moves, key=_depth):
        _inside(move.archived, rollback_folder)
        room.take(move)


def unarchive(room: PipelineFolder, rollback_folder: str, moves: Sequence[FileMove]) -> None:
    """Put everything back. The metadata stays as a record."""
    _inside(rollback_folder, layout.ARCHIVED)
    for move in sorted(moves, key=_depth):
        _inside(move.archived, rollback_folder)
        room.bring_back(move)
    room.remove_empty(f"{rollback_folder}/archived_data")


def archive_pass(room: PipelineFolder, run_folder: str, pass_number: int, checkpoint_folders: Sequence[str]) -> None:
    """The checkpoints' folders of a pass that is over move to `passes/{k}/`."""
    aside = layout.pass_folder(run_folder, pass_number)
    for name in checkpoint_folders:
        room.take(FileMove(f"{run_folder}/{name}", f"{aside}/{name}"))


def archive_definition_runs(room: PipelineFolder, definition_version: int, at: datetime) -> str | None:
    """Move the runs of a definition that has ended; the answer is their new `runs` folder, if there were any."""
    goal = f"{layout.definition_archive(definition_version, at)}/{layout.RUNS}"
    if not room.exists(goal):
        with room.open(layout.RUNS, make=True) as runs:
            if not safe_folder.names(runs):
                return None
        room.rename(layout.RUNS, goal)
    with room.open(layout.RUNS, make=True):
        return goal


def archive_pipeline(root: str, pipeline_id: str, at: datetime) -> str:
    """Move a deleted pipeline's folder into the archive of the root; the answer is where, from the root."""
    location = layout.deleted_pipeline(pipeline_id, at)
    with safe_folder.SafeFolder(root, layout.ARCHIVED, make=True) as archived, safe_folder.SafeFolder(root, ".") as top:
        name = location.rpartition("/")[2]
        if safe_folder.kind(archived, name) is None and safe_folder.kind(top, pipeline_id) is not None:
            os.rename(pipeline_id, name, src_dir_fd=top, dst_dir_fd=archived)
    return location


def restore_pipeline(room: PipelineFolder, location: str) -> None:
    """Bring a deleted pipeline's folder back; what has come to stand in its place since is kept aside in it."""
    name = layout.checked_id(location.removeprefix(f"{layout.ARCHIVED}/"))
    newer = f"{layout.UNFINISHED}{room.pipeline_id}"
    with (
        safe_folder.SafeFolder(room.root, layout.ARCHIVED, make=True) as archived,
        safe_folder.SafeFolder(room.root, ".") as top,
    ):
        if safe_folder.kind(archived, name) is not None:
            if safe_folder.kind(top, room.pipeline_id) is not None:
                os.rename(room.pipeline_id, newer, src_dir_fd=top, dst_dir_fd=top)
            os.rename(name, room.pipeline_id, src_dir_fd=archived, dst_dir_fd=top)
        if safe_folder.kind(top, newer) is not None:
            *steps, aside = layout.parts(layout.drift_folder(room.now()))
            with room.open(*steps, make=True) as kept:
                os.rename(newer, aside, src_dir_fd=top, dst_dir_fd=kept)


def _depth(move: FileMove) -> int:
    """Folders before what lies in them: a folder that is there already is not moved any more."""
    return move.archived.count("/")


def _inside(path: str, folder: str) -> None:
    layout.parts(path)
    if not path.startswith(f"{folder}/"):
        raise UnsafePath(f"{path!r} does not lie in {folder!r}")
