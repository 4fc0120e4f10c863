"""The folders that an agent may touch, opened step by step so that no path, link or odd file leads out of them."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from cairn.runners.agents.toolbox import ToolError
from cairn.runners.limits import megabytes
from cairn.runners.prompt_layouts import shown

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
LONGEST_NAME = 255  # bytes
LONGEST_PATH = 1000  # characters
DEEPEST = 30  # folders inside one another
UNFINISHED = ".cairn-new-"  # begins the name of what is half written
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that lies in a room."""

    path: str
    size: int
    is_folder: bool
    is_file: bool  # a plain one; else a link or something odder


class Jail:
    """Rooms by the names that an agent knows them by. Everything here blocks: call it beside the event loop."""

    def __init__(self, rooms: Mapping[str, Path], shelf: Mapping[str, str] | None = None) -> None:
        """`shelf`: where a file of this very name goes that is named without a room."""
        self._rooms = rooms
        self._shelf = shelf or {}
        self._first = next(iter(rooms))

    def plain(self, path: str) -> str:
        """The path as it is told: below a room, without `./`. Refusal if it leads elsewhere."""
        return "/".join(self._parts(path))

    def _parts(self, path: str) -> list[str]:
        told = f"{path[:80]!r}"
        if path.startswith(("/", "~")) or "\\" in path:
            raise ToolError(f"{told} is not a path here. Paths are relative, and begin with {self._names}.")
        parts = [part for part in path.split("/") if part not in ("", ".")]
        if ".." in parts:
            raise ToolError(f"{told} leads out of the folders that you may use: {self._names}.")
        if len(path) > LONGEST_PATH or len(parts) > DEEPEST or any(map(_is_odd, parts)):
            raise ToolError(f"{told} cannot be the name of a file.")
        if not parts or parts[0] not in self._rooms:
            joined = "/".join(parts)
            parts = [self._shelf.get(joined, self._first), *parts]
        return parts

    @property
    def _names(self) -> str:
        return " or ".join(f"{name}/" for name in self._rooms)

    # ---- one file --------------------------------------------------------------------------------------------
    def read(self, path: str, most: int) -> bytes:
        """The content of a plain file."""
        with self._holder(path) as (folder, name), self._opened(folder, name, path) as file:
            size = os.fstat(file).st_size
            if size > most:
                raise ToolError(f"{self.plain(path)} has {megabytes(size)}; at most {megabytes(most)} can be read.")
            return _whole(file, most)

    def write(self, path: str, content: bytes, most: int) -> bool:
        """Write a file, or replace it whole; whether there was one before."""
        if len(content) > most:
            raise ToolError(f"That has {megabytes(len(content))}; a file has at most {megabytes(most)}.")
        with self._holder(path, make=True) as (folder, name):
            before = _kind(folder, name)
            if before not in (None, stat.S_IFREG):
                raise ToolError(f"{self.plain(path)} is no file that can be written: something else stands there.")
            half = f"{UNFINISHED}{os.urandom(8).hex()}"
            try:
                file = os.open(half, _CREATE, 0o644, dir_fd=folder)
                try:
                    self._own(file, path)
                    left = memoryview(content)
                    while left:
                        left = left[os.write(file, left) :]
                finally:
                    os.close(file)
                os.rename(half, name, src_dir_fd=folder, dst_dir_fd=folder)
            except OSError:
                with contextlib.suppress(OSError):
                    os.unlink(half, dir_fd=folder)
                raise
        return before is not None

    def remove(self, path: str) -> None:
        """A file or a link, never what it leads to."""
        with self._holder(path) as (folder, name):
            if _kind(folder, name) == stat.S_IFDIR:
                raise ToolError(f"{self.plain(path)} is a folder; only files can be deleted.")
            os.unlink(name, dir_fd=folder)

    # ---- folders ---------------------------------------------------------------------------------------------
    def entries(self, path: str) -> Iterator[Entry]:
        """Everything below a folder, the outer before the inner; links are not followed."""
        top = self.plain(path)
        with self._folder(top) as start:
            for place, _, name, found in walk(start, top, DEEPEST - top.count("/")):
                if not name.startswith(UNFINISHED):
                    is_folder, is_file = stat.S_ISDIR(found.st_mode), stat.S_ISREG(found.st_mode)
                    yield Entry(f"{place}/{name}", found.st_size, is_folder, is_file)

    def rename(self, room: str, before: str, after: str) -> None:
        """Inside of one room, at its top."""
        with self._folder(room) as fd:
            os.rename(before, after, src_dir_fd=fd, dst_dir_fd=fd)

    # ---- ways in ---------------------------------------------------------------------------------------------
    @contextmanager
    def _folder(self, path: str, *, make: bool = False) -> Generator[int]:
        room, *steps = self._parts(path)
        if make:
            self._rooms[room].mkdir(exist_ok=True)
        fd = self._step(lambda: os.open(self._rooms[room], _FOLDER), path)
        try:
            for step in steps:
                fd, outer = self._inside(fd, step, path, make=make), fd
                os.close(outer)
            yield fd
        finally:
            os.close(fd)

    @contextmanager
    def _holder(self, path: str, *, make: bool = False) -> Generator[tuple[int, str]]:
        *steps, name = self._parts(path)
        if not steps:
            raise ToolError(f"{name} is a folder.")
        with self._folder("/".join(steps), make=make) as fd:
            try:
                yield fd, name
            except FileNotFoundError:
                raise ToolError(f"There is no {self.plain(path)}.") from None

    @contextmanager
    def _opened(self, folder: int, name: str, path: str) -> Generator[int]:
        try:
            file = os.open(name, _READ, dir_fd=folder)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO, errno.EACCES):
                raise ToolError(f"{self.plain(path)} cannot be read: it is a link or no plain file.") from None
            raise
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise ToolError(f"{self.plain(path)} is a folder or no plain file.")
            yield file
        finally:
            os.close(file)

    def _inside(self, fd: int, step: str, path: str, *, make: bool) -> int:
        if make and _kind(fd, step) is None:
            with contextlib.suppress(FileExistsError):
                os.mkdir(step, dir_fd=fd)
            inner = self._step(lambda: os.open(step, _FOLDER, dir_fd=fd), path)
            self._own(inner, path)
            return inner
        return self._step(lambda: os.open(step, _FOLDER, dir_fd=fd), path)

    def _step(self, way: Callable[[], T], path: str) -> T:
        try:
            return way()
        except FileNotFoundError:
            raise ToolError(f"There is no {self.plain(path)}.") from None
        except OSError as error:
            if error.errno in (errno.ENOTDIR, errno.ELOOP, errno.EACCES):
                raise ToolError(f"{self.plain(path)} cannot be opened: a link or a file is in the way.") from None
            raise

    def _own(self, fd: int, path: str) -> None:
        """What is made belongs to whom the room belongs: code that runs in there is another user."""
        owner = self._rooms[self._parts(path)[0]].lstat()
        if os.geteuid() == 0 and owner.st_uid != 0:
            os.fchown(fd, owner.st_uid, owner.st_gid)


