"""Staged artifacts take their permanent names; what they replace is kept beside them."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Sequence

from cairn.files import layout, safe_folder
from cairn.files.content import FileContent, FileMove
from cairn.files.errors import UnsafePath
from cairn.files.pipeline_folder import PipelineFolder


def promote(
    room: PipelineFolder,
    execution_id: str,
    folder: str,
    files: Sequence[FileContent],
    superseded: Sequence[FileMove] = (),
) -> None:
    """The checkpoint's folder appears whole, with its files in `outputs/`; one that is there gets them one by one."""
    *steps, name = layout.parts(folder)
    prefix = f"{folder}/{layout.OUTPUTS}/"
    named = [(_name(file, prefix), file) for file in files]
    with room.open(*steps, make=True) as run:
        is_there = bool(superseded) or safe_folder.kind(run, name) is not None
        if is_there or not _publish(room, run, name, execution_id, named):
            _supersede(room, superseded, files)
            _add(room, [*steps, name], execution_id, named)


def _name(file: FileContent, prefix: str) -> str:
    if not file.path.startswith(prefix):
        raise UnsafePath(f"{file.path!r} does not lie in {prefix!r}")
    return layout.checked_id(file.path[len(prefix) :])


def _publish(
    room: PipelineFolder, run: int, name: str, execution_id: str, files: Sequence[tuple[str, FileContent]]
) -> bool:
    """Fill a folder under an unfinished name, then rename it; False if another one stands there by now."""
    half = f"{layout.UNFINISHED}{execution_id}"
    try:
        _make_empty(run, half)
        for file_name, file in files:
            place = f"{half}/{layout.OUTPUTS}/{file_name}"
            if not (file.staged_as and _take_staged(room, execution_id, file, run, place)):
                safe_folder.write_new(run, place, file.read(), file.size)
        try:
            os.rename(half, name, src_dir_fd=run, dst_dir_fd=run)
        except OSError:
            if safe_folder.kind(run, name) is None:
                raise
            safe_folder.remove_tree(run, half)
            return False
    except OSError:
        with contextlib.suppress(OSError):
            safe_folder.remove_tree(run, half)
        raise
    return True


def _make_empty(run: int, half: str) -> None:
    try:
        os.mkdir(half, dir_fd=run)
    except FileExistsError:
        safe_folder.remove_tree(run, half)
        os.mkdir(half, dir_fd=run)
    os.mkdir(f"{half}/{layout.OUTPUTS}", dir_fd=run)


def _add(
    room: PipelineFolder, steps: Sequence[str], execution_id: str, files: Sequence[tuple[str, FileContent]]
) -> None:
    with room.open(*steps, layout.OUTPUTS, make=True) as outputs:
        for name, file in files:
            if safe_folder.holds(outputs, name, file.size, file.checksum):
                continue
            half = safe_folder.unfinished()
            if not (file.staged_as and _take_staged(room, execution_id, file, outputs, half)):
                half = safe_folder.write_aside(outputs, file.read(), file.size)
            if not _is_kept(outputs, name):
                room.set_aside(file.path)
            safe_folder.put(outputs, half, outputs, name)


def _supersede(room: PipelineFolder, moves: Sequence[FileMove], files: Sequence[FileContent]) -> None:
    """Keep the replaced files. One whose name is taken stays in place as well until the new one replaces it."""
    new = {file.path: file for file in files}
    for move in moves:
        if room.exists(move.archived):
            continue
        successor = new.get(move.original)
        if successor is None:
            room.take(move)
        elif (_stands(room, successor) or not _link(room, move)) and move.content is not None:
            room.restore(move.content, move.archived)


def _link(room: PipelineFolder, move: FileMove) -> bool:
    """Let the replaced file stand at both places; where links are not to be had it moves."""
    try:
        source, name = room.parent(move.original)
    except FileNotFoundError:
        return False
    goal, new_name = room.parent(move.archived, make=True)
    with source as outer, goal as inner:
        try:
            os.link(name, new_name, src_dir_fd=outer, dst_dir_fd=inner, follow_symlinks=False)
        except FileNotFoundError:
            return False
        except OSError:
            os.rename(name, new_name, src_dir_fd=outer, dst_dir_fd=inner)
    return True


def _stands(room: PipelineFolder, file: FileContent) -> bool:
    try:
        folder, name = room.parent(file.path)
    except FileNotFoundError:
        return False
    with folder as fd:
        return safe_folder.holds(fd, name, file.size, file.checksum)


def _is_kept(fd: int, name: str) -> bool:
    """Whether nothing stands there, or something that has a second name among the superseded ones."""
    try:
        status = os.stat(name, dir_fd=fd, follow_symlinks=False)
    except FileNotFoundError:
        return True
    return status.st_nlink > 1 and not stat.S_ISDIR(status.st_mode)


def _take_staged(room: PipelineFolder, execution_id: str, file: FileContent, target: int, place: str) -> bool:
    """Rename the staged file, if it still is what was looked at and nobody else holds it under another name."""
    name = layout.checked_id(file.staged_as or "")
    try:
        folder = room.open(*layout.parts(layout.staging_folder(execution_id)))
    except (FileNotFoundError, NotADirectoryError):
        return False
    with folder as staging:
        if not safe_folder.holds(staging, name, file.size, file.checksum):
            return False
        if os.stat(name, dir_fd=staging, follow_symlinks=False).st_nlink > 1:
            return False
        os.rename(name, place, src_dir_fd=staging, dst_dir_fd=target)
    return True
