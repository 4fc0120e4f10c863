"""Work orders for runners, as a dispatch would build them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cairn.definitions import CheckpointDefinition, expand, parse
from cairn.documents import Value
from cairn.ports import ResolvedInputs, ReworkBrief, StoredFile, UploadedFile, WorkOrder
from cairn.runners.functions import FunctionRegistry, FunctionRunner

CHECKPOINT_ID = "5f0c3f0e-6c1b-4a5e-9d59-1d8a3a1f7b10"
ARTIFACT_ID = "def78900-0000-4000-8000-000000000000"


@dataclass
class WorkOutput:
    """Log lines and progress that a runner has reported."""

    lines: list[tuple[str, str, Mapping[str, Any] | None]] = field(default_factory=list[Any])
    progress: list[tuple[float | None, str | None]] = field(default_factory=list[Any])

    def log(self, level: str, message: str, details: Mapping[str, Any] | None) -> None:
        self.lines.append((level, message, details))

    def report_progress(self, fraction: float | None, text: str | None) -> None:
        self.progress.append((fraction, text))


@dataclass(frozen=True)
class WorkContent:
    """The content that a work order can read."""

    input: Value
    previous: tuple[StoredFile, ...]
    references: Mapping[str, tuple[StoredFile, ...]]
    prompt: str = ""
    resolved_inputs: ResolvedInputs = field(default_factory=ResolvedInputs)

    async def save_summary(self, checksum: str, model: str, summary: str) -> None:
        known = dict(self.resolved_inputs.summaries)
        others = {name: text for name, text in known.get(checksum, {}).items() if name != model}
        known[checksum] = {**others, model: summary}
        object.__setattr__(self, "resolved_inputs", replace(self.resolved_inputs, summaries=known))


def checkpoint(**fields: Any) -> CheckpointDefinition:
    """Return a checkpoint in its full form from the fields of an author."""
    written: dict[str, Value] = {"key": "step", "checkpoint_id": CHECKPOINT_ID, **fields}
    return parse(expand({"pipeline_name": "P", "checkpoints": [written]})).checkpoints[0]


def work(
    definition: CheckpointDefinition,
    *,
    output: WorkOutput | None = None,
    input: Value = None,
    answer: Value = None,
    files: Mapping[str, UploadedFile] | None = None,
    previous: tuple[StoredFile, ...] = (),
    references: Mapping[str, tuple[StoredFile, ...]] | None = None,
    feedback: tuple[str, ...] = (),
    workspace: Path = Path("workspace"),
    rework: ReworkBrief | None = None,
    resolved: ResolvedInputs | None = None,
) -> WorkOrder:
    output = output or WorkOutput()
    return WorkOrder(
        run_id="run",
        pipeline_id="pipeline",
        execution_id="execution",
        dispatch=1,
        attempt=2,
        revision=len(feedback),
        checkpoint=definition,
        material=WorkContent(
            input,
            previous,
            references or {},
            resolved_inputs=resolved or ResolvedInputs(input=input, feedback=feedback),
        ),
        answer=answer,
        files=files or {},
        feedback=feedback,
        workspace=workspace,
        log=output.log,
        progress=output.report_progress,
        rework=rework,
    )


def stored(name: str, format: str, data: bytes | str, path: str = "", artifact_id: str = ARTIFACT_ID) -> StoredFile:
    content = data.encode() if isinstance(data, str) else data
    checksum = hashlib.sha256(content).hexdigest()
    return StoredFile(name, format, checksum, len(content), lambda: content, path, artifact_id)


def upload(filename: str, data: bytes) -> UploadedFile:
    return UploadedFile(filename, hashlib.sha256(data).hexdigest(), len(data), lambda: data)


def unreadable() -> bytes:
    raise AssertionError("this file must not be read")


def function_checkpoint(*outputs: str, parameters: Value = None, **fields: Any) -> CheckpointDefinition:
    execution: Value = {"mode": "function", "function_config": {"function": "f", "parameters": parameters or {}}}
    return checkpoint(execution=execution, outputs=list(outputs), **fields)


def runner_of(function: Any) -> FunctionRunner:
    registry = FunctionRegistry()
    registry.register("f", function)
    return FunctionRunner(registry)
