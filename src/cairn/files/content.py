"""Arguments of file operations: contents and moves."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file according to the database. `path` is relative to the pipeline's folder."""

    path: str
    checksum: str
    size: int
    read: Callable[[], bytes | Iterator[bytes]]
    staged_as: str | None = None  # its name in artifacts_staging, if it may be there

    @classmethod
    def of(cls, path: str, data: bytes, staged_as: str | None = None) -> FileContent:
        """A file whose content is in memory."""
        return cls(path, hashlib.sha256(data).hexdigest(), len(data), lambda: data, staged_as)


@dataclass(frozen=True, slots=True)
class FileMove:
    """Move a file or folder. Both paths are relative to the pipeline's folder."""

    original: str
    archived: str
    content: FileContent | None = None  # of a file: written to the new path if it is at neither path
