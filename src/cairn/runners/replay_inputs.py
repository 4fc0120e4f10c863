"""What a script can see, at each point between its calls: what it saw once, it sees again when it is called again."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, cast

from cairn.documents import decode_json, encode_json
from cairn.ports import RecordedCall, ReworkBrief, StoredFile, WorkMaterial, WorkOrder


class ReplayInputs:
    """The material until the first recorded call, then until the second, and last what there is now."""

    def __init__(self, work: WorkOrder) -> None:
        self._work = work
        self._now: bytes | None = None
        self._files: dict[str, StoredFile] = {}  # that were shown, by checksum

    def at(self, number: int) -> bytes:
        """After so many calls; reads what it needs, in a thread."""
        calls = self._work.calls
        if number < len(calls) and calls[number].result is not None and calls[number].inputs_checksum is not None:
            return self._then(calls[number])
        return self.now()

    def now(self) -> bytes:
        if self._now is None:
            material, rework = self._work.material, self._work.rework
            self._now = _written(material, rework)
            shown = (material.previous, rework.artifacts if rework else (), *material.references.values())
            self._files.update({one.checksum: one for files in shown for one in files})
        return self._now

    def _then(self, call: RecordedCall) -> bytes:
        read = self._work.read_content
        if read is None or call.inputs_checksum is None:
            return self.now()
        content = read(call.inputs_checksum)
        seen = cast("dict[str, Any]", decode_json(content, max_bytes=max(len(content), 1)))
        again: list[Any] = seen["rework"]["artifacts"] if seen["rework"] else []
        for told in (*seen["previous"], *again, *(told for files in seen["references"].values() for told in files)):
            checksum = told["checksum"]
            self._files[checksum] = StoredFile(
                told["name"], told["format"], checksum, told["size"], lambda checksum=checksum: read(checksum)
            )
        return content

    def read(self, checksum: object) -> bytes | None:
        """The bytes of a file that was shown; nothing of any other."""
        file = self._files.get(checksum) if isinstance(checksum, str) else None
        return file.read() if file is not None else None


def _written(material: WorkMaterial, rework: ReworkBrief | None) -> bytes:
    return encode_json(
        {
            "input": material.input,
            "previous": _listed(material.previous),
            "references": {key: _listed(files) for key, files in material.references.items()},
            "rework": None if rework is None else _told(rework),
        }
    )


def _told(rework: ReworkBrief) -> dict[str, Any]:
    return {
        "prompt": rework.prompt,
        "reason": rework.reason,
        "requested_by": rework.requested_by,
        "artifacts": _listed(rework.artifacts),
    }


def _listed(files: Sequence[StoredFile]) -> list[Any]:
    return [
        {"name": one.name, "format": one.format, "checksum": one.checksum, "size": one.size, "path": one.path}
        for one in files
    ]


def checksum_of(content: bytes) -> str:
    return sha256(content).hexdigest()
