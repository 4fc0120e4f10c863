"""Steps for the simulated model in a file, read again when it has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from cairn.definitions import check_value, full_schema
from cairn.documents import DocumentError, decode_yaml
from cairn.ports.models import ModelError, ModelErrorKind


class StepsFile:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: tuple[float, Sequence[Mapping[str, Any]]] | None = None

    def __call__(self) -> Sequence[Mapping[str, Any]]:
        """ModelFault says what is wrong with it."""
        try:
            changed = self._path.stat().st_mtime
            if self._read is None or self._read[0] != changed:
                self._read = (changed, _checked(decode_yaml(self._path.read_bytes())[0]))
        except (OSError, DocumentError, ValueError) as error:
            told = error.strerror if isinstance(error, OSError) else str(error)
            raise ModelError(ModelErrorKind.NOT_CONFIGURED, f"The simulation file {self._path}: {told}") from None
        return self._read[1]


def _checked(document: Any) -> Sequence[Mapping[str, Any]]:
    schema = {"type": "array", "items": {"$ref": "#/$defs/SimulationStep"}, "$defs": full_schema()["$defs"]}
    steps: list[dict[str, Any]] = document if document is not None else []
    if faults := check_value(schema, cast("Any", steps)):
        raise ValueError("; ".join(f"{path or '/'}: {message}" for path, message in faults[:5]))
    return steps
