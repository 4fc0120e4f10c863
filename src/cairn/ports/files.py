"""Files that runners produce, receive and refer to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProducedFile:
    """A file that a runner produced."""

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
    """A file that is already in the store. Its bytes are read on demand."""

    name: str  # of the artifact
    format: str
    checksum: str
    size: int
    read: Callable[[], bytes]
    path: str = ""  # relative to the pipeline's folder
    artifact_id: str = ""
    record_id: str = ""  # id of the artifact; `artifact_id` is the id of its declaration


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file that a person uploaded for a field of a form."""

    filename: str
    checksum: str
    size: int
    read: Callable[[], bytes]
