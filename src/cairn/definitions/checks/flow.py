"""The data that flows between checkpoints: every source can exist, and what it gives fits."""

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
    for step in outline.checkpoints:
        yield from _check_references(outline, step)
        mapping = section(step.document, "input_mapping")
        wanted = _view(outline, step.pointer("input_schema"), step.document.get("input_schema"))
        for target, source in mapping.items():
            if isinstance(source, str):
                yield from _check_source(outline, step, target, source, wanted)
        yield from _check_targets(step, list(mapping), wanted) if mapping else _check_context(outline, step, wanted)


def _check_references(outline: DefinitionOutline, step: CheckpointOutline) -> Iterator[Finding]:
    """Outputs of other checkpoints that it is to read."""
    way = ("inputs", "include_checkpoint_outputs")
    for at, reference in objects(step.document, *way):
        key = text(reference, "checkpoint_id")
        if key is None:
            continue
        if message := _never_available(outline, step, key) or _possibly_unavailable(outline, step, key):
            yield Finding(step.pointer(*way, at, "checkpoint_id"), message)
        if key not in outline.by_key:
            continue
        artifacts = objects(outline.by_key[key].document, "output", "artifacts")
        names = [name for _, artifact in artifacts if (name := text(artifact, "name"))]
        for place, name in texts(reference, "artifact_ids"):
            if name not in names:
                message = f"{key!r} does not make it: {unknown_name('artifact', name, names)}"
                yield Finding(step.pointer(*way, at, "artifact_ids", place), message)


def _never_available(outline: DefinitionOutline, step: CheckpointOutline, key: str) -> str | None:
    """Why the output of another checkpoint is never there when this one starts."""
    if key not in outline.by_key:
        return unknown_name("checkpoint", key, [other for other in outline.by_key if outline.comes_before(other, step)])
    if key == step.key:
        return f"{key!r} cannot read its own output: nothing stands there when it starts"
    if not outline.comes_before(key, step):
        return f"{key!r} comes later: its output is not there yet when {step.key!r} starts"
    return None


def _possibly_unavailable(outline: DefinitionOutline, step: CheckpointOutline, key: str) -> str | None:
    """Why it may not be there yet."""
    if key in outline.completed_before.get(step.key, ()):
        return None
    return f"{key!r} may still be at work when {step.key!r} starts: add it to its needs"


def _check_source(
    outline: DefinitionOutline, step: CheckpointOutline, target: str, source: str, wanted: SchemaView
) -> Iterator[Finding]:
    place = step.pointer("input_mapping", target)
    try:
        path = parse_path(source)
    except PathError as error:
        yield Finding(place, str(error))
        return
    found = _root_schema(outline, step, path.root)
    if isinstance(found, str):
        yield Finding(place, found)
        return
    if path.root != INPUT and (message := _possibly_unavailable(outline, step, path.root)):
        yield warning(place, message) if path.is_optional else Finding(place, message)
    for count, name in enumerate(path.steps):
        presence, found = found.step(name)
        if presence is Presence.NEVER:
            what = f"an item {name}" if isinstance(name, int) else f"a property {name!r}"
            yield Finding(place, f"{path} cannot exist: {path.prefix(count)} is not declared to have {what}")
            return
        if presence is Presence.POSSIBLE and not path.is_optional:
            yield warning(place, f"{path.prefix(count + 1)} may be missing, which would fail: require it, or end in ?")
    for severity, message in compare(found, wanted.inner(wanted.properties.get(target, True)), str(path)):
        yield Finding(place, message, severity)


def _root_schema(outline: DefinitionOutline, step: CheckpointOutline, root: str) -> SchemaView | str:
    """What is known of the value under a key, or why there never is one."""
    if root == INPUT:
        return _view(outline, "/input_schema", get(outline.document, "input_schema"), fills=True)
    if message := _never_available(outline, step, root):
        return message
    schema = output_schema(outline, outline.by_key[root])
    if schema is None:
        return f"{root!r} makes no JSON: declare a JSON artifact or an output_schema there"
    return SchemaView.of(schema)


def _view(outline: DefinitionOutline, path: str, value: Value, *, fills: bool = False) -> SchemaView:
    schema = outline.schema(path, value)
    return SchemaView.of(True if schema is None else schema, fills=fills)


def _check_targets(step: CheckpointOutline, targets: list[str], wanted: SchemaView) -> Iterator[Finding]:
    """The mapped input is an object of exactly these names."""
    place = step.pointer("input_schema")
    if wanted.declared_types is not None and "object" not in wanted.declared_types:
        yield Finding(place, f"the mapped input is an object, but {join_types(wanted.declared_types)} is required")
        return
    for name in wanted.required:
        if name not in targets:
            yield Finding(place, f"{name!r} is required, but input_mapping does not give it")
    for name in targets:
        if wanted.schema.get("additionalProperties") is False and name not in wanted.properties:
            message = f"{name!r} is not among the properties of input_schema, which allows no others"
            yield Finding(step.pointer("input_mapping", name), message)


def _check_context(outline: DefinitionOutline, step: CheckpointOutline, wanted: SchemaView) -> Iterator[Finding]:
    """Without a mapping the input is the whole context: the run's input, and each output under its key."""
    place = step.pointer("input_schema")
    for name in dict.fromkeys([*wanted.required, *wanted.properties]):
        found = _root_schema(outline, step, name)
        unsure = None if name == INPUT or isinstance(found, str) else _possibly_unavailable(outline, step, name)
        if isinstance(found, SchemaView) and not unsure:
            pairs = compare(found, wanted.inner(wanted.properties.get(name, True)), name)
            yield from (Finding(place, message, severity) for severity, message in pairs)
        elif name in wanted.required:
            yield Finding(place, f"{name!r} is required, but the context does not have it: {unsure or found}")
