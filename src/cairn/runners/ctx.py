"""What a function or a script sees of its execution: the `ctx` that it is called with."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from cairn.documents import DocumentError, decode_json, encode_json
from cairn.ports import ReworkBrief, StoredFile, WorkInputs
from cairn.runners.action_proposals import checked
from cairn.runners.recorded_calls import CallResult

Level: TypeAlias = Literal["info", "warning", "error"]
LEVELS = get_args(Level)
Stage: TypeAlias = Callable[[str, Any], None]
Log: TypeAlias = Callable[[str, str, Mapping[str, Any] | None], None]
Progress: TypeAlias = Callable[[float | None, str | None], None]
TEXTS = frozenset({"md", "mmd", "txt", "py", "html", "csv"})


class Artifacts(Mapping[str, Any]):
    """Artifacts by name: JSON as its value, text as a str, anything else as bytes. Read when they are asked for."""

    __slots__ = ("_files",)

    def __init__(self, files: Sequence[StoredFile]) -> None:
        self._files = {one.name: one for one in files}

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
        """The file itself: its format, size, checksum and path."""
        return self._files[name]


@dataclass(frozen=True, slots=True)
class ReworkNote:
    """Why the work is done again."""

    prompt: str  # what is to be done now
    reason: str
    requested_by: str  # the key of the checkpoint that asked, or the person
    artifacts: Artifacts  # what whoever asked has made so far

    @classmethod
    def of(cls, rework: ReworkBrief) -> ReworkNote:
        return cls(rework.prompt, rework.reason, rework.requested_by, Artifacts(rework.artifacts))


@dataclass(frozen=True, slots=True)
class CtxServices:
    """Who takes what a call hands over: here directly, from another process through its line."""

    stage: Stage
    log: Log
    progress: Progress
    request_rework: Callable[[str, str, str], CallResult]
    propose_action: Callable[[Mapping[str, Any]], CallResult]


@dataclass(frozen=True, slots=True)
class Ctx:
    """One call of a function or script. What it stages is looked at when it has returned."""

    _material: WorkInputs = field(repr=False)
    workspace: Path
    feedback: tuple[str, ...]  # of revisions asked for, oldest first
    attempt: int
    revision: int
    _services: CtxServices = field(repr=False)
    rework: ReworkNote | None = None  # where the work was sent back

    @property
    def inputs(self) -> Any:
        """Mapped from the run's input and context."""
        return self._material.input

    @property
    def previous(self) -> Artifacts:
        """Of the same checkpoint in the previous run."""
        return Artifacts(self._material.previous)

    @property
    def references(self) -> Mapping[str, Artifacts]:
        """Of other checkpoints of this run, by key."""
        return {key: Artifacts(files) for key, files in self._material.references.items()}

    def stage(self, name: str, content: Any) -> None:
        """Put an artifact forward, again if it was before.

        A str or bytes is the file as it is; anything else is a JSON value, for artifacts of format json.
        The name is a declared artifact's, with or without its format: `report`, `report.md`.
        """
        self._services.stage(name, content)

    def request_rework(self, checkpoint: str, prompt: str, reason: str = "") -> CallResult:
        """Send work back to an earlier checkpoint and wait until that is done.

        The call ends here. When the work is done the function is called again, sees until this call what it saw
        before, and gets as the answer how the rework ended: `status`, `reason`, `execution_id`, `artifacts`. From
        then on `inputs` and `references` are the new ones.
        """
        return self._services.request_rework(checkpoint, prompt, reason)

    def propose_action(
        self,
        operation_type: str,
        parameters: Mapping[str, Any],
        reasoning: str = "",
        confidence: float | None = None,
        risk_level: str | None = None,
        supporting_data: Any = None,
    ) -> CallResult:
        """Have something done outside, once that is allowed.

        The call ends here. When it is decided the function is called again and gets as the answer `decision`, the
        `parameters` that were approved, whether they were `modified`, and the `result` where Cairn itself has carried
        the action out.
        """
        arguments = checked(operation_type, parameters, reasoning, confidence, risk_level, supporting_data)
        return self._services.propose_action(arguments)

    def log(self, message: str, level: Level = "info", **details: Any) -> None:
        """Write a line into the execution's log."""
        if level not in LEVELS:
            raise ValueError(f"a log line is {', '.join(LEVELS)}; it cannot be {level!r}")
        self._services.log(level, str(message), {key: _loggable(value) for key, value in details.items()} or None)

    def progress(self, fraction: float | None, text: str | None = None) -> None:
        """Say how far it is, from 0 to 1 (None: nobody can tell), and with what."""
        shown = None if fraction is None or math.isnan(fraction) else min(max(float(fraction), 0.0), 1.0)
        self._services.progress(shown, text)


def _loggable(value: Any) -> Any:
    """The value, or how Python writes it if JSON cannot: a log line never fails for its details."""
    try:
        encode_json(value)
    except DocumentError:
        return repr(value)
    return value
