"""Empty folders for checkpoints, made ahead of those who need them.

On a disk that has just deleted many files, making a folder can take longer than the commit that it follows.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from pathlib import Path

from cairn.files import folders, layout

_READY = ".ready"
_MOST = 16
_LOW = 8
_SELDOM = 4  # promotions after which it is worth it


class Ready:
    """Folders with an empty `outputs/` inside; a thread makes more when few are left."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._asked = 0
        self._at_work = threading.Lock()
        self._names: deque[str] = deque()
        with contextlib.suppress(OSError), os.scandir(Path(root, _READY)) as entries:
            self._names.extend(entry.name for entry in entries if _is_whole(entry))

    def take(self, run: int, name: str) -> bool:
        """Let one become the folder `name`; False if there is none, or something stands there already."""
        self._asked += 1
        if self._asked > _SELDOM and len(self._names) < _LOW:
            self._make_more()
        try:
            ready = self._names.popleft()
        except IndexError:
            return False
        try:
            with folders.Folder(self._root, _READY) as pool:
                os.rename(ready, name, src_dir_fd=pool, dst_dir_fd=run)
        except OSError:
            return False  # what is left of it is taken up by the next start
        return True

    def _make_more(self) -> None:
        if self._at_work.acquire(blocking=False):
            threading.Thread(target=self._make, name="cairn-folders", daemon=True).start()

    def _make(self) -> None:
        """What goes wrong here goes wrong for whoever makes a folder by himself, and is told there."""
        try:
            with contextlib.suppress(OSError), folders.Folder(self._root, _READY, make=True) as pool:
                while len(self._names) < _MOST:
                    name = os.urandom(8).hex()
                    os.mkdir(name, dir_fd=pool)
                    os.mkdir(f"{name}/{layout.OUTPUTS}", dir_fd=pool)
                    self._names.append(name)
        finally:
            self._at_work.release()


def _is_whole(entry: os.DirEntry[str]) -> bool:
    """Nothing but a folder with an empty folder in it, no link anywhere."""
    if not entry.is_dir(follow_symlinks=False):
        return False
    with os.scandir(entry.path) as inside:
        found = [(inner.name, inner.is_dir(follow_symlinks=False)) for inner in inside]
    return found == [(layout.OUTPUTS, True)] and not any(Path(entry.path, layout.OUTPUTS).iterdir())
