"""What the file operations are told: contents, and where they go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file as the database knows it. `path` is relative to the pipeline's folder."""

    path: str
    checksum: str
    size: int
    read: Callable[[], bytes | Iterator[bytes]]
    staged_as: str | None = None  # its name in artifacts_staging, if it may lie there


@dataclass(frozen=True, slots=True)
class Move:
    """A file or folder that changes its place. Both paths are relative to the pipeline's folder."""

    original: str
    archived: str
    content: FileContent | None = None  # of a file: written at the new place if neither place has it
