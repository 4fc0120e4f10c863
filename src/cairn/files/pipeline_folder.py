"""One pipeline's folder, and moving things inside it without losing any."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Container
from datetime import datetime
from typing import NamedTuple

from cairn.files import layout, safe_folder
from cairn.files.content import FileContent, FileMove


class PipelineFolder(NamedTuple):
    root: str
    pipeline_id: str
    now: Callable[[], datetime]

    def open(self, *steps: str, make: bool = False) -> safe_folder.SafeFolder:
        return safe_folder.SafeFolder(self.root, self.pipeline_id, *steps, make=make)

    def parent(self, path: str, *, make: bool = False) -> tuple[safe_folder.SafeFolder, str]:
        """The folder that holds `path`, and its name there."""
        *steps, name = layout.parts(path)
        return self.open(*steps, make=make), name

    def write(self, path: str, content: bytes) -> None:
        """Write a file that Cairn alone keeps."""
        folder, name = self.parent(path, make=True)
        with folder as fd:
            safe_folder.write_file(fd, name, content)

    def restore(
        self, file: FileContent, path: str | None = None, *, at: datetime | None = None, own: Container[str] = ()
    ) -> str | None:
        """Write a file from the store; something else that stands there is kept aside, unless its content is own."""
        path = file.path if path is None else path
        folder, name = self.parent(path, make=True)
        with folder as fd:
            if safe_folder.holds(fd, name, file.size, file.checksum):
                return None
            half = safe_folder.write_aside(fd, file.read(), file.size)
            try:
                kept = None if safe_folder.digest(fd, name) in own else self.set_aside(path, at)
            except OSError:
                safe_folder.remove_tree(fd, half)
                raise
            safe_folder.put(fd, half, fd, name)
        return kept

    def set_aside(self, path: str, at: datetime | None = None) -> str | None:
        """Move what stands at `path` to `.archived/drift_{datetime}/`; the answer is its place there."""
        return self.rename(path, f"{layout.drift_folder(at or self.now())}/{path}", numbered=True)

    def rename(self, source: str, target: str, *, numbered: bool = False) -> str | None:
        """Move a file or folder to a free place; None if there is nothing to move, or no free place."""
        try:
            folder, name = self.parent(source)
        except (FileNotFoundError, NotADirectoryError):
            return None
        with folder as outer:
            if safe_folder.kind(outer, name) is None:
                return None
            goal, wanted = self.parent(target, make=True)
            with goal as inner:
                place = wanted
                number = 0
                while safe_folder.kind(inner, place) is not None:
                    if not numbered:
                        return None
                    number += 1
                    place = layout.numbered(wanted, number)
                os.rename(name, place, src_dir_fd=outer, dst_dir_fd=inner)
        return target[: len(target) - len(wanted)] + place

    def update_latest_link(self, run_folder: str | None) -> None:
        """Let `runs/latest` lead to this run, or to none."""
        *steps, latest = layout.parts(layout.LATEST)
        target = None if run_folder is None else layout.parts(run_folder)[-1]
        with self.open(*steps, make=True) as runs:
            if safe_folder.kind(runs, latest) not in {None, stat.S_IFLNK}:
                self.set_aside(layout.LATEST)
            if target is None:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(latest, dir_fd=runs)
            elif safe_folder.link_target(runs, latest) != target:
                half = safe_folder.unfinished()
                os.symlink(target, half, dir_fd=runs)
                safe_folder.put(runs, half, runs, latest)

    def exists(self, path: str) -> bool:
        try:
            folder, name = self.parent(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        with folder as fd:
            return safe_folder.kind(fd, name) is not None

    def take(self, move: FileMove) -> None:
        """Carry a move out, once: what stands at the new place already stays there."""
        if self.exists(move.archived) or self.rename(move.original, move.archived):
            return
        if move.content is not None:
            self.restore(move.content, move.archived)

    def bring_back(self, move: FileMove) -> None:
        """Carry a move out backwards; what has come to stand at the old place since is kept aside."""
        self.merge(move.archived, move.original)
        if move.content is not None and not self.exists(move.original):
            self.restore(move.content, move.original)

    def merge(self, source: str, target: str) -> None:
        """Move `source` over `target`: folders grow together, files in the way are kept aside."""
        if self.rename(source, target) or not self.exists(source):
            return
        if not (self._is_folder(source) and self._is_folder(target)):
            self.set_aside(target)
            self.rename(source, target)
            return
        with self.open(*layout.parts(source)) as fd:
            inner = safe_folder.names(fd)
        for name in inner:
            self.merge(f"{source}/{name}", f"{target}/{name}")
        self.remove_empty(source)

    def remove_empty(self, path: str) -> None:
        """Remove a folder and the empty ones inside it; whatever holds a file stays."""
        if not self._is_folder(path):
            return
        with self.open(*layout.parts(path)) as fd:
            inner = safe_folder.names(fd)
        for name in inner:
            self.remove_empty(f"{path}/{name}")
        folder, name = self.parent(path)
        with folder as fd, contextlib.suppress(OSError):
            os.rmdir(name, dir_fd=fd)

    def _is_folder(self, path: str) -> bool:
        try:
            folder, name = self.parent(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        with folder as fd:
            return safe_folder.kind(fd, name) == stat.S_IFDIR
