"""Check a result against the checkpoint's declaration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cairn.core.execution import Failure
from cairn.core.states import PassDecision
from cairn.definitions.json_schema.messages import preview
from cairn.documents import DocumentError, Value, decode_json, encode_json
from cairn.ports import InvalidResult, Produced, ProducedFile, StoredFile, ValidationVerdict, WorkOrder
from cairn.runners.expected_artifacts import DeclaredArtifact, ExpectedArtifacts, expected
from cairn.runners.input_mapping import value_of
from cairn.runners.limits import RunnerLimits, megabytes
from cairn.runners.mismatches import MAX_SHOWN, Mismatch, check, listed

TEXTS = frozenset({"md", "mmd", "txt", "py", "html", "csv"})
INVALID = "invalid_output"
SCHEMA = "schema"  # the name of this check


@dataclass(frozen=True, slots=True)
class ProducedFiles:
    """A result that has not been checked."""

    artifacts: Sequence[ProducedFile | StoredFile] = ()
    output: Value = None  # added to the run's context if there is no JSON artifact
    rejected: Mapping[str, Mismatch] = field(default_factory=dict[str, Mismatch])  # while staging, by artifact
    encoded: frozenset[str] = frozenset()  # artifacts that Cairn encoded as JSON itself


def check_result(work: WorkOrder, result: ProducedFiles, limits: RunnerLimits) -> Produced | InvalidResult:
    """Check a result. It is Produced if all declared artifacts exist and are valid, and there are no other ones."""
    declared = expected(work.checkpoint)
    accepted = {
        file.name: file
        for file in result.artifacts
        if _is_declared(declared, file) and file.size <= limits.max_file_bytes
    }
    mismatches = [
        *result.rejected.values(),
        *_missing(declared, result),
        *(undeclared(declared, file_name(file)) for file in result.artifacts if not _is_declared(declared, file)),
        *_oversized(result, limits),
    ]
    violations: list[Mismatch] = []  # of schemas; a lenient validation can accept them
    values: dict[str, Value] = {}
    if not mismatches:
        mismatches += _payload(work, declared, result, limits)
    if not mismatches:
        for file in accepted.values():
            mismatches += _content(work, declared.artifacts[file.name], file, result, values)
            violations += _schema_violations(declared.artifacts[file.name], file, values)
    decision: PassDecision | None = None
    if not mismatches and (work.checkpoint.output_schema is not None or work.checkpoint.decides):
        value = value_of(declared, values, result.output)
        if work.checkpoint.output_schema is not None:
            violations += check(work.checkpoint.output_schema, value, "output")
        if work.checkpoint.decides:
            decision = _pass_decision(value)
            mismatches += [] if decision else [_no_pass_decision(value)]
    produced = Produced(tuple(result.artifacts), result.output, decision)
    return _outcome(work, produced, tuple(accepted.values()), mismatches, violations)


def _outcome(
    work: WorkOrder,
    produced: Produced,
    accepted: tuple[ProducedFile | StoredFile, ...],
    mismatches: Sequence[Mismatch],
    violations: Sequence[Mismatch],
) -> Produced | InvalidResult:
    found = (*mismatches, *violations)
    if found:
        verdict = ValidationVerdict(SCHEMA, False, tuple(mismatch.finding for mismatch in found[:MAX_SHOWN]))
        return InvalidResult(accepted, _failure(found), (verdict,), None if mismatches else produced)
    if work.checkpoint.output.validation.enabled:
        return replace(produced, verdicts=(ValidationVerdict(SCHEMA, True),))
    return produced


def _failure(mismatches: Sequence[Mismatch]) -> Failure:
    return Failure(INVALID, f"The output doesn't match the declaration of the checkpoint:\n{listed(mismatches)}")


def file_name(file: ProducedFile | StoredFile) -> str:
    return f"{file.name}.{file.format}" if file.format else file.name


def _is_declared(declared: ExpectedArtifacts, file: ProducedFile | StoredFile) -> bool:
    artifact = declared.artifacts.get(file.name)
    return artifact is not None and artifact.format in (None, file.format)


def undeclared(declared: ExpectedArtifacts, name: str) -> Mismatch:
    names = ", ".join(f"{artifact.name}.{artifact.format}" for artifact in declared.checkpoint.output.artifacts)
    return Mismatch(name, f"the artifact is not declared; declared artifacts: {names or 'none'}")


def _missing(declared: ExpectedArtifacts, result: ProducedFiles) -> Iterator[Mismatch]:
    names = {file.name for file in result.artifacts} | set(result.rejected)
    for artifact in declared.artifacts.values():
        if artifact.required and artifact.name not in names:
            yield Mismatch(artifact.file, "the artifact is declared but was not produced")


def _oversized(result: ProducedFiles, limits: RunnerLimits) -> Iterator[Mismatch]:
    for file in result.artifacts:
        if file.size > limits.max_file_bytes:
            yield Mismatch(file_name(file), f"the file has {_over_limit(file.size, limits.max_file_bytes)}")


def _payload(
    work: WorkOrder, declared: ExpectedArtifacts, result: ProducedFiles, limits: RunnerLimits
) -> list[Mismatch]:
    """Check the size of the JSON that is added to the run's context."""
    names = {artifact.name for artifact in declared.json}
    size = sum(file.size for file in result.artifacts if file.name in names)
    if result.output is not None:
        size += len(encode_json(result.output))
    if size > limits.max_payload_bytes:
        return [Mismatch("output", f"the JSON output has {_over_limit(size, limits.max_payload_bytes)}")]
    if size > limits.max_payload_bytes // 2:
        message = f"The JSON output has {megabytes(size)}; the limit is {megabytes(limits.max_payload_bytes)}."
        work.log("warning", message, {"size_bytes": size, "limit_bytes": limits.max_payload_bytes})
    return []


def _content(
    work: WorkOrder,
    declared: DeclaredArtifact,
    file: ProducedFile | StoredFile,
    result: ProducedFiles,
    values: dict[str, Value],
) -> list[Mismatch]:
    if declared.format == "json":
        needs_value = (
            declared.schema is not None or work.checkpoint.output_schema is not None or work.checkpoint.decides
        )
        if file.name in result.encoded and not needs_value:
            return []
        try:
            values[file.name] = decode_json(file.read(), max_bytes=max(file.size, 1))
        except DocumentError as error:
            return [Mismatch(file_name(file), f"expected JSON, but {error}")]
        return []
    if declared.format in TEXTS:
        try:
            file.read().decode()
        except UnicodeDecodeError as error:
            return [Mismatch(file_name(file), f"expected UTF-8 text, but byte {error.start:,} is invalid")]
    return []


def _schema_violations(
    declared: DeclaredArtifact, file: ProducedFile | StoredFile, values: Mapping[str, Value]
) -> list[Mismatch]:
    if declared.schema is None or file.name not in values:
        return []
    return check(declared.schema, values[file.name], file_name(file))


def _pass_decision(value: Value) -> PassDecision | None:
    decision = value.get("decision") if isinstance(value, dict) else None
    return PassDecision(decision) if isinstance(decision, str) and decision in PassDecision.__members__ else None


def _no_pass_decision(value: Value) -> Mismatch:
    actual = preview(value.get("decision") if isinstance(value, dict) else value)
    message = f"this checkpoint decides on the pass: expected COMPLETE, RESTART or ESCALATE, but got {actual}"
    return Mismatch("output#/decision", message)


def _over_limit(size: int, limit: int) -> str:
    return f"{megabytes(size)}; the limit is {megabytes(limit)}"
