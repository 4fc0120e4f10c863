"""Have ext4 place each pipeline's folder in its own part of the disk.

On ext4 without a journal, as in many small virtual machines, creating a file first skips every inode of that block
group that was deleted in the last five minutes. After some thousands of deletions this takes longer than a commit. ext4
places each folder inside a "top directory" in another block group, so deletions elsewhere don't matter.
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
_TOPDIR = 0x00020000  # FS_TOPDIR_FL


def mark_top_directory(folder: str) -> None:
    """Mark the folder as a top directory. File systems without this flag are left as they are."""
    if sys.platform == "linux":
        with suppress(OSError):
            fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                _set_flag(fd)
            finally:
                os.close(fd)


def _set_flag(fd: int) -> None:
    """The kernel reads and writes an int, although the request number names a long."""
    (flags,) = struct.unpack_from("i", fcntl.ioctl(fd, _GET_FLAGS, bytes(_LONG)))
    if not flags & _TOPDIR:
        fcntl.ioctl(fd, _SET_FLAGS, struct.pack("i", flags | _TOPDIR).ljust(_LONG, b"\0"))
