"""Edits of definitions: pure functions from the full document to a new one, which is checked afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from cairn.definitions import PipelineDefinition, apply_patch
from cairn.documents import digest
from cairn.services.errors import InvalidInput

Document: TypeAlias = dict[str, Any]
Edit: TypeAlias = Callable[[Document], Document]

SYSTEM_FIELDS = ("pipeline_id", "pipeline_definition_version", "created_at", "updated_at")


def editable_document(definition: PipelineDefinition) -> Document:
    """The stored document without the fields that Cairn sets."""
    document = cast("Document", definition.document)
    return {name: value for name, value in document.items() if name not in SYSTEM_FIELDS}


def merge(changes: Mapping[str, Any]) -> Edit:
    """Replace the given fields. `checkpoints` replaces all checkpoints."""

    def edit(old: Document) -> Document:
        if "checkpoints" in changes and "checkpoint_order" not in changes:
            old.pop("checkpoint_order", None)
        return {**old, **{name: value for name, value in changes.items() if name not in SYSTEM_FIELDS}}

    return edit


def replace(document: Mapping[str, Any]) -> Edit:
    return lambda _: {name: value for name, value in document.items() if name not in SYSTEM_FIELDS}


def add(checkpoint: Mapping[str, Any], position: int | None) -> Edit:
    def edit(old: Document) -> Document:
        checkpoints = list(old["checkpoints"])
        checkpoints.insert(len(checkpoints) if position is None else position, dict(checkpoint))
        return _with_checkpoints(old, checkpoints)

    return edit


def update(checkpoint_id: str, changes: Mapping[str, Any]) -> Edit:
    """Replace the given fields of a checkpoint."""

    def edit(old: Document) -> Document:
        def updated(c: Document) -> Document:
            return {**apply_patch(c, dict(changes)), "checkpoint_id": checkpoint_id}

        return _with_checkpoints(
            old, [updated(c) if c["checkpoint_id"] == checkpoint_id else c for c in old["checkpoints"]]
        )

    return edit


def remove(checkpoint_id: str) -> Edit:
    return lambda old: _with_checkpoints(old, [c for c in old["checkpoints"] if c["checkpoint_id"] != checkpoint_id])


def reorder(order: Sequence[str]) -> Edit:
    """`order` contains the id or the key of each checkpoint once."""

    def edit(old: Document) -> Document:
        by_name = {name: c for c in old["checkpoints"] for name in (c["checkpoint_id"], c["key"])}
        unknown = [name for name in order if name not in by_name]
        ids = [by_name[name]["checkpoint_id"] for name in order if name in by_name]
        missing = [c["key"] for c in old["checkpoints"] if c["checkpoint_id"] not in ids]
        problems = [f"unknown: {', '.join(unknown)}"] if unknown else []
        problems += [f"missing: {', '.join(missing)}"] if missing else []
        problems += ["a checkpoint is listed twice"] if len(set(ids)) != len(ids) else []
        if problems:
            raise InvalidInput([("/checkpoint_order", f"List every checkpoint once ({'; '.join(problems)}).")])
        return _with_checkpoints(old, [by_name[checkpoint_id] for checkpoint_id in ids])

    return edit


def write_script(path: str, text: str) -> Edit:
    return lambda old: {**old, "scripts": {**old.get("scripts", {}), path: text}}


def remove_script(path: str) -> Edit:
    return lambda old: {**old, "scripts": {name: text for name, text in old.get("scripts", {}).items() if name != path}}


def _with_checkpoints(old: Document, checkpoints: list[Any]) -> Document:
    others = {name: value for name, value in old.items() if name != "checkpoint_order"}
    return {**others, "checkpoints": checkpoints}


def is_same(old: PipelineDefinition, new: PipelineDefinition) -> bool:
    """Whether the definitions are equal except for their times."""
    return digest(_without_times(old)) == digest(_without_times(new))


def _without_times(definition: PipelineDefinition) -> Document:
    document = editable_document(definition)
    times = ("created_at", "updated_at")
    checkpoints = [{name: v for name, v in c.items() if name not in times} for c in document["checkpoints"]]
    return {**document, "checkpoints": checkpoints, "checkpoint_order": None}


def keys(definition: PipelineDefinition) -> list[str]:
    return [c.key for c in definition.checkpoints]
