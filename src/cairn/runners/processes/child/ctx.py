"""The `ctx` argument of scripts."""

from __future__ import annotations

import json
import os

from .exact_json import NotSerializable, encode, replace_surrogates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader
    from pathlib import Path
    from typing import Any

    from .connection import ParentConnection

LEVELS = ("info", "warning", "error")
TEXTS = frozenset({"md", "mmd", "txt", "py", "html", "csv"})
MAX_LOG_LINE = 64 * 1024  # characters
MAX_PROGRESS_TEXT = 1000  # characters
CHUNK_BYTES = 1 << 16


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


class CallResult(dict["str", "Any"]):
    """The result of a call. Fields can be read as keys or as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class ReworkNote:
    """Why the work was sent back, and the artifacts that the requester has produced so far."""

    def __init__(self, connection: ParentConnection, values: dict[str, Any]) -> None:
        self.prompt: str = values["prompt"]
        self.reason: str = values["reason"]
        self.requested_by: str = values["requested_by"]
        self.artifacts = Artifacts(connection, values["artifacts"])


class CallPending(BaseException):
    """Ends the process because a call has no result yet. The script is called again when there is a result."""


class CallMismatch(BaseException):
    """The script did not repeat its earlier calls."""


class Ctx:
    """One call of a script. Staged artifacts are validated after it returns."""

    def __init__(self, connection: ParentConnection, order: dict[str, Any], inputs: dict[str, Any]) -> None:
        self._connection = connection
        self._calls: list[dict[str, Any]] = order["calls"]
        self._call_count = 0
        self._workspace: str = order["workspace"]
        self._max_file_bytes: int = order["max_file_bytes"]
        self.feedback: tuple[str, ...] = tuple(order["feedback"])
        self.attempt: int = order["attempt"]
        self.revision: int = order["revision"]
        self._set_inputs(inputs)

    def _set_inputs(self, inputs: dict[str, Any]) -> None:
        connection = self._connection
        self.inputs: Any = inputs["input"]
        self.previous = Artifacts(connection, inputs["previous"])
        self.references = {key: Artifacts(connection, files) for key, files in inputs["references"].items()}
        self.rework = ReworkNote(connection, inputs["rework"]) if inputs["rework"] else None

    @property
    def workspace(self) -> Path:
        """The only writable folder. Retries and revisions find the files of earlier attempts in it."""
        from pathlib import Path

        return Path(self._workspace)

    # Artifacts
    def stage(self, name: str, content: Any = None, *, path: str | os.PathLike[str] | None = None) -> None:
        """Stage an artifact. Staging it again replaces it.

        A str or bytes is stored as it is. A path is a file in the workspace. Any other value is stored as JSON, for
        artifacts of format json. The name is that of a declared artifact, with or without its format.
        """
        if path is not None or hasattr(content, "__fspath__"):
            self._stage_file(name, str(content if path is None else path))
        elif isinstance(content, str):
            try:
                self._connection.send({"kind": "stage", "name": str(name)}, content.encode())
            except UnicodeEncodeError:
                self._reject(name, "the text contains half of a surrogate pair, which is not a valid character")
        elif isinstance(content, (bytes, bytearray, memoryview)):
            self._connection.send({"kind": "stage", "name": str(name)}, bytes(content))  # pyright: ignore[reportUnknownArgumentType]
        else:
            try:
                data = encode(content)
            except NotSerializable as error:
                self._reject(name, str(error), error.path)
            else:
                self._connection.send({"kind": "stage", "name": str(name), "type": type(content).__name__}, data)

    def _stage_file(self, name: str, path: str) -> None:
        import stat

        workspace = os.path.realpath(self._workspace)
        real = os.path.realpath(os.path.join(workspace, path))
        if os.path.commonpath((workspace, real)) != workspace:
            raise ValueError(f"{path!r} is outside the workspace. Only files in the workspace can be staged.")
        if not stat.S_ISREG(os.lstat(real).st_mode):
            raise ValueError(f"{path!r} is not a regular file.")
        with os.fdopen(os.open(real, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            status = os.fstat(file.fileno())
            if status.st_size > self._max_file_bytes:
                self._reject(name, f"the file has {status.st_size:,} bytes; the limit is {self._max_file_bytes:,}")
            else:
                chunks = _chunks(file, status.st_size)
                self._connection.send_chunks({"kind": "stage", "name": str(name)}, status.st_size, chunks)

    def _reject(self, name: str, message: str, path: str = "") -> None:
        self._connection.send({"kind": "reject", "name": str(name), "message": message, "path": path})

    # Log and progress
    def log(self, message: object, level: str = "info", **details: Any) -> None:
        """Write a line to the execution's log."""
        if level not in LEVELS:
            raise ValueError(f"{level!r} is not a log level. Use one of: {', '.join(LEVELS)}.")
        loggable = {key: _loggable(value) for key, value in details.items()}
        text = replace_surrogates(str(message))[:MAX_LOG_LINE]
        self._connection.send({"kind": "log", "level": level}, json.dumps([text, loggable]).encode())

    def progress(self, fraction: float | None, text: object = None) -> None:
        """Report progress from 0 to 1, or None if it is unknown, with an optional text."""
        fraction = None if fraction is None or fraction != fraction else min(max(float(fraction), 0.0), 1.0)  # noqa: PLR0124 - NaN
        shown_text = None if text is None else replace_surrogates(str(text))[:MAX_PROGRESS_TEXT]
        self._connection.send({"kind": "progress", "fraction": fraction, "text": shown_text})

    # Calls that wait for a result
    def request_rework(self, checkpoint: str, prompt: str, reason: str = "") -> CallResult:
        """Send work back to an earlier checkpoint and wait for the result.

        The process ends here. When the rework is done, the script is called again. Up to this call it sees the same
        inputs as before. Then the call returns `status`, `reason`, `execution_id` and `artifacts` of the rework, and
        `inputs` and `references` are updated.
        """
        arguments = {"checkpoint": str(checkpoint), "prompt": str(prompt), "reason": str(reason)}
        return self._call("rework", arguments)

    def propose_action(
        self,
        operation_type: str,
        parameters: dict[str, Any],
        reasoning: str = "",
        confidence: float | None = None,
        risk_level: str | None = None,
        supporting_data: Any = None,
    ) -> CallResult:
        """Propose an action outside of Cairn and wait for the decision.

        The process ends here. After the decision the script is called again. The call then returns `decision`, the
        approved `parameters`, whether they were `modified`, and the `result` if Cairn has executed the action.
        """
        if not isinstance(operation_type, str) or not operation_type:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError("propose_action: operation_type must be a non-empty string, such as 'send_email'")
        if not isinstance(parameters, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"propose_action: parameters must be a dict, not {type(parameters).__name__}")
        is_number = isinstance(confidence, (int, float)) and not isinstance(confidence, bool)
        if confidence is not None and not (is_number and 0 <= confidence <= 1):
            raise ValueError("propose_action: confidence must be a number from 0 to 1, or None")
        arguments = {
            "operation_type": operation_type,
            "parameters": parameters,
            "reasoning": str(reasoning),
            "confidence": confidence,
            "risk_level": None if risk_level is None else str(risk_level),
            "supporting_data": supporting_data,
        }
        try:
            encoded = encode(arguments)
        except NotSerializable as error:
            raise TypeError(f"propose_action: the arguments can't be encoded as JSON: {error}") from None
        return self._call("action", json.loads(encoded))

    def done(self) -> None:
        """Reserved for loops."""
        self.log("done() has no effect: loops are not supported yet, so the checkpoint runs once.")

    def _call(self, kind: str, arguments: dict[str, Any]) -> CallResult:
        number = self._call_count
        self._call_count += 1
        if number < len(self._calls):
            recorded = self._calls[number]
            if (recorded["kind"], recorded["arguments"]) != (kind, arguments):
                raise CallMismatch(number + 1, recorded, {"kind": kind, "arguments": arguments})
            if recorded["result"] is not None:
                self._set_inputs(json.loads(self._connection.request({"kind": "inputs", "number": number + 1})[1]))
                return CallResult(recorded["result"])
        raise CallPending(number + 1, kind, arguments)

    def check_repeated(self) -> None:
        """Raise CallMismatch unless all recorded calls were made again."""
        if self._call_count < len(self._calls):
            raise CallMismatch(self._call_count + 1, self._calls[self._call_count], None)


def _chunks(file: BufferedReader, size: int) -> Iterator[bytes]:
    """Exactly `size` bytes, padded with zeros if the file has been truncated in the meantime."""
    remaining = size
    while remaining:
        chunk = file.read(min(CHUNK_BYTES, remaining)) or bytes(min(CHUNK_BYTES, remaining))
        remaining -= len(chunk)
        yield chunk


def _loggable(value: Any) -> Any:
    """The value, or its repr if JSON can't represent it, so that logging never fails because of its details."""
    try:
        encode(value)
    except (ValueError, TypeError):
        return replace_surrogates(repr(value))[:MAX_LOG_LINE]
    return value