def walk(fd: int, place: str, levels: int) -> Iterator[tuple[str, int, str, os.stat_result]]:
    """Everything below an open folder, the outer before the inner: where, its open folder, its name, what it is.

    Links are not followed. What lies deeper than so many levels is left out, and so is what cannot be opened.
    """
    inner: list[str] = []
    for name in sorted(os.listdir(fd)):
        if (found := _stat(fd, name)) is not None:
            yield place, fd, name, found
            if stat.S_ISDIR(found.st_mode):
                inner.append(name)
    for name in inner if levels > 1 else ():
        try:
            folder = os.open(name, _FOLDER, dir_fd=fd)
        except OSError:
            continue
        try:
            yield from walk(folder, f"{place}/{name}", levels - 1)
        finally:
            os.close(folder)


def _is_odd(name: str) -> bool:
    return len(name.encode(errors="replace")) > LONGEST_NAME or name.startswith(UNFINISHED) or shown(name) != name


def _kind(fd: int, name: str) -> int | None:
    found = _stat(fd, name)
    return None if found is None else stat.S_IFMT(found.st_mode)


def _stat(fd: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=fd, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _whole(file: int, most: int) -> bytes:
    pieces: list[bytes] = []
    left = most
    while left > 0 and (piece := os.read(file, min(left, 1 << 20))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)
