"""Expand an author's document to the full form: short forms, keys, order, references and defaults."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

from cairn.definitions.authoring.defaults import declare_form_artifact, fill_checkpoint, fill_pipeline
from cairn.definitions.authoring.references import apply_order, merge_needs, use_keys
from cairn.definitions.authoring.short_forms import expand_short_forms
from cairn.definitions.authoring.slugs import key_for, name_for
from cairn.definitions.authoring.source_map import SourcePointers
from cairn.definitions.findings import DefinitionError, Finding
from cairn.definitions.frozen_model import Document
from cairn.definitions.raw_document import items, objects, text
from cairn.definitions.script_files import replace_texts
from cairn.documents import Value
from cairn.documents.pointers import join

NOT_AN_OBJECT = "expected an object with at least pipeline_name"


@dataclass(frozen=True, slots=True)
class Expansion:
    """The full form of a document, with the origins of its parts and the findings."""

    document: Value
    origins: SourcePointers
    findings: tuple[Finding, ...] = ()


def expand(document: Value) -> Document:
    """The full form. Invalid parts stay unchanged, and `check` reports them."""
    expansion = expand_tracked(document)
    if expansion.findings:
        raise DefinitionError(expansion.findings)
    if not isinstance(expansion.document, dict):
        raise DefinitionError([Finding("", NOT_AN_OBJECT)])
    return expansion.document


def expand_tracked(document: Value) -> Expansion:
    """The full form of any value, with the origins of its parts in the author's document."""
    origins = SourcePointers()
    if not isinstance(document, dict):
        return Expansion(document, origins)
    pipeline = deepcopy(document)
    pipeline.pop("$schema", None)
    findings: list[Finding] = []
    if listed := items(pipeline, "checkpoints"):
        _add_names([checkpoint for _, checkpoint in objects(pipeline, "checkpoints")])
        order = apply_order(pipeline, findings)
        checkpoints = [
            _checkpoint(listed[index], position, index, origins, findings) for position, index in enumerate(order)
        ]
        pipeline["checkpoints"] = checkpoints
        use_keys(pipeline)
    replace_texts(pipeline)
    fill_pipeline(pipeline)
    return Expansion(pipeline, origins, tuple(findings))


def _add_names(checkpoints: list[Document]) -> None:
    """Give each checkpoint a key and a name, and convert ids to lower case."""
    keys = {key for checkpoint in checkpoints if (key := text(checkpoint, "key"))}
    names = {name for checkpoint in checkpoints if (name := text(checkpoint, "checkpoint_name"))}
    for checkpoint in checkpoints:
        if checkpoint_id := text(checkpoint, "checkpoint_id"):
            checkpoint["checkpoint_id"] = checkpoint_id.lower()
        if "key" not in checkpoint:
            checkpoint["key"] = key_for(text(checkpoint, "checkpoint_name") or "", keys)
            keys.add(checkpoint["key"])
        if "checkpoint_name" not in checkpoint and (key := text(checkpoint, "key")):
            checkpoint["checkpoint_name"] = name_for(key, names)
            names.add(checkpoint["checkpoint_name"])


def _checkpoint(short: Value, position: int, index: int, origins: SourcePointers, findings: list[Finding]) -> Value:
    """Expand the checkpoint at `index` of the author's document, which has this position in the full form."""
    target, source = join(("checkpoints", position)), join(("checkpoints", index))
    if target != source:
        origins.move(target, source)
    if not isinstance(short, dict):
        return short
    checkpoint, found = expand_short_forms(short, origins, target, source)
    findings.extend(found)
    merge_needs(checkpoint, origins, target, source)
    if declare_form_artifact(checkpoint):
        name = origins.source(f"{target}/execution/human_only_config/artifact_name")
        origins.move(f"{target}/output/artifacts/0", name)
    fill_checkpoint(checkpoint)
    return checkpoint
