"""How checkpoints are put in order and name one another: by key, whatever the author used."""

from __future__ import annotations

from cairn.definitions.authoring.source_map import SourcePointers
from cairn.definitions.findings import Finding
from cairn.definitions.frozen_model import Document
from cairn.definitions.raw_document import items, objects, section, text, texts
from cairn.documents import Value
from cairn.documents.pointers import child, join

NEEDS = "required_checkpoint_ids"


def apply_order(pipeline: Document, findings: list[Finding]) -> list[int]:
    """The order that `checkpoint_order` asks for, as positions in the list. It is taken out: the list then has it."""
    as_listed = list(range(len(items(pipeline, "checkpoints"))))
    wanted = texts(pipeline, "checkpoint_order")
    if "checkpoint_order" not in pipeline or len(wanted) != len(items(pipeline, "checkpoint_order")):
        return as_listed
    checkpoints = objects(pipeline, "checkpoints")
    known = {key: at for at, checkpoint in checkpoints if (key := text(checkpoint, "key"))}
    by_id = {given: at for at, checkpoint in checkpoints if (given := text(checkpoint, "checkpoint_id"))}
    order = [by_id.get(reference.lower(), known.get(reference)) for _, reference in wanted]
    for place, reference in wanted:
        if order[place] is None:
            message = f"there is no checkpoint {reference!r} to put in order"
            findings.append(Finding(join(("checkpoint_order", place)), message))
    if missing := [key for key, at in known.items() if at not in order]:
        message = f"checkpoint_order names every checkpoint, or is left out; it lacks {', '.join(missing)}"
        findings.append(Finding("/checkpoint_order", message))
    found = [at for at in order if at is not None]
    if sorted(found) != as_listed:
        return as_listed
    del pipeline["checkpoint_order"]
    return found


def merge_needs(checkpoint: Document, origins: SourcePointers, target: str, source: str) -> None:
    """`needs` and `dependencies.required_checkpoint_ids` are one list."""
    if "needs" not in checkpoint:
        return
    needs = checkpoint.pop("needs")
    dependencies = checkpoint.setdefault("dependencies", {})
    if not isinstance(dependencies, dict):
        return
    place, written = join(("dependencies", NEEDS)), child(source, "needs")
    before = dependencies.get(NEEDS, [])
    if not isinstance(before, list):
        return
    if not isinstance(needs, list) or not before:
        dependencies[NEEDS] = needs
        origins.move(target + place, written)
        return
    added = [(at, need) for at, need in enumerate(needs) if need not in before]
    dependencies[NEEDS] = [*before, *(need for _, need in added)]
    for offset, (at, _) in enumerate(added):
        origins.move(child(target + place, len(before) + offset), child(written, at))


def use_keys(pipeline: Document) -> None:
    """References may be by id, as in exports; they are kept by key, and those to artifacts by name."""
    checkpoints = [checkpoint for _, checkpoint in objects(pipeline, "checkpoints")]
    keys = {given: key for one in checkpoints if (given := text(one, "checkpoint_id")) and (key := text(one, "key"))}
    artifacts = {key: _artifact_names(one) for one in checkpoints if (key := text(one, "key"))}
    for checkpoint in checkpoints:
        _rename(items(checkpoint, "dependencies", NEEDS), keys)
        for _, reference in objects(checkpoint, "inputs", "include_checkpoint_outputs"):
            if named := text(reference, "checkpoint_id"):
                key = keys.get(named.lower(), named)
                reference["checkpoint_id"] = key
                _rename(items(reference, "artifact_ids"), artifacts.get(key, {}))


def _artifact_names(checkpoint: Document) -> dict[str, str]:
    artifacts = [artifact for _, artifact in objects(section(checkpoint, "output"), "artifacts")]
    return {given.lower(): name for a in artifacts if (given := text(a, "artifact_id")) and (name := text(a, "name"))}


def _rename(references: list[Value], names: dict[str, str]) -> None:
    for at, reference in enumerate(references):
        if isinstance(reference, str):
            references[at] = names.get(reference.lower(), reference)
