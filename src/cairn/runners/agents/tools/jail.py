"""Confine an agent to its folders. Each folder of a path is opened in turn, so that no link leads out of them."""

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
from cairn.runners.prompt_layouts import displayable

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
MAX_NAME_BYTES = 255
MAX_PATH_CHARACTERS = 1000
MAX_DEPTH = 30  # nested folders
TEMP_PREFIX = ".cairn-new-"  # of files that are being written
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, folder or link."""

    path: str
    size: int
    is_folder: bool
    is_file: bool  # False for links and special files


class Jail:
    """Access to folders under the names that the agent uses. Its methods block, so call them in a thread."""

    def __init__(self, folders: Mapping[str, Path], default_folders: Mapping[str, str] | None = None) -> None:
        """`default_folders` maps paths without a folder to a folder. Other paths belong to the first folder."""
        self._folders = folders
        self._default_folders = default_folders or {}
        self._first = next(iter(folders))

    def normalize(self, path: str) -> str:
        """The path with its folder and without `./`. Raises ToolError if it is outside the folders."""
        return "/".join(self._parts(path))

    def _parts(self, path: str) -> list[str]:
        quoted = f"{path[:80]!r}"
        if path.startswith(("/", "~")) or "\\" in path:
            raise ToolError(f"{quoted} is not a valid path. Use a relative path that starts with {self._names}.")
        parts = [part for part in path.split("/") if part not in ("", ".")]
        if ".." in parts:
            raise ToolError(f"{quoted} is outside your folders. Use a path in {self._names}.")
        if len(path) > MAX_PATH_CHARACTERS or len(parts) > MAX_DEPTH or any(map(_is_invalid, parts)):
            raise ToolError(f"{quoted} is not a valid file name.")
        if not parts or parts[0] not in self._folders:
            joined = "/".join(parts)
            parts = [self._default_folders.get(joined, self._first), *parts]
        return parts

    @property
    def _names(self) -> str:
        return " or ".join(f"{name}/" for name in self._folders)

    # Files
    def read(self, path: str, max_bytes: int) -> bytes:
        with self._parent(path) as (folder, name), self._open_file(folder, name, path) as file:
            size = os.fstat(file).st_size
            if size > max_bytes:
                raise ToolError(
                    f"{self.normalize(path)} is too large: {megabytes(size)}. The limit is {megabytes(max_bytes)}."
                )
            return _read_all(file, max_bytes)

    def write(self, path: str, content: bytes, max_bytes: int) -> bool:
        """Create or replace a file. Returns whether it existed."""
        if len(content) > max_bytes:
            raise ToolError(
                f"The content is too large: {megabytes(len(content))}. The limit is {megabytes(max_bytes)}."
            )
        with self._parent(path, create=True) as (folder, name):
            existing = _kind(folder, name)
            if existing not in (None, stat.S_IFREG):
                raise ToolError(f"{self.normalize(path)} can't be written: it is a folder, a link or a special file.")
            temp = f"{TEMP_PREFIX}{os.urandom(8).hex()}"
            try:
                file = os.open(temp, _CREATE, 0o644, dir_fd=folder)
                try:
                    self._chown(file, path)
                    left = memoryview(content)
                    while left:
                        left = left[os.write(file, left) :]
                finally:
                    os.close(file)
                os.rename(temp, name, src_dir_fd=folder, dst_dir_fd=folder)
            except OSError:
                with contextlib.suppress(OSError):
                    os.unlink(temp, dir_fd=folder)
                raise
        return existing is not None

    def remove(self, path: str) -> None:
        """Delete a file or a link, but not the target of a link."""
        with self._parent(path) as (folder, name):
            if _kind(folder, name) == stat.S_IFDIR:
                raise ToolError(f"{self.normalize(path)} is a folder. Only files can be deleted.")
            os.unlink(name, dir_fd=folder)

    # Folders
    def entries(self, path: str) -> Iterator[Entry]:
        """Everything in a folder and its subfolders, parents first. Links are not followed."""
        top = self.normalize(path)
        with self._open_folder(top) as start:
            for parent, _, name, status in walk(start, top, MAX_DEPTH - top.count("/")):
                if not name.startswith(TEMP_PREFIX):
                    is_folder, is_file = stat.S_ISDIR(status.st_mode), stat.S_ISREG(status.st_mode)
                    yield Entry(f"{parent}/{name}", status.st_size, is_folder, is_file)

    def rename(self, folder: str, name: str, new_name: str) -> None:
        """Rename a file directly in one of the folders."""
        with self._open_folder(folder) as fd:
            os.rename(name, new_name, src_dir_fd=fd, dst_dir_fd=fd)

    # Opening
    @contextmanager
    def _open_folder(self, path: str, *, create: bool = False) -> Generator[int]:
        top, *names = self._parts(path)
        if create:
            self._folders[top].mkdir(exist_ok=True)
        fd = self._open(lambda: os.open(self._folders[top], _FOLDER), path)
        try:
            for name in names:
                fd, outer = self._open_subfolder(fd, name, path, create=create), fd
                os.close(outer)
            yield fd
        finally:
            os.close(fd)

    @contextmanager
    def _parent(self, path: str, *, create: bool = False) -> Generator[tuple[int, str]]:
        """The open folder of a file, and the name of the file."""
        *folders, name = self._parts(path)
        if not folders:
            raise ToolError(f"{name} is a folder.")
        with self._open_folder("/".join(folders), create=create) as fd:
            try:
                yield fd, name
            except FileNotFoundError:
                raise ToolError(f"{self.normalize(path)} does not exist.") from None

    @contextmanager
    def _open_file(self, folder: int, name: str, path: str) -> Generator[int]:
        try:
            file = os.open(name, _READ, dir_fd=folder)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO, errno.EACCES):
                raise ToolError(f"{self.normalize(path)} can't be read: it is a link or a special file.") from None
            raise
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise ToolError(f"{self.normalize(path)} is a folder or a special file.")
            yield file
        finally:
            os.close(file)

    def _open_subfolder(self, fd: int, name: str, path: str, *, create: bool) -> int:
        if create and _kind(fd, name) is None:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, dir_fd=fd)
            created = self._open(lambda: os.open(name, _FOLDER, dir_fd=fd), path)
            self._chown(created, path)
            return created
        return self._open(lambda: os.open(name, _FOLDER, dir_fd=fd), path)

    def _open(self, open_it: Callable[[], T], path: str) -> T:
        try:
            return open_it()
        except FileNotFoundError:
            raise ToolError(f"{self.normalize(path)} does not exist.") from None
        except OSError as error:
            if error.errno in (errno.ENOTDIR, errno.ELOOP, errno.EACCES):
                raise ToolError(
                    f"{self.normalize(path)} can't be opened: its path contains a link or a file."
                ) from None
            raise

    def _chown(self, fd: int, path: str) -> None:
        """Change the owner of a new file or folder to that of its top folder, as programs run as another user."""
        owner = self._folders[self._parts(path)[0]].lstat()
        if os.geteuid() == 0 and owner.st_uid != 0:
            os.fchown(fd, owner.st_uid, owner.st_gid)


def walk(fd: int, path: str, depth: int) -> Iterator[tuple[str, int, str, os.stat_result]]:
    """Everything below an open folder, parents first: parent path, open parent, name and status.

    Links are not followed. Folders that are nested deeper or can't be opened are left out.
    """
    folders: list[str] = []
    for name in sorted(os.listdir(fd)):
        if (status := _status(fd, name)) is not None:
            yield path, fd, name, status
            if stat.S_ISDIR(status.st_mode):
                folders.append(name)
    for name in folders if depth > 1 else ():
        try:
            folder = os.open(name, _FOLDER, dir_fd=fd)
        except OSError:
            continue
        try:
            yield from walk(folder, f"{path}/{name}", depth - 1)
        finally:
            os.close(folder)


def _is_invalid(name: str) -> bool:
    return (
        len(name.encode(errors="replace")) > MAX_NAME_BYTES or name.startswith(TEMP_PREFIX) or displayable(name) != name
    )


def _kind(fd: int, name: str) -> int | None:
    status = _status(fd, name)
    return None if status is None else stat.S_IFMT(status.st_mode)


def _status(fd: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=fd, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _read_all(file: int, max_bytes: int) -> bytes:
    chunks: list[bytes] = []
    left = max_bytes
    while left > 0 and (chunk := os.read(file, min(left, 1 << 20))):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)
