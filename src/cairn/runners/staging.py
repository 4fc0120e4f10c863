"""What an execution has put forward, until it is done."""

from __future__ import annotations

from typing import Any

from cairn.documents import DocumentError, encode_json
from cairn.ports import ProducedFile, WorkOrder
from cairn.runners.expected_artifacts import DeclaredArtifact, ExpectedArtifacts
from cairn.runners.mismatches import Mismatch
from cairn.runners.result_checks import ProducedFiles, uncalled_for


class Staging:
    """Takes artifacts as they come. Faults wait until the end, so that all of them can be named at once."""

    def __init__(self, expected: ExpectedArtifacts) -> None:
        self._expected = expected
        self._files: dict[str, ProducedFile] = {}
        self._written: set[str] = set()
        self._refused: dict[str, Mismatch] = {}

    def stage(self, name: str, content: Any) -> None:
        declared = self._expected.find(name)
        if declared is None:
            self._refused[name] = uncalled_for(self._expected, name)
        elif isinstance(content, str):
            self._put_text(declared, content)
        elif isinstance(content, bytes | bytearray):
            self._keep(declared, bytes(content))
        elif declared.format == "json":
            self._put_value(declared, content)
        else:
            came = type(content).__name__
            self._refuse(declared, f"expected text or bytes for the format {declared.format}; here it is a {came}")

    def stage_json(self, name: str, data: bytes, came: str) -> None:
        """A value of the type `came`, which another process has written as JSON."""
        declared = self._expected.find(name)
        if declared is not None and declared.format == "json":
            self._keep(declared, data)
        elif declared is not None:
            self._refuse(declared, f"expected text or bytes for the format {declared.format}; here it is a {came}")
        else:
            self._refused[name] = uncalled_for(self._expected, name)

    def reject(self, name: str, message: str, pointer: str | None = None) -> None:
        """What was to be put forward cannot be."""
        declared = self._expected.find(name)
        if declared is not None:
            self._refuse(declared, message, pointer)
        else:
            self._refused[name] = uncalled_for(self._expected, name)

    def finish(self, returned: Any, work: WorkOrder) -> ProducedFiles:
        """Everything that was staged, and what the function has returned, in its place."""
        if returned is not None and (only := self._place_of_returned(work)) is not None:
            self._put_value(only, returned)
        return self.files()

    def finish_json(self, returned: bytes | Mismatch, work: WorkOrder) -> ProducedFiles:
        """The same for what another process has returned, as JSON, or could not write."""
        if returned and (only := self._place_of_returned(work)) is not None:
            if isinstance(returned, bytes):
                self._keep(only, returned)
            else:
                self._refuse(only, returned.message, returned.path)
        return self.files()

    def files(self) -> ProducedFiles:
        return ProducedFiles(tuple(self._files.values()), None, self._refused, frozenset(self._written))

    def _place_of_returned(self, work: WorkOrder) -> DeclaredArtifact | None:
        only = self._expected.json[0] if len(self._expected.json) == 1 else None
        if only is not None and only.name not in self._files and only.name not in self._refused:
            return only
        work.log("warning", self._why_unused(), None)
        return None

    def _why_unused(self) -> str:
        names = ", ".join(one.file for one in self._expected.json)
        if len(self._expected.json) == 1:
            return f"The returned value is not used: {names} was staged."
        return f"The returned value is not used: several JSON artifacts are declared ({names}), each has to be staged."

    def _put_text(self, declared: DeclaredArtifact, text: str) -> None:
        try:
            self._keep(declared, text.encode())
        except UnicodeEncodeError:
            self._refuse(declared, "the text contains half of a surrogate pair, which is not a valid character")

    def _put_value(self, declared: DeclaredArtifact, value: Any) -> None:
        try:
            data = encode_json(value)
        except DocumentError as error:
            self._refuse(declared, error.message, error.path)
        else:
            self._keep(declared, data)
            self._written.add(declared.name)

    def _keep(self, declared: DeclaredArtifact, data: bytes) -> None:
        self._files[declared.name] = ProducedFile(declared.name, declared.format or "", data)
        self._written.discard(declared.name)
        self._refused.pop(declared.name, None)

    def _refuse(self, declared: DeclaredArtifact, message: str, pointer: str | None = None) -> None:
        place = f"{declared.file}#{pointer}" if pointer else declared.file
        self._refused[declared.name] = Mismatch(place, message)
        self._files.pop(declared.name, None)
