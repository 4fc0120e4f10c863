"""Check the data flow between checkpoints: each source must exist and match the input schema."""

from __future__ import annotations

from collections.abc import Iterator

from cairn.definitions.checks.outputs import output_schema
from cairn.definitions.findings import Finding, warning
from cairn.definitions.input_paths import INPUT, PathError, parse_path
from cairn.definitions.json_schema.compatibility import Presence, SchemaView, compare, join_types
from cairn.definitions.outline import CheckpointOutline, DefinitionOutline, unknown_name
from cairn.definitions.raw_document import get, objects, section, text, texts
from cairn.documents import Value


def check_flow(outline: DefinitionOutline) -> Iterator[Finding]:
    for checkpoint in outline.checkpoints:
        yield from _check_references(outline, checkpoint)
        mapping = section(checkpoint.document, "input_mapping")
        expected = _view(outline, checkpoint.pointer("input_schema"), checkpoint.document.get("input_schema"))
        for target, source in mapping.items():
            if isinstance(source, str):
                yield from _check_source(outline, checkpoint, target, source, expected)
        yield from (
            _check_targets(checkpoint, list(mapping), expected)
            if mapping
            else _check_context(outline, checkpoint, expected)
        )


def _check_references(outline: DefinitionOutline, checkpoint: CheckpointOutline) -> Iterator[Finding]:
    """Check `include_checkpoint_outputs`."""
    references = ("inputs", "include_checkpoint_outputs")
    for index, reference in objects(checkpoint.document, *references):
        key = text(reference, "checkpoint_id")
        if key is None:
            continue
        if message := _never_available(outline, checkpoint, key) or _possibly_unavailable(outline, checkpoint, key):
            yield Finding(checkpoint.pointer(*references, index, "checkpoint_id"), message)
        if key not in outline.by_key:
            continue
        artifacts = objects(outline.by_key[key].document, "output", "artifacts")
        names = [name for _, artifact in artifacts if (name := text(artifact, "name"))]
        for position, name in texts(reference, "artifact_ids"):
            if name not in names:
                message = unknown_name(f"artifact of {key!r}", name, names)
                yield Finding(checkpoint.pointer(*references, index, "artifact_ids", position), message)


def _never_available(outline: DefinitionOutline, checkpoint: CheckpointOutline, key: str) -> str | None:
    """The reason why the output of a checkpoint can't exist when this checkpoint starts, or None."""
    if key not in outline.by_key:
        return unknown_name(
            "checkpoint", key, [other for other in outline.by_key if outline.is_before(other, checkpoint)]
        )
    if key == checkpoint.key:
        return f"{key!r} can't read its own output"
    if not outline.is_before(key, checkpoint):
        return f"{key!r} comes after {checkpoint.key!r}, so its output does not exist yet: move {key!r} before it"
    return None


def _possibly_unavailable(outline: DefinitionOutline, checkpoint: CheckpointOutline, key: str) -> str | None:
    """The reason why the output may not exist yet, or None."""
    if key in outline.completed_before.get(checkpoint.key, ()):
        return None
    return f"{key!r} may still be running when {checkpoint.key!r} starts: add it to `needs`"


def _check_source(
    outline: DefinitionOutline, checkpoint: CheckpointOutline, target: str, source: str, expected: SchemaView
) -> Iterator[Finding]:
    pointer = checkpoint.pointer("input_mapping", target)
    try:
        path = parse_path(source)
    except PathError as error:
        yield Finding(pointer, str(error))
        return
    found = _root_schema(outline, checkpoint, path.root)
    if isinstance(found, str):
        yield Finding(pointer, found)
        return
    if path.root != INPUT and (message := _possibly_unavailable(outline, checkpoint, path.root)):
        yield warning(pointer, message) if path.is_optional else Finding(pointer, message)
    for count, name in enumerate(path.steps):
        presence, found = found.step(name)
        if presence is Presence.NEVER:
            part = f"item {name}" if isinstance(name, int) else f"property {name!r}"
            yield Finding(pointer, f"{path} can't exist: the schema of {path.prefix(count)} has no {part}")
            return
        if presence is Presence.POSSIBLE and not path.is_optional:
            message = f"{path.prefix(count + 1)} may be missing: require it in its schema, or end the path with ?"
            yield warning(pointer, message)
    for severity, message in compare(found, expected.inner(expected.properties.get(target, True)), str(path)):
        yield Finding(pointer, message, severity)


def _root_schema(outline: DefinitionOutline, checkpoint: CheckpointOutline, root: str) -> SchemaView | str:
    """The schema of the value under a key, or the reason why there can't be a value."""
    if root == INPUT:
        return _view(outline, "/input_schema", get(outline.document, "input_schema"), fills=True)
    if message := _never_available(outline, checkpoint, root):
        return message
    schema = output_schema(outline, outline.by_key[root])
    if schema is None:
        return f"{root!r} has no JSON output: give it a JSON artifact or an `output_schema`"
    return SchemaView.of(schema)


def _view(outline: DefinitionOutline, path: str, value: Value, *, fills: bool = False) -> SchemaView:
    schema = outline.schema(path, value)
    return SchemaView.of(True if schema is None else schema, fills=fills)


def _check_targets(checkpoint: CheckpointOutline, targets: list[str], expected: SchemaView) -> Iterator[Finding]:
    """Check the mapped input, which is an object with exactly these keys."""
    pointer = checkpoint.pointer("input_schema")
    if expected.declared_types is not None and "object" not in expected.declared_types:
        yield Finding(
            pointer,
            f"the mapped input is an object, but the schema requires {join_types(expected.declared_types)}",
        )
        return
    for name in expected.required:
        if name not in targets:
            yield Finding(pointer, f"{name!r} is required: add it to `input_mapping`")
    for name in targets:
        if expected.schema.get("additionalProperties") is False and name not in expected.properties:
            message = f"unknown input {name!r}: `input_schema` does not allow it"
            yield Finding(checkpoint.pointer("input_mapping", name), message)


def _check_context(
    outline: DefinitionOutline, checkpoint: CheckpointOutline, expected: SchemaView
) -> Iterator[Finding]:
    """Check the complete context, which is the input if nothing is mapped: the run's input and the outputs by key."""
    pointer = checkpoint.pointer("input_schema")
    for name in dict.fromkeys([*expected.required, *expected.properties]):
        found = _root_schema(outline, checkpoint, name)
        uncertainty = (
            None if name == INPUT or isinstance(found, str) else _possibly_unavailable(outline, checkpoint, name)
        )
        if isinstance(found, SchemaView) and not uncertainty:
            pairs = compare(found, expected.inner(expected.properties.get(name, True)), name)
            yield from (Finding(pointer, message, severity) for severity, message in pairs)
        elif name in expected.required:
            yield Finding(pointer, f"{name!r} is required, but missing in the context: {uncertainty or found}")
