"""Order checkpoints, and convert references between them from ids to keys."""

from __future__ import annotations

from cairn.definitions.authoring.source_map import SourcePointers
from cairn.definitions.findings import Finding
from cairn.definitions.frozen_model import Document
from cairn.definitions.raw_document import items, objects, section, text, texts
from cairn.documents import Value
from cairn.documents.pointers import child, join

NEEDS = "required_checkpoint_ids"


def apply_order(pipeline: Document, findings: list[Finding]) -> list[int]:
    """Return the order that `checkpoint_order` requires, as indexes into the list, and remove `checkpoint_order`.

    If it is missing or invalid, return the order of the list.
    """
    list_order = list(range(len(items(pipeline, "checkpoints"))))
    references = texts(pipeline, "checkpoint_order")
    if "checkpoint_order" not in pipeline or len(references) != len(items(pipeline, "checkpoint_order")):
        return list_order
    checkpoints = objects(pipeline, "checkpoints")
    by_key = {key: index for index, checkpoint in checkpoints if (key := text(checkpoint, "key"))}
    by_id = {own_id: index for index, checkpoint in checkpoints if (own_id := text(checkpoint, "checkpoint_id"))}
    order = [by_id.get(reference.lower(), by_key.get(reference)) for _, reference in references]
    for position, reference in references:
        if order[position] is None:
            findings.append(Finding(join(("checkpoint_order", position)), f"unknown checkpoint {reference!r}"))
    if missing := [key for key, index in by_key.items() if index not in order]:
        message = f"expected all checkpoints: add {', '.join(missing)}, or leave out checkpoint_order"
        findings.append(Finding("/checkpoint_order", message))
    found = [index for index in order if index is not None]
    if sorted(found) != list_order:
        return list_order
    del pipeline["checkpoint_order"]
    return found


def merge_needs(checkpoint: Document, origins: SourcePointers, target: str, source: str) -> None:
    """Merge the short form `needs` into `dependencies.required_checkpoint_ids`."""
    if "needs" not in checkpoint:
        return
    needs = checkpoint.pop("needs")
    dependencies = checkpoint.setdefault("dependencies", {})
    if not isinstance(dependencies, dict):
        return
    path, origin = join(("dependencies", NEEDS)), child(source, "needs")
    before = dependencies.get(NEEDS, [])
    if not isinstance(before, list):
        return
    if not isinstance(needs, list) or not before:
        dependencies[NEEDS] = needs
        origins.move(target + path, origin)
        return
    added = [(index, need) for index, need in enumerate(needs) if need not in before]
    dependencies[NEEDS] = [*before, *(need for _, need in added)]
    for offset, (index, _) in enumerate(added):
        origins.move(child(target + path, len(before) + offset), child(origin, index))


def use_keys(pipeline: Document) -> None:
    """Convert references by id, as in exports: ids of checkpoints to keys, and ids of artifacts to names."""
    checkpoints = [checkpoint for _, checkpoint in objects(pipeline, "checkpoints")]
    pairs = [(text(checkpoint, "checkpoint_id"), text(checkpoint, "key")) for checkpoint in checkpoints]
    keys = {own_id: key for own_id, key in pairs if own_id and key}
    artifacts = {key: _artifact_names(checkpoint) for checkpoint in checkpoints if (key := text(checkpoint, "key"))}
    for checkpoint in checkpoints:
        _rename(items(checkpoint, "dependencies", NEEDS), keys)
        for _, reference in objects(checkpoint, "inputs", "include_checkpoint_outputs"):
            if name := text(reference, "checkpoint_id"):
                key = keys.get(name.lower(), name)
                reference["checkpoint_id"] = key
                _rename(items(reference, "artifact_ids"), artifacts.get(key, {}))


def _artifact_names(checkpoint: Document) -> dict[str, str]:
    """Names by id."""
    artifacts = [artifact for _, artifact in objects(section(checkpoint, "output"), "artifacts")]
    pairs = [(text(artifact, "artifact_id"), text(artifact, "name")) for artifact in artifacts]
    return {own_id.lower(): name for own_id, name in pairs if own_id and name}


def _rename(references: list[Value], names: dict[str, str]) -> None:
    for index, reference in enumerate(references):
        if isinstance(reference, str):
            references[index] = names.get(reference.lower(), reference)
