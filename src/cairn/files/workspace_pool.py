"""A pool of empty workspaces. Renaming one takes a tenth of the time of creating and deleting one."""

from __future__ import annotations

import contextlib
import os
from collections import deque
from pathlib import Path

from cairn.files import safe_folder

_POOL = ".spare"
_MAX_SPARE = 64


class WorkspacePool:
    """Spare workspaces in `pipelines/.spare/`, each with its two empty folders. They outlive the process."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._names: deque[str] = deque()
        with contextlib.suppress(OSError), os.scandir(Path(root, _POOL)) as entries:
            self._names.extend(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))

    def take(self, temp: int, name: str) -> bool:
        """Rename a spare workspace to `name`. Returns False if there is none or `name` exists already."""
        while True:
            try:
                spare = self._names.pop()
            except IndexError:
                return False
            try:
                with safe_folder.SafeFolder(self._root, _POOL) as pool:
                    os.rename(spare, name, src_dir_fd=pool, dst_dir_fd=temp)
                return True
            except FileNotFoundError:
                continue
            except OSError:
                self._names.append(spare)
                return False

    def put(self, temp: int, name: str, inner: list[str]) -> bool:
        """Move the workspace `name` to the pool if it contains only its empty folders and there is room."""
        if len(self._names) >= _MAX_SPARE or not _is_empty(temp, name, inner):
            return False
        spare = os.urandom(8).hex()
        try:
            with safe_folder.SafeFolder(self._root, _POOL, create=True) as pool:
                os.rename(name, spare, src_dir_fd=temp, dst_dir_fd=pool)
        except OSError:
            return False
        self._names.append(spare)
        return True


def _is_empty(temp: int, name: str, inner: list[str]) -> bool:
    try:
        work = safe_folder.open_inside(temp, name)
    except OSError:
        return False
    try:
        return sorted(safe_folder.list_names(work)) == inner and not any(_list_inner(work, folder) for folder in inner)
    except OSError:
        return False
    finally:
        os.close(work)


def _list_inner(work: int, folder: str) -> list[str]:
    fd = safe_folder.open_inside(work, folder)
    try:
        return safe_folder.list_names(fd)
    finally:
        os.close(fd)
