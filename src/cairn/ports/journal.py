"""The journal of starts and refusals, kept outside the database and its backups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol


class JournalError(Exception):
    """The journal can't be written or read. The message says why."""


class Journal(Protocol):
    def select(self, installation: str) -> None:
        """Use the journals of this installation."""
        ...

    @property
    def id(self) -> str:
        """The id of the journal that this process writes."""
        ...

    def append(self, line: Mapping[str, Any]) -> None:
        """Write a line and flush it to disk. Raises JournalError."""
        ...

    def read(self) -> Iterator[Mapping[str, Any]]:
        """Every line of every journal of the installation, oldest first in each. Raises JournalError."""
        ...
