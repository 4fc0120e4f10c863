"""Files that runners produce, receive and refer to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProducedFile:
    """A file that a runner has made."""

    name: str  # of the artifact
    format: str
    data: bytes

    @property
    def size(self) -> int:
        return len(self.data)

    def read(self) -> bytes:
        return self.data


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file that the store holds already; its bytes are read only when they are wanted."""

    name: str  # of the artifact
    format: str
    checksum: str
    size: int
    read: Callable[[], bytes]
    path: str = ""  # below the pipeline's folder
    artifact_id: str = ""
    record_id: str = ""  # of the artifact itself, not of its declaration


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file that a person has handed in for a field of a form."""

    filename: str
    checksum: str
    size: int
    read: Callable[[], bytes]
