"""The simulation file: script steps for the simulated model, reloaded when the file changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from cairn.definitions import check_value, full_schema
from cairn.documents import DocumentError, decode_yaml
from cairn.ports.models import ModelError, ModelErrorKind

MAX_VIOLATIONS = 5


class SimulationFile:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._cached: tuple[float, Sequence[Mapping[str, Any]]] | None = None

    def __call__(self) -> Sequence[Mapping[str, Any]]:
        """Return the steps. Raises ModelError if the file cannot be read or is invalid."""
        try:
            modified_at = self._path.stat().st_mtime
            if self._cached is None or self._cached[0] != modified_at:
                self._cached = (modified_at, _validated(decode_yaml(self._path.read_bytes())[0]))
        except (OSError, DocumentError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise ModelError(
                ModelErrorKind.NOT_CONFIGURED, f"Simulation file {self._path} cannot be used: {reason}"
            ) from None
        return self._cached[1]


def _validated(document: Any) -> Sequence[Mapping[str, Any]]:
    schema = {"type": "array", "items": {"$ref": "#/$defs/SimulationStep"}, "$defs": full_schema()["$defs"]}
    steps: list[dict[str, Any]] = document if document is not None else []
    if violations := check_value(schema, cast("Any", steps)):
        raise ValueError("; ".join(f"{path or '/'}: {message}" for path, message in violations[:MAX_VIOLATIONS]))
    return steps
