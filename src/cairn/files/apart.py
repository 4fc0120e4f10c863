"""Folders that ext4 lays apart from what else is on the disk.

On ext4 without a journal, as in many small virtual machines, whoever makes a file first looks at every one that was
deleted nearby in the last five minutes: after some thousands of deletions it takes longer than the commit that it
follows. A folder that is marked as a top has each folder in it laid somewhere else.
"""

from __future__ import annotations

import fcntl
import os
import struct
import sys
from contextlib import suppress

_LONG = struct.calcsize("l")
_GET_FLAGS = 2 << 30 | _LONG << 16 | ord("f") << 8 | 1  # FS_IOC_GETFLAGS
_SET_FLAGS = 1 << 30 | _LONG << 16 | ord("f") << 8 | 2  # FS_IOC_SETFLAGS
_TOP = 0x00020000  # FS_TOPDIR_FL


def lay_apart(folder: str) -> None:
    """What is made in this folder lies apart from now on, where the file system knows how; others do without."""
    if sys.platform == "linux":
        with suppress(OSError):
            fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                _mark(fd)
            finally:
                os.close(fd)


def _mark(fd: int) -> None:
    """The kernel takes and gives an int, whatever size the number of the call says."""
    (flags,) = struct.unpack_from("i", fcntl.ioctl(fd, _GET_FLAGS, bytes(_LONG)))
    if not flags & _TOP:
        fcntl.ioctl(fd, _SET_FLAGS, struct.pack("i", flags | _TOP).ljust(_LONG, b"\0"))
