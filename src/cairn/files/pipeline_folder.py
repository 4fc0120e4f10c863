"""One pipeline's folder: write and move files in it without losing any."""

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

    def open(self, *steps: str, create: bool = False) -> safe_folder.SafeFolder:
        return safe_folder.SafeFolder(self.root, self.pipeline_id, *steps, create=create)

    def parent(self, path: str, *, create: bool = False) -> tuple[safe_folder.SafeFolder, str]:
        """The folder that holds `path`, and its name there."""
        *steps, name = layout.split_path(path)
        return self.open(*steps, create=create), name

    def write(self, path: str, content: bytes) -> None:
        """Write a file that belongs to Cairn alone, replacing what is there."""
        folder, name = self.parent(path, create=True)
        with folder as fd:
            safe_folder.write_file(fd, name, content)

    def restore_file(
        self, file: FileContent, path: str | None = None, *, at: datetime | None = None, own: Container[str] = ()
    ) -> str | None:
        """Write a file from the store. Other content is set aside first, unless its checksum is in `own`.

        Return where the other content is now, if any."""
        path = file.path if path is None else path
        folder, name = self.parent(path, create=True)
        with folder as fd:
            if safe_folder.has_content(fd, name, file.size, file.checksum):
                return None
            temporary = safe_folder.write_temporary(fd, file.read(), file.size)
            try:
                aside = None if safe_folder.digest(fd, name) in own else self.set_aside(path, at)
            except OSError:
                safe_folder.remove_tree(fd, temporary)
                raise
            safe_folder.publish(fd, temporary, fd, name)
        return aside

    def set_aside(self, path: str, at: datetime | None = None) -> str | None:
        """Move what is at `path` to `.archived/drift_{datetime}/`; return its new path."""
        return self.rename(path, f"{layout.drift_folder(at or self.now())}/{path}", numbered=True)

    def rename(self, source: str, target: str, *, numbered: bool = False) -> str | None:
        """Move a file or folder; return its new path. None: nothing to move, or the target exists.

        `numbered` adds a number to the name of an existing target instead."""
        try:
            folder, name = self.parent(source)
        except (FileNotFoundError, NotADirectoryError):
            return None
        with folder as outer:
            if safe_folder.file_type(outer, name) is None:
                return None
            target_folder, target_name = self.parent(target, create=True)
            with target_folder as inner:
                free_name = target_name
                number = 0
                while safe_folder.file_type(inner, free_name) is not None:
                    if not numbered:
                        return None
                    number += 1
                    free_name = layout.numbered(target_name, number)
                os.rename(name, free_name, src_dir_fd=outer, dst_dir_fd=inner)
        return target[: len(target) - len(target_name)] + free_name

    def update_latest_link(self, run_folder: str | None) -> None:
        """Link `runs/latest` to this run, or remove the link."""
        *steps, latest = layout.split_path(layout.LATEST)
        target = None if run_folder is None else layout.split_path(run_folder)[-1]
        with self.open(*steps, create=True) as runs:
            if safe_folder.file_type(runs, latest) not in {None, stat.S_IFLNK}:
                self.set_aside(layout.LATEST)
            if target is None:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(latest, dir_fd=runs)
            elif safe_folder.link_target(runs, latest) != target:
                temporary = safe_folder.temporary_name()
                os.symlink(target, temporary, dir_fd=runs)
                safe_folder.publish(runs, temporary, runs, latest)

    def exists(self, path: str) -> bool:
        try:
            folder, name = self.parent(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        with folder as fd:
            return safe_folder.file_type(fd, name) is not None

    def move(self, move: FileMove) -> None:
        """Apply a move once: what already exists at the new path stays."""
        if self.exists(move.archived) or self.rename(move.original, move.archived):
            return
        if move.content is not None:
            self.restore_file(move.content, move.archived)

    def move_back(self, move: FileMove) -> None:
        """Apply a move backwards. What was created at the old path since then is set aside."""
        self.merge(move.archived, move.original)
        if move.content is not None and not self.exists(move.original):
            self.restore_file(move.content, move.original)

    def merge(self, source: str, target: str) -> None:
        """Move `source` over `target`: merge folders, set files in the way aside."""
        if self.rename(source, target) or not self.exists(source):
            return
        if not (self._is_folder(source) and self._is_folder(target)):
            self.set_aside(target)
            self.rename(source, target)
            return
        with self.open(*layout.split_path(source)) as fd:
            inner = safe_folder.list_names(fd)
        for name in inner:
            self.merge(f"{source}/{name}", f"{target}/{name}")
        self.remove_empty_folders(source)

    def remove_empty_folders(self, path: str) -> None:
        """Remove a folder and the empty folders inside it. Folders with files stay."""
        if not self._is_folder(path):
            return
        with self.open(*layout.split_path(path)) as fd:
            inner = safe_folder.list_names(fd)
        for name in inner:
            self.remove_empty_folders(f"{path}/{name}")
        folder, name = self.parent(path)
        with folder as fd, contextlib.suppress(OSError):
            os.rmdir(name, dir_fd=fd)

    def _is_folder(self, path: str) -> bool:
        try:
            folder, name = self.parent(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        with folder as fd:
            return safe_folder.file_type(fd, name) == stat.S_IFDIR
