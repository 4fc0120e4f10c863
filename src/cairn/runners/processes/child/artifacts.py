"""Artifacts that a script can read."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .connection import ParentConnection

TEXTS = frozenset({"md", "mmd", "txt", "py", "html", "csv"})


class File:
    """An artifact of another execution. Its bytes are read on demand."""

    def __init__(self, connection: ParentConnection, values: dict[str, Any]) -> None:
        self._connection = connection
        self.name: str = values["name"]
        self.format: str = values["format"]
        self.checksum: str = values["checksum"]
        self.size: int = values["size"]
        self.path: str = values["path"]

    def read(self) -> bytes:
        head, data = self._connection.request({"kind": "read", "checksum": self.checksum})
        if "error" in head:
            raise OSError(head["error"])
        return data


class Artifacts(dict["str", "Any"]):
    """Artifacts by name: JSON as a value, text as str, anything else as bytes. Read on demand."""

    def __init__(self, connection: ParentConnection, files: list[dict[str, Any]]) -> None:
        super().__init__((file["name"], File(connection, file)) for file in files)

    def __getitem__(self, name: str) -> Any:
        file = self.file(name)
        if file.format == "json":
            return json.loads(file.read())
        return file.read().decode() if file.format in TEXTS else file.read()

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default  # noqa: SIM401 - it would call itself

    def items(self) -> Any:
        return [(name, self[name]) for name in self]

    def values(self) -> Any:
        return [self[name] for name in self]

    def file(self, name: str) -> File:
        """The file with its format, size, checksum and path."""
        return super().__getitem__(name)


class ReworkNote:
    """Why the work was sent back, and the artifacts that the requester has produced so far."""

    def __init__(self, connection: ParentConnection, values: dict[str, Any]) -> None:
        self.prompt: str = values["prompt"]
        self.reason: str = values["reason"]
        self.requested_by: str = values["requested_by"]
        self.artifacts = Artifacts(connection, values["artifacts"])
