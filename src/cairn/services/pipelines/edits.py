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


def merge(pipeline_id: str, changes: Mapping[str, Any]) -> Edit:
    """Replace the given fields. `checkpoints` replaces all checkpoints."""

    def edit(old: Document) -> Document:
        _refuse_changes({"pipeline_id": pipeline_id}, changes)
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


def update(pipeline_id: str, checkpoint_id: str, changes: Mapping[str, Any]) -> Edit:
    """Replace the given fields of a checkpoint. Fields that Cairn sets must keep their values."""

    def edit(old: Document) -> Document:
        checkpoints = list(old["checkpoints"])
        position = next(at for at, c in enumerate(checkpoints) if c["checkpoint_id"] == checkpoint_id)
        current = checkpoints[position]
        fixed = {"pipeline_id": pipeline_id, "checkpoint_id": checkpoint_id, "position": position}
        _refuse_changes(fixed, changes)
        absent = {name for name, value in changes.items() if value is None and name not in current}
        requested = {name: value for name, value in changes.items() if name not in fixed and name not in absent}
        checkpoints[position] = apply_patch(current, _with_one_list_of_needs(current, requested))
        return _with_checkpoints(old, checkpoints)

    return edit


_REMEDIES = {"position": " Change the order of the checkpoints instead."}


def _refuse_changes(fixed: Mapping[str, Any], changes: Mapping[str, Any]) -> None:
    errors = [
        (f"/{name}", f"Expected {value!r}: it can't be changed here.{_REMEDIES.get(name, '')}")
        for name, value in fixed.items()
        if name in changes and changes[name] != value
    ]
    if errors:
        raise InvalidInput(errors)


def _with_one_list_of_needs(current: Document, changes: Document) -> Document:
    """Drop the copy of `needs` that didn't change: responses contain the list twice."""
    if not {"needs", "dependencies"} <= changes.keys():
        return changes
    before = _required(current)
    if changes["needs"] in (before, _required(changes)):
        return {name: value for name, value in changes.items() if name != "needs"}
    if _required(changes) == before:
        return {**changes, "dependencies": {**changes["dependencies"], "required_checkpoint_ids": list[Any]()}}
    message = "Contradicts `dependencies.required_checkpoint_ids`. Send only one of them."
    raise InvalidInput([("/needs", message)])


def _required(checkpoint: Document) -> Any:
    dependencies: Any = checkpoint.get("dependencies", {})
    return cast("Document", dependencies).get("required_checkpoint_ids", []) if isinstance(dependencies, dict) else []


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
