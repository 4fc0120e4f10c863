"""Move staged artifacts to their permanent names, and keep what they replace."""

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
    pipeline: PipelineFolder,
    execution_id: str,
    folder: str,
    files: Sequence[FileContent],
    superseded: Sequence[FileMove] = (),
) -> None:
    """Create a checkpoint's folder with its files in `outputs/` in one step, or add them to an existing folder."""
    *steps, name = layout.split_path(folder)
    prefix = f"{folder}/{layout.OUTPUTS}/"
    named = [(_name_in(file, prefix), file) for file in files]
    with pipeline.open(*steps, create=True) as run:
        exists = bool(superseded) or safe_folder.file_type(run, name) is not None
        if exists or not _publish(pipeline, run, name, execution_id, named):
            _supersede(pipeline, superseded, files)
            _add(pipeline, [*steps, name], execution_id, named)


def _name_in(file: FileContent, prefix: str) -> str:
    if not file.path.startswith(prefix):
        raise UnsafePath(f"{file.path!r} is not inside {prefix!r}")
    return layout.checked_id(file.path[len(prefix) :])


def _publish(
    pipeline: PipelineFolder, run: int, name: str, execution_id: str, files: Sequence[tuple[str, FileContent]]
) -> bool:
    """Fill a folder under a temporary name, then rename it. False: a folder of this name exists by now."""
    temporary = f"{layout.TEMPORARY_PREFIX}{execution_id}"
    try:
        _make_empty(run, temporary)
        for file_name, file in files:
            path = f"{temporary}/{layout.OUTPUTS}/{file_name}"
            if not (file.staged_as and _take_staged(pipeline, execution_id, file, run, path)):
                safe_folder.write_new(run, path, file.read(), file.size)
        try:
            os.rename(temporary, name, src_dir_fd=run, dst_dir_fd=run)
        except OSError:
            if safe_folder.file_type(run, name) is None:
                raise
            safe_folder.remove_tree(run, temporary)
            return False
    except OSError:
        with contextlib.suppress(OSError):
            safe_folder.remove_tree(run, temporary)
        raise
    return True


def _make_empty(run: int, temporary: str) -> None:
    try:
        os.mkdir(temporary, dir_fd=run)
    except FileExistsError:
        safe_folder.remove_tree(run, temporary)
        os.mkdir(temporary, dir_fd=run)
    os.mkdir(f"{temporary}/{layout.OUTPUTS}", dir_fd=run)


def _add(
    pipeline: PipelineFolder, steps: Sequence[str], execution_id: str, files: Sequence[tuple[str, FileContent]]
) -> None:
    with pipeline.open(*steps, layout.OUTPUTS, create=True) as outputs:
        for name, file in files:
            if safe_folder.has_content(outputs, name, file.size, file.checksum):
                continue
            temporary = safe_folder.temporary_name()
            if not (file.staged_as and _take_staged(pipeline, execution_id, file, outputs, temporary)):
                temporary = safe_folder.write_temporary(outputs, file.read(), file.size)
            if not _is_replaceable(outputs, name):
                pipeline.set_aside(file.path)
            safe_folder.publish(outputs, temporary, outputs, name)


def _supersede(pipeline: PipelineFolder, moves: Sequence[FileMove], files: Sequence[FileContent]) -> None:
    """Keep the replaced files. A file whose path is reused stays there too until its successor replaces it."""
    new = {file.path: file for file in files}
    for move in moves:
        if pipeline.exists(move.archived):
            continue
        successor = new.get(move.original)
        if successor is None:
            pipeline.move(move)
        elif (_is_stored(pipeline, successor) or not _link(pipeline, move)) and move.content is not None:
            pipeline.restore_file(move.content, move.archived)


def _link(pipeline: PipelineFolder, move: FileMove) -> bool:
    """Link the replaced file to its new path. Move it where the file system has no hard links."""
    try:
        source, name = pipeline.parent(move.original)
    except FileNotFoundError:
        return False
    target, new_name = pipeline.parent(move.archived, create=True)
    with source as outer, target as inner:
        try:
            os.link(name, new_name, src_dir_fd=outer, dst_dir_fd=inner, follow_symlinks=False)
        except FileNotFoundError:
            return False
        except OSError:
            os.rename(name, new_name, src_dir_fd=outer, dst_dir_fd=inner)
    return True


def _is_stored(pipeline: PipelineFolder, file: FileContent) -> bool:
    try:
        folder, name = pipeline.parent(file.path)
    except FileNotFoundError:
        return False
    with folder as fd:
        return safe_folder.has_content(fd, name, file.size, file.checksum)


def _is_replaceable(fd: int, name: str) -> bool:
    """Whether nothing is at this name, or a file that also has a name among the superseded ones."""
    try:
        status = os.stat(name, dir_fd=fd, follow_symlinks=False)
    except FileNotFoundError:
        return True
    return status.st_nlink > 1 and not stat.S_ISDIR(status.st_mode)


def _take_staged(pipeline: PipelineFolder, execution_id: str, file: FileContent, target: int, path: str) -> bool:
    """Rename the staged file if its content is unchanged and no other hard link to it exists."""
    name = layout.checked_id(file.staged_as or "")
    try:
        folder = pipeline.open(*layout.split_path(layout.staging_folder(execution_id)))
    except (FileNotFoundError, NotADirectoryError):
        return False
    with folder as staging:
        if not safe_folder.has_content(staging, name, file.size, file.checksum):
            return False
        if os.stat(name, dir_fd=staging, follow_symlinks=False).st_nlink > 1:
            return False
        os.rename(name, path, src_dir_fd=staging, dst_dir_fd=target)
    return True
