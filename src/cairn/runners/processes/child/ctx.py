"""The `ctx` argument of scripts."""

from __future__ import annotations

import json
import os

from . import actions
from .actions import CallResult
from .artifacts import Artifacts, ReworkNote
from .exact_json import NotSerializable, encode, replace_surrogates
from .performing import CallGuard, perform

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader
    from pathlib import Path
    from typing import Any

    from .connection import ParentConnection
    from .performing import Execute

LEVELS = ("info", "warning", "error")
MAX_LOG_LINE = 64 * 1024  # characters
MAX_PROGRESS_TEXT = 1000  # characters
CHUNK_BYTES = 1 << 16


class CallPending(BaseException):
    """Ends the process because a call has no result yet. The script is called again when there is a result."""


class CallMismatch(BaseException):
    """The script did not repeat its earlier calls."""


class Ctx:
    """One call of a script. Staged artifacts are validated after it returns."""

    ActionFailed = actions.ActionFailed
    ActionRefused = actions.ActionRefused
    ActionNotHandedOver = actions.ActionNotHandedOver

    def __init__(self, connection: ParentConnection, order: dict[str, Any], inputs: dict[str, Any]) -> None:
        self._connection = connection
        self._calls: list[dict[str, Any]] = order["calls"]
        self._call_count = 0
        self._guard = CallGuard()
        self._is_handed_over = False  # an action, whose outcome can be reported
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
        result = self._recorded_result("rework", arguments)
        self._update_inputs()
        return CallResult(result)

    def propose_action(
        self,
        operation_type: str,
        parameters: dict[str, Any],
        reasoning: str = "",
        confidence: float | None = None,
        risk_level: str | None = None,
        supporting_data: Any = None,
        instance: str | None = None,
    ) -> CallResult:
        """Propose an action outside of Cairn and wait for the decision.

        The process ends here. After the decision the script is called again. The call then returns `state`, `decision`,
        `result`, `idempotency_key` and `modified`. It has `parameters` only if the script has to carry out the action
        now, so that a script that is called again doesn't repeat it. Raises ActionFailed or ActionRefused.

        `instance` names an intended second action with equal parameters.
        """
        return self._propose(
            actions.proposal_arguments(
                operation_type, parameters, reasoning, confidence, risk_level, supporting_data, instance
            )
        )

    def perform(
        self,
        operation_type: str,
        parameters: dict[str, Any],
        execute: Execute,
        *,
        reasoning: str = "",
        confidence: float | None = None,
        risk_level: str | None = None,
        supporting_data: Any = None,
        instance: str | None = None,
    ) -> Any:
        """Propose an action, carry it out once with `execute(parameters, idempotency_key)`, and return its result.

        The returned value is recorded as the result. If the script is called again, it gets that result, and `execute`
        is not called. Raise ActionFailed in `execute` if the action was not carried out. After any other exception, the
        outcome is unknown, and people find it out.
        """
        arguments = actions.proposal_arguments(
            operation_type, parameters, reasoning, confidence, risk_level, supporting_data, instance
        )
        return perform(self._guard, lambda: self._propose(arguments), self._report, operation_type, execute)

    def report_outcome(self, outcome: str, result: Any = None) -> None:
        """Report the outcome of the last action that was handed over: done or failed.

        Without a report, the action counts as done when the script makes its next call or returns. If the script ends
        in any other way, the outcome is unknown.
        """
        self._guard.check_report()
        self._report(outcome, result)
        self._guard.clear()

    def done(self) -> None:
        """Reserved for loops."""
        self.log("done() has no effect: loops are not supported yet, so the checkpoint runs once.")

    def _propose(self, arguments: dict[str, Any]) -> CallResult:
        operation: str = arguments["operation_type"]
        recorded = self._recorded_result("action", arguments)
        if not actions.is_approved(recorded):
            self._update_inputs()
            return actions.read_result(recorded, operation)
        number = self._call_count
        head, body = self._connection.request({"kind": "hand_over", "number": number})
        if head.get("held"):
            raise CallPending(number, "action", arguments)
        self._update_inputs()
        self._is_handed_over = True
        return actions.handed_over(recorded, json.loads(body), operation)

    def _report(self, outcome: str, result: Any) -> None:
        data = actions.reported_result(outcome, result)
        if not self._is_handed_over:
            raise RuntimeError("report_outcome: no action was handed over, or its outcome was reported already")
        self._connection.request({"kind": "report", "outcome": outcome}, data)
        self._is_handed_over = False

    def _recorded_result(self, kind: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The result of the next call. Raises CallPending if there is none yet."""
        self._guard.check()
        number = self._call_count
        self._call_count += 1
        self._is_handed_over = False
        if number < len(self._calls):
            recorded = self._calls[number]
            if (recorded["kind"], recorded["arguments"]) != (kind, arguments):
                raise CallMismatch(number + 1, recorded, {"kind": kind, "arguments": arguments})
            if recorded["result"] is not None:
                return recorded["result"]
        raise CallPending(number + 1, kind, arguments)

    def _update_inputs(self) -> None:
        """Read the inputs as they were after this call."""
        head = {"kind": "inputs", "number": self._call_count}
        self._set_inputs(json.loads(self._connection.request(head)[1]))

    def check_repeated(self) -> None:
        """Raise CallMismatch unless all recorded calls were made again."""
        self._guard.check()
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
