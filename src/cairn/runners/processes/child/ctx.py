"""What a script sees of its execution: the `ctx` that it is called with."""

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
LONGEST_LINE = 64 * 1024
LONGEST_PROGRESS = 1000
PIECE = 1 << 16


class File:
    """A file of another execution; its bytes come when they are asked for."""

    def __init__(self, line: ParentConnection, told: dict[str, Any]) -> None:
        self._line = line
        self.name: str = told["name"]
        self.format: str = told["format"]
        self.checksum: str = told["checksum"]
        self.size: int = told["size"]
        self.path: str = told["path"]

    def read(self) -> bytes:
        told, data = self._line.request({"kind": "read", "checksum": self.checksum})
        if "error" in told:
            raise OSError(told["error"])
        return data


class Artifacts(dict["str", "Any"]):
    """Artifacts by name: JSON as its value, text as a str, anything else as bytes. Read when they are asked for."""

    def __init__(self, line: ParentConnection, files: list[dict[str, Any]]) -> None:
        super().__init__((told["name"], File(line, told)) for told in files)

    def __getitem__(self, name: str) -> Any:
        file = self.file(name)
        if file.format == "json":
            return json.loads(file.read())
        return file.read().decode() if file.format in TEXTS else file.read()

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default  # noqa: SIM401 - that would be itself

    def items(self) -> Any:
        return [(name, self[name]) for name in self]

    def values(self) -> Any:
        return [self[name] for name in self]

    def file(self, name: str) -> File:
        """The file itself: its format, size, checksum and path."""
        return super().__getitem__(name)


