"""Empty folders for runs and checkpoints, made ahead of those who need them.

On a disk that has just deleted many files, making a folder or a file can take longer than the commit that it follows.
"""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from collections import deque
from itertools import count
from pathlib import Path

from cairn.files import folders, layout

BLANK = f"{layout.UNFINISHED}file"  # an empty file that becomes the first artifact

_READY = ".ready"
MOST = 96  # many at a time: whoever is at work waits for the thread that makes them
RUNS = 24  # folders of runs: each has several of checkpoints
_LOW = 12
_SELDOM = 4  # promotions after which it is worth it


class Ready:
    """Folders with an empty `outputs/` and a blank file inside; a thread makes more when few are left."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._asked = 0
        self._at_work = threading.Lock()
        self._is_closed = False
        self._names: deque[str] = deque()
        self._bare: deque[str] = deque()
        with contextlib.suppress(OSError), os.scandir(Path(root, _READY)) as entries:
            for entry in entries:
                if _is_whole(entry):
                    self._names.append(entry.name)
                elif _is_bare(entry):
                    self._bare.append(entry.name)

    def take(self, run: int, name: str) -> bool:
        """Let one become the folder `name`; False if there is none, or something stands there already."""
        self._asked += 1
        if self._asked > _SELDOM and len(self._names) < _LOW:
            self._make_more()
        return self._take(self._names, run, name)

    def take_bare(self, folder: int, name: str) -> bool:
        """The same with nothing inside."""
        return self._take(self._bare, folder, name)

    def close(self) -> None:
        """Make no more; what lies there serves the next process."""
        self._is_closed = True
        with self._at_work:
            pass  # the thread has ended

    def _take(self, names: deque[str], folder: int, name: str) -> bool:
        try:
            ready = names.popleft()
        except IndexError:
            return False
        try:
            with folders.Folder(self._root, _READY) as pool:
                os.rename(ready, name, src_dir_fd=pool, dst_dir_fd=folder)
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
                batch = os.urandom(8).hex()
                for number in count():
                    if self._is_closed or (len(self._names) >= MOST and len(self._bare) >= RUNS):
                        break
                    name = f"{batch}-{number}"
                    os.mkdir(name, dir_fd=pool)
                    if len(self._bare) < RUNS:
                        self._bare.append(name)
                        continue
                    os.mkdir(f"{name}/{layout.OUTPUTS}", dir_fd=pool)
                    folders.write_new(pool, f"{name}/{BLANK}", b"")
                    self._names.append(name)
        finally:
            self._at_work.release()


def _is_whole(entry: os.DirEntry[str]) -> bool:
    """Nothing but a folder with an empty folder and perhaps a blank file in it, no link anywhere."""
    if not entry.is_dir(follow_symlinks=False):
        return False
    with os.scandir(entry.path) as inside:
        found = {inner.name: inner.stat(follow_symlinks=False) for inner in inside}
    blank, outputs = found.pop(BLANK, None), found.pop(layout.OUTPUTS, None)
    if found or outputs is None or not stat.S_ISDIR(outputs.st_mode) or any(Path(entry.path, layout.OUTPUTS).iterdir()):
        return False
    return blank is None or (stat.S_ISREG(blank.st_mode) and blank.st_nlink == 1 and blank.st_size == 0)


def _is_bare(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) and not any(Path(entry.path).iterdir())
