"""Why something could not be put on disk, in words that help. The database has it all the same."""

from __future__ import annotations

import errno
import os
from pathlib import Path


class UnsafePath(ValueError):
    """A path or id that would lead out of its room."""


class FilesError(OSError):
    """A file operation failed; repeated later it picks up where it stopped."""

    def __init__(self, number: int, message: str, path: str) -> None:
        super().__init__(number, message, path)
        self.message = message
        self.path = path

    def __str__(self) -> str:
        return self.message


class Obstructed(FilesError):
    """A link or a file stands where a folder of Cairn's belongs, or the other way round."""


class NotWritable(FilesError):
    """The operating system forbids it."""


class DiskFull(FilesError):
    """There is no room for the file."""


class OtherDisk(FilesError):
    """The parts of one pipeline's folder lie on different file systems."""


class Truncated(FilesError):
    """The content that came is not as long as the store says."""


_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}
_IN_THE_WAY = {errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENOTEMPTY, errno.EEXIST}


def explain(error: OSError, path: Path) -> FilesError:
    """The same fault with its place and what to do about it."""
    if isinstance(error, FilesError):
        return error
    number = error.errno or errno.EIO
    name = error.filename2 or error.filename
    place = shown(f"{path} ({name})" if isinstance(name, str) else str(path))
    if number in _FULL:
        return DiskFull(number, f"no room to write in {place}: free some space, then run `cairn doctor`", place)
    if number in _FORBIDDEN:
        return NotWritable(number, f"no permission for {place}: let the user that runs Cairn read and write it", place)
    if number in _IN_THE_WAY:
        return Obstructed(number, f"something else stands in the way in {place}: move it, or run `cairn doctor`", place)
    if number == errno.EXDEV:
        return OtherDisk(number, f"{place} is spread over several file systems: bring it together on one", place)
    return FilesError(number, f"{os.strerror(number)}: {place}", place)


def shown(path: str) -> str:
    """A path that can be printed and stored, whatever bytes it has on disk."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