class CallResult(dict["str", "Any"]):
    """What came of a call, by key or by attribute."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class ReworkNote:
    """Why the work was sent back, and what whoever asked for it has made so far."""

    def __init__(self, line: ParentConnection, told: dict[str, Any]) -> None:
        self.prompt: str = told["prompt"]
        self.reason: str = told["reason"]
        self.requested_by: str = told["requested_by"]
        self.artifacts = Artifacts(line, told["artifacts"])


class CallPending(BaseException):
    """The process ends here, until the call is answered."""


class CallMismatch(BaseException):
    """The script does not make the calls that it made before."""


class Ctx:
    """One call of a script. What it stages is looked at when it has returned."""

    def __init__(self, line: ParentConnection, begin: dict[str, Any], seen: dict[str, Any]) -> None:
        self._line = line
        self._calls: list[dict[str, Any]] = begin["calls"]
        self._made = 0
        self._room: str = begin["workspace"]
        self._longest: int = begin["max_file_bytes"]
        self.feedback: tuple[str, ...] = tuple(begin["feedback"])
        self.attempt: int = begin["attempt"]
        self.revision: int = begin["revision"]
        self._see(seen)

    def _see(self, seen: dict[str, Any]) -> None:
        self.inputs: Any = seen["input"]
        self.previous = Artifacts(self._line, seen["previous"])
        self.references = {key: Artifacts(self._line, files) for key, files in seen["references"].items()}
        self.rework = ReworkNote(self._line, seen["rework"]) if seen["rework"] else None

    @property
    def workspace(self) -> Path:
        """The one folder that may be written; retries and revisions find what lies there."""
        from pathlib import Path

        return Path(self._room)

    # ---- what it puts forward ------------------------------------------------------------------------------
    def stage(self, name: str, content: Any = None, *, path: str | os.PathLike[str] | None = None) -> None:
        """Put an artifact forward, again if it was before.

        A str or bytes is the file as it is, a path is a file of the workspace; anything else is a JSON value, for
        artifacts of format json. The name is a declared artifact's, with or without its format.
        """
        if path is not None or hasattr(content, "__fspath__"):
            self._stage_file(name, str(content if path is None else path))
        elif isinstance(content, str):
            try:
                self._line.send({"kind": "stage", "name": str(name)}, content.encode())
            except UnicodeEncodeError:
                self._refuse(name, "the text contains half of a surrogate pair, which is not a valid character")
        elif isinstance(content, (bytes, bytearray, memoryview)):
            self._line.send({"kind": "stage", "name": str(name)}, bytes(content))  # pyright: ignore[reportUnknownArgumentType]
        else:
            try:
                data = encode(content)
            except NotSerializable as error:
                self._refuse(name, str(error), error.path)
            else:
                self._line.send({"kind": "stage", "name": str(name), "type": type(content).__name__}, data)

    def _stage_file(self, name: str, path: str) -> None:
        import stat

        room = os.path.realpath(self._room)
        real = os.path.realpath(os.path.join(room, path))
        if os.path.commonpath((room, real)) != room:
            raise ValueError(f"{path!r} leads out of the workspace: only files inside it can be staged")
        if not stat.S_ISREG(os.lstat(real).st_mode):
            raise ValueError(f"{path!r} is not a file")
        with os.fdopen(os.open(real, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            status = os.fstat(file.fileno())
            if status.st_size > self._longest:
                self._refuse(name, f"it has {status.st_size:,} bytes; at most {self._longest:,} are taken")
            else:
                pieces = _pieces(file, status.st_size)
                self._line.send_chunks({"kind": "stage", "name": str(name)}, status.st_size, pieces)

    def _refuse(self, name: str, message: str, path: str = "") -> None:
        self._line.send({"kind": "refuse", "name": str(name), "message": message, "path": path})

    # ---- what it says --------------------------------------------------------------------------------------
    def log(self, message: object, level: str = "info", **details: Any) -> None:
        """Write a line into the execution's log."""
        if level not in LEVELS:
            raise ValueError(f"a log line is {', '.join(LEVELS)}; it cannot be {level!r}")
        shown = {key: _loggable(value) for key, value in details.items()}
        text = replace_surrogates(str(message))[:LONGEST_LINE]
        self._line.send({"kind": "log", "level": level}, json.dumps([text, shown]).encode())

    def progress(self, fraction: float | None, text: object = None) -> None:
        """Say how far it is, from 0 to 1 (None: nobody can tell), and with what."""
        shown = None if fraction is None or fraction != fraction else min(max(float(fraction), 0.0), 1.0)  # noqa: PLR0124 - NaN
        said = None if text is None else replace_surrogates(str(text))[:LONGEST_PROGRESS]
        self._line.send({"kind": "progress", "fraction": shown, "text": said})

    # ---- what it waits for ---------------------------------------------------------------------------------
    def request_rework(self, checkpoint: str, prompt: str, reason: str = "") -> CallResult:
        """Send work back to an earlier checkpoint and wait until that is done.

        The process ends here. When the work is done the script is called again, sees until this call what it saw
        before, and gets as the answer how the rework ended: `status`, `reason`, `execution_id`, `artifacts`. From
        then on `inputs` and `references` are the new ones.
        """
        said = {"checkpoint": str(checkpoint), "prompt": str(prompt), "reason": str(reason)}
        return self._call("rework", said)

    def propose_action(
        self,
        operation_type: str,
        parameters: dict[str, Any],
        reasoning: str = "",
        confidence: float | None = None,
        risk_level: str | None = None,
        supporting_data: Any = None,
    ) -> CallResult:
        """Have something done outside, once that is allowed.

        The process ends here. When it is decided the script is called again and gets as the answer `decision`, the
        `parameters` that were approved, whether they were `modified`, and the `result` where Cairn itself has carried
        the action out.
        """
        if not isinstance(operation_type, str) or not operation_type:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError("propose_action: operation_type is a word, such as 'send_email'")
        if not isinstance(parameters, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"propose_action: parameters is a dict, not {type(parameters).__name__}")
        is_number = isinstance(confidence, (int, float)) and not isinstance(confidence, bool)
        if confidence is not None and not (is_number and 0 <= confidence <= 1):
            raise ValueError("propose_action: confidence is a number from 0 to 1, or None")
        said = {
            "operation_type": operation_type,
            "parameters": parameters,
            "reasoning": str(reasoning),
            "confidence": confidence,
            "risk_level": None if risk_level is None else str(risk_level),
            "supporting_data": supporting_data,
        }
        try:
            written = encode(said)
        except NotSerializable as error:
            raise TypeError(f"propose_action: what it says cannot be written as JSON: {error}") from None
        return self._call("action", json.loads(written))

    def done(self) -> None:
        """For loops, which are not there yet."""
        self.log("done() changes nothing: loops are not there yet, the checkpoint is carried out once.")

    def _call(self, kind: str, arguments: dict[str, Any]) -> CallResult:
        number = self._made
        self._made += 1
        if number < len(self._calls):
            known = self._calls[number]
            if (known["kind"], known["arguments"]) != (kind, arguments):
                raise CallMismatch(number + 1, known, {"kind": kind, "arguments": arguments})
            if known["answer"] is not None:
                self._see(json.loads(self._line.request({"kind": "see", "number": number + 1})[1]))
                return CallResult(known["answer"])
        raise CallPending(number + 1, kind, arguments)

    def check_repeated(self) -> None:
        """Calls that were made before have been made again."""
        if self._made < len(self._calls):
            raise CallMismatch(self._made + 1, self._calls[self._made], None)


def _pieces(file: BufferedReader, size: int) -> Iterator[bytes]:
    left = size
    while left:
        # What was announced has to come, also of a file that has shrunk since.
        piece = file.read(min(PIECE, left)) or bytes(min(PIECE, left))
        left -= len(piece)
        yield piece


def _loggable(value: Any) -> Any:
    """The value, or how Python writes it if JSON cannot: a log line never fails for its details."""
    try:
        encode(value)
    except (ValueError, TypeError):
        return replace_surrogates(repr(value))[:LONGEST_LINE]
    return value
