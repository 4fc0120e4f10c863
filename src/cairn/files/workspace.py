"""The workspace of an execution: `.temp/exec_{id}/` with `workspace/` and `artifacts_staging/`."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import stat
from collections.abc import Sequence
from datetime import datetime

from cairn.files import layout, safe_folder
from cairn.files.content import FileContent
from cairn.files.pipeline_folder import PipelineFolder
from cairn.files.workspace_pool import WorkspacePool

_INNER = [layout.STAGING, layout.WORKSPACE]


def create(pipeline: PipelineFolder, execution_id: str, pool: WorkspacePool | None = None) -> None:
    """Create the missing parts of the workspace. A retry keeps the existing content."""
    name = f"exec_{execution_id}"
    with pipeline.open(layout.TEMP, create=True) as temp:
        if pool is None or not pool.take(temp, name):
            os.close(_open(temp, name))


def stage(pipeline: PipelineFolder, execution_id: str, files: Sequence[FileContent]) -> None:
    """Make `artifacts_staging/` contain exactly these files."""
    expected = {layout.checked_id(file.staged_as or file.path.rpartition("/")[2]): file for file in files}
    with pipeline.open(layout.TEMP, create=True) as temp:
        outer = _open(temp, f"exec_{execution_id}")
        try:
            staging = safe_folder.open_inside(outer, layout.STAGING)
        finally:
            os.close(outer)
    try:
        for name in safe_folder.list_names(staging):
            if name not in expected:
                safe_folder.remove_tree(staging, name)
        for name, file in expected.items():
            if not safe_folder.has_content(staging, name, file.size, file.checksum):
                _remove_unless(staging, name, stat.S_IFREG)
                safe_folder.write_file(staging, name, file.read(), file.size)
    finally:
        os.close(staging)


def delete(pipeline: PipelineFolder, execution_id: str, pool: WorkspacePool | None = None) -> None:
    """Delete the workspace, or move it to the pool if it is empty."""
    name = f"exec_{execution_id}"
    try:
        folder = pipeline.open(layout.TEMP)
    except FileNotFoundError:
        return
    with folder as temp:
        if pool is None or not pool.put(temp, name, _INNER):
            safe_folder.remove_tree(temp, name)


def move_to_errored(pipeline: PipelineFolder, execution_id: str, at: datetime, error_info: bytes, logs: bytes) -> str:
    """Move a failed execution's workspace to `.errored/`, with its error and log."""
    name = f"exec_{execution_id}"
    folder_name = layout.errored_folder(execution_id, at).rpartition("/")[2]
    with pipeline.open(layout.ERRORED, create=True) as errored, pipeline.open(layout.TEMP, create=True) as temp:
        target, is_done = _errored_name(errored, folder_name, error_info)
        if is_done:
            return f"{layout.ERRORED}/{target}"
        work = _open(temp, name)
        try:
            for file, content in ((layout.ERROR_INFO, error_info), (layout.ERROR_LOGS, logs)):
                _remove_unless(work, file, stat.S_IFREG)
                safe_folder.write_file(work, file, content)
            if safe_folder.file_type(work, layout.FAILED_ARTIFACTS) is None:
                os.rename(layout.STAGING, layout.FAILED_ARTIFACTS, src_dir_fd=work, dst_dir_fd=work)
            with contextlib.suppress(OSError):
                os.rmdir(layout.STAGING, dir_fd=work)  # empty: a repeated call has created it again
        finally:
            os.close(work)
        os.rename(name, target, src_dir_fd=temp, dst_dir_fd=errored)
    return f"{layout.ERRORED}/{target}"


def _errored_name(errored: int, folder_name: str, error_info: bytes) -> tuple[str, bool]:
    """A free name, and whether this failure is already there. Two failures may happen within a second."""
    checksum = hashlib.sha256(error_info).hexdigest()
    for number in itertools.count():
        name = layout.numbered(folder_name, number)
        if safe_folder.file_type(errored, name) is None:
            return name, False
        if safe_folder.digest(errored, f"{name}/{layout.ERROR_INFO}") == checksum:
            return name, True
    raise AssertionError


def is_complete(temp: int, name: str) -> bool:
    """Whether both folders of a workspace exist. It may be deleted meanwhile."""
    try:
        work = safe_folder.open_inside(temp, name)
    except FileNotFoundError:
        return False
    try:
        return all(safe_folder.file_type(work, inner) == stat.S_IFDIR for inner in _INNER)
    finally:
        os.close(work)


def _open(temp: int, name: str) -> int:
    """Open the complete workspace. Anything else that a script put in place of its folders is removed."""
    _remove_unless(temp, name, stat.S_IFDIR)
    work = safe_folder.open_inside(temp, name, create=True)
    try:
        for inner in _INNER:
            _remove_unless(work, inner, stat.S_IFDIR)
            with contextlib.suppress(FileExistsError):
                os.mkdir(inner, dir_fd=work)
    except BaseException:
        os.close(work)
        raise
    return work


def _remove_unless(fd: int, name: str, file_type: int) -> None:
    if safe_folder.file_type(fd, name) not in {file_type, None}:
        safe_folder.remove_tree(fd, name)
