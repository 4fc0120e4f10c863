"""Open folders step by step from the root, so that no link is ever followed, and work inside them."""

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
# Errors that say nothing about the file.
_OUT_OF_RESOURCES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})


class SafeFolder:
    """An open folder below the root. `create` creates missing folders. The root itself is trusted."""

    __slots__ = ("_fd",)

    def __init__(self, root: str, first: str, *steps: str, create: bool = False) -> None:
        try:
            fd = _open(f"{root}/{first}", None)
        except FileNotFoundError:
            if not create:
                raise
            Path(root, first).mkdir(parents=True, exist_ok=True)
            fd = _open(f"{root}/{first}", None)
        try:
            for step in steps:
                fd, outer = open_inside(fd, step, create=create), fd
                os.close(outer)
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd

    def __enter__(self) -> int:
        return self._fd

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)


def open_inside(fd: int, name: str, *, create: bool = False) -> int:
    """Open the folder `name`. Anything else is an error, even a link to a folder."""
    try:
        return _open(name, fd)
    except FileNotFoundError:
        if not create:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, dir_fd=fd)
    return _open(name, fd)


def _open(name: str, fd: int | None) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=fd)
    except OSError as error:
        if error.errno == errno.ELOOP:  # macOS reports a link this way
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), name) from error
        raise


def file_type(fd: int, name: str) -> int | None:
    """The type bits of a file; None if it doesn't exist."""
    try:
        return stat.S_IFMT(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return None


def link_target(fd: int, name: str) -> str | None:
    """The target of a link; None if there is no link."""
    try:
        return os.readlink(name, dir_fd=fd)
    except OSError:
        return None


def list_names(fd: int) -> list[str]:
    """The names in a folder."""
    return os.listdir(fd)


def temporary_name() -> str:
    """A new name for a temporary file or folder."""
    return f"{layout.TEMPORARY_PREFIX}{os.urandom(8).hex()}"


def write_new(fd: int, name: str, content: bytes | Iterator[bytes], size: int | None = None) -> None:
    """Write a file that doesn't exist yet."""
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
        raise errors.Truncated(0, f"Expected {size} bytes for {errors.printable(name)}, got {written}.", name)


def write_temporary(fd: int, content: bytes | Iterator[bytes], size: int | None = None) -> str:
    """Write a file under a temporary name, to be renamed later."""
    name = temporary_name()
    try:
        write_new(fd, name, content, size)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=fd)
        raise
    return name


def write_file(fd: int, name: str, content: bytes | Iterator[bytes], size: int | None = None) -> None:
    """Write or replace a file atomically."""
    publish(fd, write_temporary(fd, content, size), fd, name)


def publish(source: int, temporary: str, target: int, name: str) -> None:
    """Rename a temporary file or folder to its final name."""
    try:
        os.rename(temporary, name, src_dir_fd=source, dst_dir_fd=target)
    except OSError:
        with contextlib.suppress(OSError):
            remove_tree(source, temporary)
        raise


def has_content(fd: int, name: str, size: int, checksum: str) -> bool:
    """Whether a file with exactly this content exists."""
    return _read(fd, name, size) == checksum


def digest(fd: int, name: str) -> str:
    """The checksum of a file; empty if it can't be read."""
    return _read(fd, name, None)


def _read(fd: int, name: str, size: int | None) -> str:
    """The checksum of a file; empty if its size already differs from `size`."""
    try:
        file = os.open(name, _READ, dir_fd=fd)
    except OSError as error:
        if error.errno in _OUT_OF_RESOURCES:
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
    """Remove a file, link or folder. Inner folders first move to its top level, so that no tree is too deep."""
    try:
        os.unlink(name, dir_fd=fd)
        return
    except FileNotFoundError:
        return
    except (IsADirectoryError, PermissionError):  # macOS reports EPERM for a folder, Linux EISDIR
        if file_type(fd, name) != stat.S_IFDIR:
            raise
    top = _open_for_removal(fd, name)
    try:
        while inner := _remove_files(top):
            for folder in inner:
                _move_inner_folders_up(top, folder)
                os.rmdir(folder, dir_fd=top)
    finally:
        os.close(top)
    os.rmdir(name, dir_fd=fd)


def _move_inner_folders_up(top: int, folder: str) -> None:
    fd = _open_for_removal(top, folder)
    try:
        for inner in _remove_files(fd):
            os.close(_open_for_removal(fd, inner))
            os.rename(inner, temporary_name(), src_dir_fd=fd, dst_dir_fd=top)
    finally:
        os.close(fd)


def _remove_files(fd: int) -> list[str]:
    """Remove everything except folders, and return the names of the folders."""
    inner: list[str] = []
    with os.scandir(fd) as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                inner.append(entry.name)
            else:
                os.unlink(entry.name, dir_fd=fd)
    return inner


def _open_for_removal(fd: int, name: str) -> int:
    """Open a folder and make it writable, so that its content can be removed."""
    try:
        folder = os.open(name, _FOLDER, dir_fd=fd)
    except PermissionError:
        os.chmod(name, 0o700, dir_fd=fd)
        folder = os.open(name, _FOLDER, dir_fd=fd)
    if os.fstat(folder).st_mode & 0o300 != 0o300:
        os.fchmod(folder, 0o700)
    return folder
