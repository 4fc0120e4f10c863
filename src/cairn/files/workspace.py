"""Where an execution works: `.temp/exec_{id}/` with `workspace/` and `artifacts_staging/`."""

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

_INNER = [layout.STAGING, layout.WORKSPACE]


def make(room: PipelineFolder, execution_id: str) -> None:
    """Make the workspace, or what is missing of it: retries keep what lies there."""
    name = f"exec_{execution_id}"
    with room.open(layout.TEMP, make=True) as temp:
        os.close(_open(temp, name))


def stage(room: PipelineFolder, execution_id: str, files: Sequence[FileContent]) -> None:
    """Exactly these files lie in `artifacts_staging/` afterwards."""
    wanted = {layout.checked_id(file.staged_as or file.path.rpartition("/")[2]): file for file in files}
    with room.open(layout.TEMP, make=True) as temp:
        outer = _open(temp, f"exec_{execution_id}")
        try:
            staging = safe_folder.open_inside(outer, layout.STAGING)
        finally:
            os.close(outer)
    try:
        for name in safe_folder.names(staging):
            if name not in wanted:
                safe_folder.remove_tree(staging, name)
        for name, file in wanted.items():
            if not safe_folder.holds(staging, name, file.size, file.checksum):
                _clear(staging, name, stat.S_IFREG)
                safe_folder.write_file(staging, name, file.read(), file.size)
    finally:
        os.close(staging)


def drop(room: PipelineFolder, execution_id: str) -> None:
    """Remove the workspace."""
    name = f"exec_{execution_id}"
    try:
        folder = room.open(layout.TEMP)
    except FileNotFoundError:
        return
    with folder as temp:
        safe_folder.remove_tree(temp, name)


def move_to_errored(room: PipelineFolder, execution_id: str, at: datetime, error_info: bytes, logs: bytes) -> str:
    """Keep a failed execution's workspace, with what is known of the failure."""
    name = f"exec_{execution_id}"
    wanted = layout.errored_folder(execution_id, at).rpartition("/")[2]
    with room.open(layout.ERRORED, make=True) as errored, room.open(layout.TEMP, make=True) as temp:
        goal, is_there = _errored_place(errored, wanted, error_info)
        if is_there:
            return f"{layout.ERRORED}/{goal}"
        work = _open(temp, name)
        try:
            for file, content in ((layout.ERROR_INFO, error_info), (layout.ERROR_LOGS, logs)):
                _clear(work, file, stat.S_IFREG)
                safe_folder.write_file(work, file, content)
            if safe_folder.kind(work, layout.FAILED_ARTIFACTS) is None:
                os.rename(layout.STAGING, layout.FAILED_ARTIFACTS, src_dir_fd=work, dst_dir_fd=work)
            with contextlib.suppress(OSError):
                os.rmdir(layout.STAGING, dir_fd=work)  # a repeated call has made it anew
        finally:
            os.close(work)
        os.rename(name, goal, src_dir_fd=temp, dst_dir_fd=errored)
    return f"{layout.ERRORED}/{goal}"


def _errored_place(errored: int, wanted: str, error_info: bytes) -> tuple[str, bool]:
    """Where a failed workspace goes, and whether it is there already: two failures may fall into one second."""
    checksum = hashlib.sha256(error_info).hexdigest()
    for number in itertools.count():
        goal = layout.numbered(wanted, number)
        if safe_folder.kind(errored, goal) is None:
            return goal, False
        if safe_folder.digest(errored, f"{goal}/{layout.ERROR_INFO}") == checksum:
            return goal, True
    raise AssertionError


def is_whole(temp: int, name: str) -> bool:
    """Whether both folders of a workspace are there; it may go while one looks."""
    try:
        work = safe_folder.open_inside(temp, name)
    except FileNotFoundError:
        return False
    try:
        return all(safe_folder.kind(work, inner) == stat.S_IFDIR for inner in _INNER)
    finally:
        os.close(work)


def _open(temp: int, name: str) -> int:
    """The workspace, whole. What a script has put in the place of its folders goes: nothing else can work there."""
    _clear(temp, name, stat.S_IFDIR)
    work = safe_folder.open_inside(temp, name, make=True)
    try:
        for inner in _INNER:
            _clear(work, inner, stat.S_IFDIR)
            with contextlib.suppress(FileExistsError):
                os.mkdir(inner, dir_fd=work)
    except BaseException:
        os.close(work)
        raise
    return work


def _clear(fd: int, name: str, wanted: int) -> None:
    if safe_folder.kind(fd, name) not in {wanted, None}:
        safe_folder.remove_tree(fd, name)
