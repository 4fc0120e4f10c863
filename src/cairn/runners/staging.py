"""Collect the artifacts that an execution stages."""

from __future__ import annotations

from typing import Any

from cairn.documents import DocumentError, encode_json
from cairn.ports import ProducedFile, WorkOrder
from cairn.runners.expected_artifacts import DeclaredArtifact, ExpectedArtifacts
from cairn.runners.mismatches import Mismatch
from cairn.runners.result_checks import ProducedFiles, undeclared


class Staging:
    """The staged artifacts. Errors are collected, so that all of them can be reported together."""

    def __init__(self, expected: ExpectedArtifacts) -> None:
        self._expected = expected
        self._files: dict[str, ProducedFile] = {}
        self._encoded: set[str] = set()
        self._rejected: dict[str, Mismatch] = {}

    def stage(self, name: str, content: Any) -> None:
        declared = self._expected.find(name)
        if declared is None:
            self._rejected[name] = undeclared(self._expected, name)
        elif isinstance(content, str):
            self._stage_text(declared, content)
        elif isinstance(content, bytes | bytearray):
            self._add(declared, bytes(content))
        elif declared.format == "json":
            self._stage_value(declared, content)
        else:
            self._reject_type(declared, type(content).__name__)

    def stage_json(self, name: str, data: bytes, type_name: str) -> None:
        """Stage a value that another process has encoded as JSON. `type_name` is its Python type there."""
        declared = self._expected.find(name)
        if declared is not None and declared.format == "json":
            self._add(declared, data)
        elif declared is not None:
            self._reject_type(declared, type_name)
        else:
            self._rejected[name] = undeclared(self._expected, name)

    def reject(self, name: str, message: str, pointer: str | None = None) -> None:
        """Record that an artifact could not be staged."""
        declared = self._expected.find(name)
        if declared is not None:
            self._reject(declared, message, pointer)
        else:
            self._rejected[name] = undeclared(self._expected, name)

    def finish(self, returned: Any, work: WorkOrder) -> ProducedFiles:
        """Return all staged files. The returned value becomes the only JSON artifact if that was not staged."""
        if returned is not None and (artifact := self._artifact_of_returned(work)) is not None:
            self._stage_value(artifact, returned)
        return self.files()

    def finish_json(self, returned: bytes | Mismatch, work: WorkOrder) -> ProducedFiles:
        """Like `finish`, for another process. `returned` is JSON, or a mismatch if it could not be encoded."""
        if returned and (artifact := self._artifact_of_returned(work)) is not None:
            if isinstance(returned, bytes):
                self._add(artifact, returned)
            else:
                self._reject(artifact, returned.message, returned.path)
        return self.files()

    def files(self) -> ProducedFiles:
        return ProducedFiles(tuple(self._files.values()), None, self._rejected, frozenset(self._encoded))

    def _artifact_of_returned(self, work: WorkOrder) -> DeclaredArtifact | None:
        artifact = self._expected.json[0] if len(self._expected.json) == 1 else None
        if artifact is not None and artifact.name not in self._files and artifact.name not in self._rejected:
            return artifact
        work.log("warning", self._ignored_message(), None)
        return None

    def _ignored_message(self) -> str:
        names = ", ".join(artifact.file for artifact in self._expected.json)
        if len(self._expected.json) == 1:
            return f"The returned value is ignored because {names} was staged."
        return f"The returned value is ignored: several JSON artifacts are declared ({names}). Stage each of them."

    def _stage_text(self, declared: DeclaredArtifact, text: str) -> None:
        try:
            self._add(declared, text.encode())
        except UnicodeEncodeError:
            self._reject(declared, "the text contains half of a surrogate pair, which is not a valid character")

    def _stage_value(self, declared: DeclaredArtifact, value: Any) -> None:
        try:
            data = encode_json(value)
        except DocumentError as error:
            self._reject(declared, error.message, error.path)
        else:
            self._add(declared, data)
            self._encoded.add(declared.name)

    def _add(self, declared: DeclaredArtifact, data: bytes) -> None:
        self._files[declared.name] = ProducedFile(declared.name, declared.format or "", data)
        self._encoded.discard(declared.name)
        self._rejected.pop(declared.name, None)

    def _reject_type(self, declared: DeclaredArtifact, type_name: str) -> None:
        self._reject(declared, f"expected text or bytes for the format {declared.format}, but got {type_name}")

    def _reject(self, declared: DeclaredArtifact, message: str, pointer: str | None = None) -> None:
        path = f"{declared.file}#{pointer}" if pointer else declared.file
        self._rejected[declared.name] = Mismatch(path, message)
        self._files.pop(declared.name, None)
