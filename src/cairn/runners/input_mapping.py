"""The run's context, and the input that is mapped from it for a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cairn.definitions.input_paths import INPUT, MappingError, parse_path, resolve
from cairn.definitions.model import CheckpointDefinition
from cairn.documents import DocumentError, Value, decode_json
from cairn.ports import ProducedFile, StoredFile
from cairn.runners.errors import InvalidInputData
from cairn.runners.expected_artifacts import ExpectedArtifacts, expected
from cairn.runners.mismatches import Mismatch, check


def sources(checkpoint: CheckpointDefinition) -> frozenset[str] | None:
    """The checkpoint keys and `input` that the input mapping reads. None: it reads the whole context."""
    if not checkpoint.input_mapping:
        return None
    return frozenset(parse_path(path).root for path in checkpoint.input_mapping.values())


def value_of(expected: ExpectedArtifacts, artifacts: Mapping[str, Value], output: Value) -> Value:
    """A checkpoint's value in the context: its JSON artifact, several of them by name, or the fields of a form."""
    if len(expected.json) == 1:
        return artifacts.get(expected.json[0].name)
    if expected.json:
        return {artifact.name: artifacts[artifact.name] for artifact in expected.json if artifact.name in artifacts}
    return output


def read_value(
    checkpoint: CheckpointDefinition, artifacts: Sequence[ProducedFile | StoredFile], output: Value = None
) -> Value:
    """A checkpoint's value, read from the files of an execution. `output`: the fields of a form without JSON."""
    declared = expected(checkpoint)
    names = {artifact.name for artifact in declared.json}
    values = {file.name: _decoded(checkpoint, file) for file in artifacts if file.name in names}
    return value_of(declared, values, output)


def values_of(checkpoint: CheckpointDefinition, artifacts: tuple[StoredFile, ...]) -> tuple[StoredFile, ...]:
    """The artifacts that are part of the context."""
    names = {declared.name for declared in expected(checkpoint).json}
    return tuple(artifact for artifact in artifacts if artifact.name in names)


def run_context(run_input: Value, values: Mapping[str, Value]) -> dict[str, Value]:
    """The run's input, and the value of each completed checkpoint under its key."""
    return {INPUT: run_input, **values}


def map_input(checkpoint: CheckpointDefinition, context: Mapping[str, Value]) -> dict[str, Value]:
    """The mapped fields, or the whole context if there is no mapping. Raises InvalidInputData if it is invalid."""
    name = f"The input of {checkpoint.key}"
    try:
        mapped = resolve(checkpoint.input_mapping, context)
    except MappingError as error:
        mismatches = [Mismatch(f"input_mapping.{target}", message) for target, message in error.errors.items()]
        raise InvalidInputData(name, mismatches) from None
    if checkpoint.input_schema is not None and (found := check(checkpoint.input_schema, mapped, "input")):
        raise InvalidInputData(name, found)
    return mapped


def _decoded(checkpoint: CheckpointDefinition, file: ProducedFile | StoredFile) -> Value:
    data = file.read()
    try:
        return decode_json(data, max_bytes=max(len(data), 1))
    except DocumentError as error:
        # People can accept a result that failed validation.
        mismatch = Mismatch(f"{file.name}.{file.format}", f"expected JSON, but {error}")
        raise InvalidInputData(f"The output of {checkpoint.key}", [mismatch]) from None
