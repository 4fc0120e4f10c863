"""The `ctx` argument of functions. Scripts get an equivalent `ctx` from `processes.child`."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from cairn.documents import DocumentError, decode_json, encode_json
from cairn.ports import ReworkBrief, StoredFile, WorkInputs
from cairn.runners.function_calls import FunctionCalls
from cairn.runners.processes.child import actions
from cairn.runners.processes.child.actions import CallResult, proposal_arguments

Level: TypeAlias = Literal["info", "warning", "error"]
LEVELS = get_args(Level)
Outcome: TypeAlias = Literal["done", "failed"]
Stage: TypeAlias = Callable[[str, Any], None]
Log: TypeAlias = Callable[[str, str, Mapping[str, Any] | None], None]
Progress: TypeAlias = Callable[[float | None, str | None], None]
TEXTS = frozenset({"md", "mmd", "txt", "py", "html", "csv"})


class Artifacts(Mapping[str, Any]):
    """Artifacts by name: JSON as a value, text as str, anything else as bytes. Read on demand."""

    __slots__ = ("_files",)

    def __init__(self, files: Sequence[StoredFile]) -> None:
        self._files = {file.name: file for file in files}

    def __getitem__(self, name: str) -> Any:
        file = self._files[name]
        if file.format == "json":
            return decode_json(file.read(), max_bytes=max(file.size, 1))
        return file.read().decode() if file.format in TEXTS else file.read()

    def __contains__(self, name: object) -> bool:
        return name in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def file(self, name: str) -> StoredFile:
        """The file with its format, size, checksum and path."""
        return self._files[name]


@dataclass(frozen=True, slots=True)
class ReworkNote:
    """Why the work was sent back."""

    prompt: str  # the new task
    reason: str
    requested_by: str  # the key of the requesting checkpoint, or a username
    artifacts: Artifacts  # produced by the requester so far

    @classmethod
    def from_brief(cls, rework: ReworkBrief) -> ReworkNote:
        return cls(rework.prompt, rework.reason, rework.requested_by, Artifacts(rework.artifacts))


@dataclass(frozen=True, slots=True)
class CtxServices:
    """The methods behind `ctx`."""

    stage: Stage
    log: Log
    progress: Progress
    calls: FunctionCalls


@dataclass(frozen=True, slots=True)
class Ctx:
    """One call of a function. Staged artifacts are validated after it returns."""

    ActionFailed: ClassVar = actions.ActionFailed
    ActionRefused: ClassVar = actions.ActionRefused
    ActionNotHandedOver: ClassVar = actions.ActionNotHandedOver

    _material: WorkInputs = field(repr=False)
    workspace: Path
    feedback: tuple[str, ...]  # of requested revisions, oldest first
    attempt: int
    revision: int
    _services: CtxServices = field(repr=False)
    rework: ReworkNote | None = None  # set if the work was sent back

    @property
    def inputs(self) -> Any:
        """The input, mapped from the run's input and context."""
        return self._material.input

    @property
    def previous(self) -> Artifacts:
        """Artifacts of the same checkpoint in the previous run."""
        return Artifacts(self._material.previous)

    @property
    def references(self) -> Mapping[str, Artifacts]:
        """Artifacts of other checkpoints of this run, by key."""
        return {key: Artifacts(files) for key, files in self._material.references.items()}

    def stage(self, name: str, content: Any) -> None:
        """Stage an artifact. Staging it again replaces it.

        A str or bytes is stored as it is. Any other value is stored as JSON, for artifacts of format json. The name
        is that of a declared artifact, with or without its format: `report` or `report.md`.
        """
        self._services.stage(name, content)

    def request_rework(self, checkpoint: str, prompt: str, reason: str = "") -> CallResult:
        """Send work back to an earlier checkpoint and wait for the result.

        The function ends here. When the rework is done, the function is called again. Up to this call it sees the same
        inputs as before. Then the call returns `status`, `reason`, `execution_id` and `artifacts` of the rework, and
        `inputs` and `references` are updated.
        """
        return self._services.calls.request_rework(checkpoint, prompt, reason)

    def propose_action(
        self,
        operation_type: str,
        parameters: Mapping[str, Any],
        reasoning: str = "",
        confidence: float | None = None,
        risk_level: str | None = None,
        supporting_data: Any = None,
        instance: str | None = None,
    ) -> CallResult:
        """Propose an action outside of Cairn and wait for the decision. A coroutine function awaits this call.

        The function ends here. After the decision the function is called again. The call then returns `state`,
        `decision`, `result`, `idempotency_key` and `modified`. It has `parameters` only if the function has to carry
        out the action now, so that a function that is called again doesn't repeat it. Raises ActionFailed or
        ActionRefused.

        `instance` names an intended second action with equal parameters.
        """
        return self._services.calls.propose_action(
            proposal_arguments(operation_type, parameters, reasoning, confidence, risk_level, supporting_data, instance)
        )

    def perform(
        self,
        operation_type: str,
        parameters: Mapping[str, Any],
        execute: Callable[[dict[str, Any], str], Any],
        *,
        reasoning: str = "",
        confidence: float | None = None,
        risk_level: str | None = None,
        supporting_data: Any = None,
        instance: str | None = None,
    ) -> Any:
        """Propose an action, carry it out once with `execute(parameters, idempotency_key)`, and return its result.

        A coroutine function awaits this call, and can pass a coroutine function. The returned value is recorded as the
        result. If the function is called again, it gets that result, and `execute` is not called. Raise ActionFailed in
        `execute` if the action was not carried out. After any other exception, the outcome is unknown, and people find
        it out.
        """
        arguments = proposal_arguments(
            operation_type, parameters, reasoning, confidence, risk_level, supporting_data, instance
        )
        return self._services.calls.perform(arguments, execute)

    def report_outcome(self, outcome: Outcome, result: Any = None) -> Awaitable[None]:
        """Report the outcome of the last action that was handed over: done or failed.

        A coroutine function awaits this call. Without a report, the action counts as done when the function makes its
        next call or returns. If the function ends in any other way, the outcome is unknown.
        """
        return self._services.calls.report_outcome(outcome, result)

    def log(self, message: str, level: Level = "info", **details: Any) -> None:
        """Write a line to the execution's log."""
        if level not in LEVELS:
            raise ValueError(f"{level!r} is not a log level. Use one of: {', '.join(LEVELS)}.")
        self._services.log(level, str(message), {key: _loggable(value) for key, value in details.items()} or None)

    def progress(self, fraction: float | None, text: str | None = None) -> None:
        """Report progress from 0 to 1, or None if it is unknown, with an optional text."""
        fraction = None if fraction is None or math.isnan(fraction) else min(max(float(fraction), 0.0), 1.0)
        self._services.progress(fraction, text)


def _loggable(value: Any) -> Any:
    """The value, or its repr if JSON can't represent it, so that logging never fails because of its details."""
    try:
        encode_json(value)
    except DocumentError:
        return repr(value)
    return value
