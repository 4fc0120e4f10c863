"""The data that flows between checkpoints: the run's context, and what of it one checkpoint gets."""

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
    """What its mapping reads: keys of checkpoints, and `input`; None for the whole context."""
    if not checkpoint.input_mapping:
        return None
    return frozenset(parse_path(path).root for path in checkpoint.input_mapping.values())


def value_of(expected: ExpectedArtifacts, artifacts: Mapping[str, Value], output: Value) -> Value:
    """What stands under a checkpoint's key: a JSON artifact, or several by name, or a form's fields."""
    if len(expected.json) == 1:
        return artifacts.get(expected.json[0].name)
    if expected.json:
        return {one.name: artifacts[one.name] for one in expected.json if one.name in artifacts}
    return output


def read_value(
    checkpoint: CheckpointDefinition, artifacts: Sequence[ProducedFile | StoredFile], output: Value = None
) -> Value:
    """The same, from the files of a completed execution and, for a form that saves no JSON, its fields."""
    wanted = expected(checkpoint)
    names = {one.name for one in wanted.json}
    return value_of(wanted, {one.name: _decoded(checkpoint, one) for one in artifacts if one.name in names}, output)


def values_of(checkpoint: CheckpointDefinition, artifacts: tuple[StoredFile, ...]) -> tuple[StoredFile, ...]:
    """Those of its artifacts that the context is made of."""
    names = {one.name for one in expected(checkpoint).json}
    return tuple(one for one in artifacts if one.name in names)


def run_context(run_input: Value, values: Mapping[str, Value]) -> dict[str, Value]:
    """The run's input, and under its key what each completed checkpoint has put out."""
    return {INPUT: run_input, **values}


def map_input(checkpoint: CheckpointDefinition, context: Mapping[str, Value]) -> dict[str, Value]:
    """The fields that the checkpoint takes from the context, or all of it; UnfitInput if they are not as wanted."""
    what = f"The input of {checkpoint.key}"
    try:
        mapped = resolve(checkpoint.input_mapping, context)
    except MappingError as error:
        faults = error.errors.items()
        raise InvalidInputData(
            what, [Mismatch(f"input_mapping.{target}", message) for target, message in faults]
        ) from None
    if checkpoint.input_schema is not None and (found := check(checkpoint.input_schema, mapped, "input")):
        raise InvalidInputData(what, found)
    return mapped


def _decoded(checkpoint: CheckpointDefinition, one: ProducedFile | StoredFile) -> Value:
    data = one.read()
    try:
        return decode_json(data, max_bytes=max(len(data), 1))
    except DocumentError as error:
        # People may accept a result that failed validation.
        what = f"The output of {checkpoint.key}"
        raise InvalidInputData(what, [Mismatch(f"{one.name}.{one.format}", f"expected JSON, but {error}")]) from None
