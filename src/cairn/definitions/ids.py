"""Ids, times and versions that the system gives: what stays the same thing keeps its id."""

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
    """Give every part its id: that of the same part in `old`, or (with `keep`) the one it brings, or a new one."""
    # Only an import keeps what it brings: otherwise an id would wander from one pipeline into another.
    document, before = new.document, old.document if old else {}
    _set_id(document, before, "pipeline_id", keep, new_id)
    for checkpoint, same in _pairs(document, before, ("checkpoints",), "checkpoint_id", ("key",)):
        _set_id(checkpoint, same, "checkpoint_id", keep, new_id)
        for part, twin, id_name in _parts(checkpoint, same):
            _set_id(part, twin, id_name, keep, new_id)
    document["checkpoint_order"] = [checkpoint["checkpoint_id"] for _, checkpoint in objects(document, "checkpoints")]
    return PipelineDefinition.parse(document)


def stamp(new: PipelineDefinition, old: PipelineDefinition | None, at: str) -> PipelineDefinition:
    """Set times and version, after the ids: what is the same as in `old` keeps them, so that no change stays none."""
    document, before = new.document, old.document if old else {}
    twins = {text(checkpoint, "checkpoint_id"): checkpoint for _, checkpoint in objects(before, "checkpoints")}
    for _, checkpoint in objects(document, "checkpoints"):
        _stamp(checkpoint, twins.get(text(checkpoint, "checkpoint_id"), {}), at)
    version = old.pipeline_definition_version or 1 if old else 1
    document["pipeline_definition_version"] = version + int(old is not None and is_structural(old, new))
    _stamp(document, before, at)
    return PipelineDefinition.parse(document)


def without_ids(definition: PipelineDefinition) -> PipelineDefinition:
    """The definition alone, as for a copy: no ids, times or versions."""
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
    """What a run counts on to stay as it is: which checkpoints there are, in which order."""
    return tuple(checkpoint.checkpoint_id or checkpoint.key for checkpoint in definition.checkpoints)


def is_structural(old: PipelineDefinition, new: PipelineDefinition) -> bool:
    """Were checkpoints added, removed or put in another order?"""
    return structure(old) != structure(new)


def _stamp(part: Document, same: Document, at: str) -> None:
    part["created_at"] = text(same, "created_at") or at
    part["updated_at"] = text(same, "updated_at") or at
    if canonical(part) != canonical(same):
        part["updated_at"] = at


def _parts(checkpoint: Document, same: Document) -> Iterator[tuple[Document, Document, str]]:
    """What has an id inside a checkpoint, each with the same part of the other one."""
    fields, agents = ("execution", "human_only_config", "input_fields"), ("execution", "agent_config", "agents")
    for part, twin in _pairs(checkpoint, same, ("output", "artifacts"), "artifact_id", ("name",)):
        yield part, twin, "artifact_id"
    for part, twin in _pairs(checkpoint, same, fields, "field_id", ("name",)):
        yield part, twin, "field_id"
    for part, twin in _pairs(checkpoint, same, agents, "agent_id", ("name", "library_agent")):
        yield part, twin, "agent_id"
    single = ("execution", "agent_config", "agent")
    if (only := section(checkpoint, *single)) or "agent" in section(checkpoint, *single[:-1]):
        yield only, section(same, *single), "agent_id"


def _pairs(
    new: Document, old: Document, way: tuple[str, ...], id_name: str, names: tuple[str, ...]
) -> Iterator[tuple[Document, Document]]:
    """Each part of a list with the same one of the old list: by id, then by name, each old one once."""
    left = [part for _, part in objects(old, *way)]
    parts = [part for _, part in objects(new, *way)]
    found: dict[int, Document] = {}
    for names_of in ((id_name,), names):
        for at, part in enumerate(parts):
            if at not in found and (called := _name(part, names_of)):
                twin = next((other for other in left if _name(other, names_of) == called), None)
                if twin is not None:
                    found[at] = twin
                    left.remove(twin)
    return ((part, found.get(at, {})) for at, part in enumerate(parts))


def _set_id(part: Document, same: Document, id_name: str, keep: bool, new_id: NewId) -> None:
    brought = text(part, id_name) if keep else None
    part[id_name] = text(same, id_name) or (brought or new_id()).lower()


def _name(part: Document, names: tuple[str, ...]) -> str | None:
    return next((found for name in names if (found := text(part, name))), None)
