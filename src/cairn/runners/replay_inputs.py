"""The inputs of a script. When it is called again, it sees the recorded inputs up to each recorded call."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, cast

from cairn.documents import decode_json, encode_json
from cairn.ports import RecordedCall, ReworkBrief, StoredFile, WorkMaterial, WorkOrder


class ReplayInputs:
    """The inputs as JSON documents. The methods can read from the database, so call them in a thread."""

    def __init__(self, work: WorkOrder) -> None:
        self._work = work
        self._current: bytes | None = None
        self._files: dict[str, StoredFile] = {}  # readable files, by checksum

    def at_call(self, number: int) -> bytes:
        """The inputs after `number` calls. Up to the next recorded call, these are the inputs recorded with it."""
        calls = self._work.calls
        if number < len(calls) and calls[number].result is not None and calls[number].inputs_checksum is not None:
            return self._recorded(calls[number])
        return self.current()

    def current(self) -> bytes:
        if self._current is None:
            material, rework = self._work.material, self._work.rework
            self._current = _document(material, rework)
            groups = (material.previous, rework.artifacts if rework else (), *material.references.values())
            self._files.update({file.checksum: file for files in groups for file in files})
        return self._current

    def _recorded(self, call: RecordedCall) -> bytes:
        read = self._work.read_content
        if read is None or call.inputs_checksum is None:
            return self.current()
        content = read(call.inputs_checksum)
        inputs = cast("dict[str, Any]", decode_json(content, max_bytes=max(len(content), 1)))
        rework_files: list[Any] = inputs["rework"]["artifacts"] if inputs["rework"] else []
        references = (file for files in inputs["references"].values() for file in files)
        for file in (*inputs["previous"], *rework_files, *references):
            checksum = file["checksum"]
            self._files[checksum] = StoredFile(
                file["name"], file["format"], checksum, file["size"], lambda checksum=checksum: read(checksum)
            )
        return content

    def read(self, checksum: object) -> bytes | None:
        """The bytes of a file that was listed in the inputs, or None for any other file."""
        file = self._files.get(checksum) if isinstance(checksum, str) else None
        return file.read() if file is not None else None


def _document(material: WorkMaterial, rework: ReworkBrief | None) -> bytes:
    return encode_json(
        {
            "input": material.input,
            "previous": _listed(material.previous),
            "references": {key: _listed(files) for key, files in material.references.items()},
            "rework": None if rework is None else _rework(rework),
        }
    )


def _rework(rework: ReworkBrief) -> dict[str, Any]:
    return {
        "prompt": rework.prompt,
        "reason": rework.reason,
        "requested_by": rework.requested_by,
        "artifacts": _listed(rework.artifacts),
    }


def _listed(files: Sequence[StoredFile]) -> list[Any]:
    return [
        {"name": file.name, "format": file.format, "checksum": file.checksum, "size": file.size, "path": file.path}
        for file in files
    ]


def checksum_of(content: bytes) -> str:
    return sha256(content).hexdigest()
