"""Why a file operation failed, and what to do. The database has the content all the same."""

from __future__ import annotations

import errno
import os
from pathlib import Path


class UnsafePath(ValueError):
    """A path or id that leaves its folder."""


class FilesError(OSError):
    """A file operation failed. Repeating it continues where it stopped."""

    def __init__(self, number: int, message: str, path: str) -> None:
        super().__init__(number, message, path)
        self.message = message
        self.path = path

    def __str__(self) -> str:
        return self.message


class Obstructed(FilesError):
    """A link or file is where Cairn needs a folder, or a folder where it needs a file."""


class NotWritable(FilesError):
    """The operating system denies access."""


class DiskFull(FilesError):
    """No space is left for the file."""


class OtherDisk(FilesError):
    """A pipeline's folder is spread over several file systems."""


class Truncated(FilesError):
    """The content is shorter or longer than the store says."""


_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_PERMISSION = {errno.EACCES, errno.EPERM, errno.EROFS}
_OBSTRUCTED = {errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENOTEMPTY, errno.EEXIST}


def explain(error: OSError, path: Path) -> FilesError:
    """The same error with the path and a hint."""
    if isinstance(error, FilesError):
        return error
    number = error.errno or errno.EIO
    name = error.filename2 or error.filename
    location = printable(f"{path} ({name})" if isinstance(name, str) else str(path))
    error_type, message = FilesError, f"{os.strerror(number)}: {location}"
    if number in _NO_SPACE:
        error_type = DiskFull
        message = f"No space left on the disk of {location}. Free some space, then run `cairn doctor --repair`."
    elif number in _NO_PERMISSION:
        error_type = NotWritable
        message = f"No permission for {location}. Allow the user that runs Cairn to read and write it."
    elif number in _OBSTRUCTED:
        error_type = Obstructed
        message = f"Something else is in the way in {location}. Move it, or run `cairn doctor --repair`."
    elif number == errno.EXDEV:
        error_type = OtherDisk
        message = f"{location} is spread over several file systems. Move it to one file system."
    return error_type(number, message, location)


def printable(path: str) -> str:
    """A path that can be printed and stored, whatever its bytes on disk are."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
