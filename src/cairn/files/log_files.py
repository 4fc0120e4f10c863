"""Append to log files and rotate them."""

from __future__ import annotations

import contextlib
import os

from cairn.files import layout, safe_folder
from cairn.files.pipeline_folder import PipelineFolder


def append(pipeline: PipelineFolder, name: str, data: bytes, *, max_bytes: int, backups: int) -> bool:
    """Return False if the pipeline has no folder: a log alone doesn't create one."""
    try:
        logs = _open(pipeline)
    except FileNotFoundError:
        return False
    try:
        size = _size(logs, name)
        if size and size + len(data) > max_bytes:
            _rotate(logs, name, backups)
        fd = os.open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644, dir_fd=logs)
        with os.fdopen(fd, "wb") as file:
            file.write(data)
    finally:
        os.close(logs)
    return True


def _open(pipeline: PipelineFolder) -> int:
    """Open the log folder without following links."""
    with pipeline.open() as top:
        outer = os.dup(top)
    for step in layout.split_path(layout.LOGS):
        try:
            inner = safe_folder.open_inside(outer, step, create=True)
        finally:
            os.close(outer)
        outer = inner
    return outer


def tail(pipeline: PipelineFolder, name: str, size: int) -> bytes:
    """The last `size` bytes, or the whole file."""
    try:
        folder = pipeline.open(*layout.split_path(layout.LOGS))
    except FileNotFoundError:
        return b""
    with folder as logs:
        try:
            fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=logs)
        except FileNotFoundError:
            return b""
        with os.fdopen(fd, "rb") as file:
            file.seek(max(0, os.fstat(fd).st_size - size))
            return file.read()


def _rotate(logs: int, name: str, backups: int) -> None:
    """`system.log` becomes `system.log.1`, that `.2`, and so on; the last one is deleted."""
    numbered = [name, *(f"{name}.{number}" for number in range(1, backups + 1))]
    with contextlib.suppress(FileNotFoundError):
        os.unlink(numbered[-1], dir_fd=logs)
    for older, newer in zip(numbered[:0:-1], numbered[-2::-1], strict=True):
        with contextlib.suppress(FileNotFoundError):
            os.rename(newer, older, src_dir_fd=logs, dst_dir_fd=logs)


def _size(logs: int, name: str) -> int:
    try:
        return os.stat(name, dir_fd=logs, follow_symlinks=False).st_size
    except FileNotFoundError:
        return 0
