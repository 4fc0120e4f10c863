"""What was produced, held against what is declared: a missing, undeclared or ill-formed artifact is no crash."""

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
from cairn.runners.mismatches import SHOWN, Mismatch, check, listed

TEXTS = frozenset({"md", "mmd", "txt", "py", "html", "csv"})
INVALID = "invalid_output"
SCHEMA = "schema"  # who says so: what is declared


@dataclass(frozen=True, slots=True)
class ProducedFiles:
    """What has come out, before it is looked at."""

    artifacts: Sequence[ProducedFile | StoredFile] = ()
    output: Value = None  # what joins the run's context if no JSON artifact does
    refused: Mapping[str, Mismatch] = field(default_factory=dict[str, Mismatch])  # while it was made, by artifact
    written: frozenset[str] = frozenset()  # artifacts that Cairn has written itself from a JSON value


def check_result(work: WorkOrder, made: ProducedFiles, limits: RunnerLimits) -> Produced | InvalidResult:
    """Produced if everything that is declared is there and fits, and nothing else is."""
    wanted = expected(work.checkpoint)
    kept = {one.name: one for one in made.artifacts if _is_declared(wanted, one) and one.size <= limits.max_file_bytes}
    mismatches = [
        *made.refused.values(),
        *_absent(wanted, made),
        *(uncalled_for(wanted, file_name(one)) for one in made.artifacts if not _is_declared(wanted, one)),
        *_oversized(made, limits),
    ]
    near: list[Mismatch] = []  # which are only of a schema
    values: dict[str, Value] = {}
    if not mismatches:
        mismatches += _payload(work, wanted, made, limits)
    if not mismatches:
        for one in kept.values():
            mismatches += _content(work, wanted.artifacts[one.name], one, made, values)
            near += _by_schema(wanted.artifacts[one.name], one, values)
    ruling: PassDecision | None = None
    if not mismatches and (work.checkpoint.output_schema is not None or work.checkpoint.decides):
        value = value_of(wanted, values, made.output)
        if work.checkpoint.output_schema is not None:
            near += check(work.checkpoint.output_schema, value, "output")
        if work.checkpoint.decides:
            ruling = _ruling(value)
            mismatches += [] if ruling else [_no_ruling(value)]
    return _verdict(work, Produced(tuple(made.artifacts), made.output, ruling), tuple(kept.values()), mismatches, near)


def _verdict(
    work: WorkOrder,
    produced: Produced,
    kept: tuple[ProducedFile | StoredFile, ...],
    mismatches: Sequence[Mismatch],
    near: Sequence[Mismatch],
) -> Produced | InvalidResult:
    found = (*mismatches, *near)
    if found:
        verdict = ValidationVerdict(SCHEMA, False, tuple(one.finding for one in found[:SHOWN]))
        return InvalidResult(kept, unfit(found), (verdict,), None if mismatches else produced)
    if work.checkpoint.output.validation.enabled:
        return replace(produced, verdicts=(ValidationVerdict(SCHEMA, True),))
    return produced


def unfit(mismatches: Sequence[Mismatch]) -> Failure:
    return Failure(INVALID, f"The output is not what the checkpoint declares:\n{listed(mismatches)}")


def file_name(one: ProducedFile | StoredFile) -> str:
    return f"{one.name}.{one.format}" if one.format else one.name


def _is_declared(wanted: ExpectedArtifacts, one: ProducedFile | StoredFile) -> bool:
    declared = wanted.artifacts.get(one.name)
    return declared is not None and declared.format in (None, one.format)


def uncalled_for(wanted: ExpectedArtifacts, file: str) -> Mismatch:
    names = ", ".join(f"{one.name}.{one.format}" for one in wanted.checkpoint.output.artifacts)
    return Mismatch(file, f"it is not declared; declared is {names or 'nothing'}")


def _absent(wanted: ExpectedArtifacts, made: ProducedFiles) -> Iterator[Mismatch]:
    there = {one.name for one in made.artifacts} | set(made.refused)
    for declared in wanted.artifacts.values():
        if declared.required and declared.name not in there:
            yield Mismatch(declared.file, "it is declared, but was not produced")


def _oversized(made: ProducedFiles, limits: RunnerLimits) -> Iterator[Mismatch]:
    for one in made.artifacts:
        if one.size > limits.max_file_bytes:
            yield Mismatch(file_name(one), _too_much(one.size, limits.max_file_bytes))


def _payload(work: WorkOrder, wanted: ExpectedArtifacts, made: ProducedFiles, limits: RunnerLimits) -> list[Mismatch]:
    """How much JSON joins the run's context."""
    names = {declared.name for declared in wanted.json}
    size = sum(one.size for one in made.artifacts if one.name in names)
    if made.output is not None:
        size += len(encode_json(made.output))
    if size > limits.max_payload_bytes:
        return [Mismatch("output", f"as JSON {_too_much(size, limits.max_payload_bytes)}")]
    if size > limits.max_payload_bytes // 2:
        message = f"The JSON output has {megabytes(size)}; more than {megabytes(limits.max_payload_bytes)} is refused."
        work.log("warning", message, {"size_bytes": size, "limit_bytes": limits.max_payload_bytes})
    return []


def _content(
    work: WorkOrder,
    declared: DeclaredArtifact,
    one: ProducedFile | StoredFile,
    made: ProducedFiles,
    values: dict[str, Value],
) -> list[Mismatch]:
    if declared.format == "json":
        read = declared.schema is not None or work.checkpoint.output_schema is not None or work.checkpoint.decides
        if one.name in made.written and not read:
            return []
        try:
            values[one.name] = decode_json(one.read(), max_bytes=max(one.size, 1))
        except DocumentError as error:
            return [Mismatch(file_name(one), f"expected JSON, but {error}")]
        return []
    if declared.format in TEXTS:
        try:
            one.read().decode()
        except UnicodeDecodeError as error:
            return [Mismatch(file_name(one), f"expected text in UTF-8, which breaks off at byte {error.start:,}")]
    return []


def _by_schema(
    declared: DeclaredArtifact, one: ProducedFile | StoredFile, values: Mapping[str, Value]
) -> list[Mismatch]:
    if declared.schema is None or one.name not in values:
        return []
    return check(declared.schema, values[one.name], file_name(one))


def _ruling(value: Value) -> PassDecision | None:
    decision = value.get("decision") if isinstance(value, dict) else None
    return PassDecision(decision) if isinstance(decision, str) and decision in PassDecision.__members__ else None


def _no_ruling(value: Value) -> Mismatch:
    came = preview(value.get("decision") if isinstance(value, dict) else value)
    told = f"this checkpoint decides on the pass: expected COMPLETE, RESTART or ESCALATE; here it is {came}"
    return Mismatch("output#/decision", told)


def _too_much(size: int, limit: int) -> str:
    return f"it has {megabytes(size)}; at most {megabytes(limit)} are taken"
