"""Lock a data folder with an embedded database for one process. A second process fails and names the first."""

from __future__ import annotations

import fcntl
import json
import os
from datetime import UTC, datetime
from pathlib import Path


class FolderInUse(Exception):
    """Another process uses the data folder."""


class FolderLock:
    """Held until `release` or the end of the process."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "cairn.lock"
        self._fd: int | None = None

    def acquire(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _describe_holder(fd)
            os.close(fd)
            raise FolderInUse(
                f"The data folder {self._path.parent} is in use by another Cairn process{holder}. "
                "Stop it, or choose another folder with --data-dir."
            ) from None
        os.ftruncate(fd, 0)
        os.write(
            fd, json.dumps({"pid": os.getpid(), "since": datetime.now(UTC).isoformat(timespec="seconds")}).encode()
        )
        self._fd = fd

    def release(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _describe_holder(fd: int) -> str:
    try:
        holder = json.loads(os.pread(fd, 4096, 0))
        return f" (process id {holder['pid']}, since {holder['since']})"
    except (ValueError, KeyError, TypeError):
        return ""
