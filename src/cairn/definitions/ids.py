"""Assign ids, times and versions. A part keeps its id when the definition changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from cairn.definitions.frozen_model import Document
from cairn.definitions.model import PipelineDefinition
from cairn.definitions.raw_document import objects, section, text
from cairn.documents import canonical

NewId: TypeAlias = Callable[[], str]

PIPELINE_SYSTEM = ("pipeline_id", "pipeline_definition_version", "created_at", "updated_at")
CHECKPOINT_SYSTEM = ("checkpoint_id", "created_at", "updated_at")


def assign_ids(
    new: PipelineDefinition, old: PipelineDefinition | None, new_id: NewId, *, keep: bool = False
) -> PipelineDefinition:
    """Give each part the id of the same part in `old`, otherwise a new one, or with `keep` its own.

    Only imports keep the ids of the document. Otherwise, an id could be copied from one pipeline to another.
    """
    document, before = new.document, old.document if old else {}
    _set_id(document, before, "pipeline_id", keep, new_id)
    for checkpoint, old_checkpoint in _pairs(document, before, ("checkpoints",), "checkpoint_id", ("key",)):
        _set_id(checkpoint, old_checkpoint, "checkpoint_id", keep, new_id)
        for part, old_part, id_name in _parts(checkpoint, old_checkpoint):
            _set_id(part, old_part, id_name, keep, new_id)
    document["checkpoint_order"] = [checkpoint["checkpoint_id"] for _, checkpoint in objects(document, "checkpoints")]
    return PipelineDefinition.parse(document)


def stamp(new: PipelineDefinition, old: PipelineDefinition | None, at: str) -> PipelineDefinition:
    """Set times and version, once the ids are assigned. Unchanged parts keep their times."""
    document, before = new.document, old.document if old else {}
    old_by_id = {text(checkpoint, "checkpoint_id"): checkpoint for _, checkpoint in objects(before, "checkpoints")}
    for _, checkpoint in objects(document, "checkpoints"):
        _stamp(checkpoint, old_by_id.get(text(checkpoint, "checkpoint_id"), {}), at)
    version = old.pipeline_definition_version or 1 if old else 1
    document["pipeline_definition_version"] = version + int(old is not None and is_structural(old, new))
    _stamp(document, before, at)
    return PipelineDefinition.parse(document)


def without_ids(definition: PipelineDefinition) -> PipelineDefinition:
    """The definition without ids, times and versions."""
    document = definition.document
    for name in (*PIPELINE_SYSTEM, "checkpoint_order"):
        document.pop(name, None)
    for _, checkpoint in objects(document, "checkpoints"):
        for name in CHECKPOINT_SYSTEM:
            checkpoint.pop(name, None)
        for part, _, id_name in _parts(checkpoint, {}):
            part.pop(id_name, None)
    return PipelineDefinition.parse(document)


def structure(definition: PipelineDefinition) -> tuple[str, ...]:
    """The checkpoints in order. A run started with one structure cannot continue with another."""
    return tuple(checkpoint.checkpoint_id or checkpoint.key for checkpoint in definition.checkpoints)


def is_structural(old: PipelineDefinition, new: PipelineDefinition) -> bool:
    """Whether checkpoints were added, removed or reordered."""
    return structure(old) != structure(new)


def _stamp(part: Document, old: Document, at: str) -> None:
    part["created_at"] = text(old, "created_at") or at
    part["updated_at"] = text(old, "updated_at") or at
    if canonical(part) != canonical(old):
        part["updated_at"] = at


def _parts(checkpoint: Document, old: Document) -> Iterator[tuple[Document, Document, str]]:
    """The parts of a checkpoint that have ids, each paired with the same part of the old checkpoint."""
    fields, agents = ("execution", "human_only_config", "input_fields"), ("execution", "agent_config", "agents")
    for part, old_part in _pairs(checkpoint, old, ("output", "artifacts"), "artifact_id", ("name",)):
        yield part, old_part, "artifact_id"
    for part, old_part in _pairs(checkpoint, old, fields, "field_id", ("name",)):
        yield part, old_part, "field_id"
    for part, old_part in _pairs(checkpoint, old, agents, "agent_id", ("name", "library_agent")):
        yield part, old_part, "agent_id"
    single = ("execution", "agent_config", "agent")
    if (only := section(checkpoint, *single)) or "agent" in section(checkpoint, *single[:-1]):
        yield only, section(old, *single), "agent_id"


def _pairs(
    new: Document, old: Document, path: tuple[str, ...], id_name: str, names: tuple[str, ...]
) -> Iterator[tuple[Document, Document]]:
    """Pair each part of a list with its part of the old list, by id or name. Each old part is used once."""
    unmatched = [part for _, part in objects(old, *path)]
    parts = [part for _, part in objects(new, *path)]
    found: dict[int, Document] = {}
    for fields in ((id_name,), names):
        for index, part in enumerate(parts):
            if index not in found and (name := _first_text(part, fields)):
                old_part = next((other for other in unmatched if _first_text(other, fields) == name), None)
                if old_part is not None:
                    found[index] = old_part
                    unmatched.remove(old_part)
    return ((part, found.get(index, {})) for index, part in enumerate(parts))


def _set_id(part: Document, old: Document, id_name: str, keep: bool, new_id: NewId) -> None:
    own_id = text(part, id_name) if keep else None
    part[id_name] = text(old, id_name) or (own_id or new_id()).lower()


def _first_text(part: Document, fields: tuple[str, ...]) -> str | None:
    return next((found for field in fields if (found := text(part, field))), None)
