"""Folders opened step by step from the root, so that no link is ever followed, and what is done inside them."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from cairn.files import errors, layout

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_BLOCK = 1 << 20
_NO_ANSWER = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})  # says nothing about the file


class SafeFolder:
    """An open folder below the root; `make` makes what is missing on the way. The root itself is trusted."""

    __slots__ = ("_fd",)

    def __init__(self, root: str, first: str, *steps: str, make: bool = False) -> None:
        try:
            fd = _open(f"{root}/{first}", None)
        except FileNotFoundError:
            if not make:
                raise
            Path(root, first).mkdir(parents=True, exist_ok=True)
            fd = _open(f"{root}/{first}", None)
        try:
            for step in steps:
                fd, outer = open_inside(fd, step, make=make), fd
                os.close(outer)
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd

    def __enter__(self) -> int:
        return self._fd

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)


def open_inside(fd: int, name: str, *, make: bool = False) -> int:
    """Open the folder `name`; anything but a folder is an error, a link to one too."""
    try:
        return _open(name, fd)
    except FileNotFoundError:
        if not make:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, dir_fd=fd)
    return _open(name, fd)


def _open(name: str, fd: int | None) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=fd)
    except OSError as error:
        if error.errno == errno.ELOOP:  # how macOS says that it is a link
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), name) from error
        raise


def kind(fd: int, name: str) -> int | None:
    """The type bits of what stands there; None if nothing does."""
    try:
        return stat.S_IFMT(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return None


def link_target(fd: int, name: str) -> str | None:
    """Where a link leads; None if there is no link."""
    try:
        return os.readlink(name, dir_fd=fd)
    except OSError:
        return None


def names(fd: int) -> list[str]:
    """What lies in a folder."""
    return os.listdir(fd)


def unfinished() -> str:
    """A name for something half made."""
    return f"{layout.UNFINISHED}{os.urandom(8).hex()}"


def write_new(fd: int, name: str, content: bytes | Iterator[bytes], size: int | None = None) -> None:
    """Write a file that is not there yet."""
    file = os.open(name, _CREATE, 0o666, dir_fd=fd)
    try:
        written = 0
        for block in (content,) if isinstance(content, bytes) else content:
            left = memoryview(block)
            while left:
                left = left[os.write(file, left) :]
            written += len(block)
    finally:
        os.close(file)
    if size is not None and written != size:
        raise errors.Truncated(0, f"{written} bytes came for {errors.shown(name)}, which has {size}", name)


def write_aside(fd: int, content: bytes | Iterator[bytes], size: int | None = None) -> str:
    """Write a file under an unfinished name, to be renamed into its place."""
    name = unfinished()
    try:
        write_new(fd, name, content, size)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=fd)
        raise
    return name


def write_file(fd: int, name: str, content: bytes | Iterator[bytes], size: int | None = None) -> None:
    """Write a file, or replace it: at any moment the old or the new one stands there."""
    put(fd, write_aside(fd, content, size), fd, name)


def put(source: int, half: str, target: int, name: str) -> None:
    """Give something finished its name."""
    try:
        os.rename(half, name, src_dir_fd=source, dst_dir_fd=target)
    except OSError:
        with contextlib.suppress(OSError):
            remove_tree(source, half)
        raise


def holds(fd: int, name: str, size: int, checksum: str) -> bool:
    """Whether a file with this very content stands there."""
    return _read(fd, name, size) == checksum


def digest(fd: int, name: str) -> str:
    """The checksum of a file; empty if there is none that can be read."""
    return _read(fd, name, None)


def _read(fd: int, name: str, size: int | None) -> str:
    """The checksum of a file, unless its size says already that it is another one."""
    try:
        file = os.open(name, _READ, dir_fd=fd)
    except OSError as error:
        if error.errno in _NO_ANSWER:
            raise
        return ""
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or size not in {None, status.st_size}:
            return ""
        total = hashlib.sha256()
        while block := os.read(file, _BLOCK):
            total.update(block)
        return total.hexdigest()
    except OSError:
        return ""
    finally:
        os.close(file)


def remove_tree(fd: int, name: str) -> None:
    """Remove a file, link or folder. Folders inside are first brought to its top, so that no depth is too deep."""
    try:
        os.unlink(name, dir_fd=fd)
        return
    except FileNotFoundError:
        return
    except (IsADirectoryError, PermissionError):  # macOS forbids it where Linux says that it is a folder
        if kind(fd, name) != stat.S_IFDIR:
            raise
    top = _open_for_removal(fd, name)
    try:
        while inner := _remove_files(top):
            for folder in inner:
                _lift(top, folder)
                os.rmdir(folder, dir_fd=top)
    finally:
        os.close(top)
    os.rmdir(name, dir_fd=fd)


def _lift(top: int, folder: str) -> None:
    fd = _open_for_removal(top, folder)
    try:
        for inner in _remove_files(fd):
            os.close(_open_for_removal(fd, inner))
            os.rename(inner, unfinished(), src_dir_fd=fd, dst_dir_fd=top)
    finally:
        os.close(fd)


def _remove_files(fd: int) -> list[str]:
    """Remove everything but folders, whose names are the answer."""
    inner: list[str] = []
    with os.scandir(fd) as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                inner.append(entry.name)
            else:
                os.unlink(entry.name, dir_fd=fd)
    return inner


def _open_for_removal(fd: int, name: str) -> int:
    """Open a folder that must become writable before anything can leave it."""
    try:
        folder = os.open(name, _FOLDER, dir_fd=fd)
    except PermissionError:
        os.chmod(name, 0o700, dir_fd=fd)
        folder = os.open(name, _FOLDER, dir_fd=fd)
    if os.fstat(folder).st_mode & 0o300 != 0o300:
        os.fchmod(folder, 0o700)
    return folder
