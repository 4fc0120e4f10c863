"""What an edit makes of a definition: pure, from the full form to a document that is then checked as a whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from cairn.definitions import PipelineDefinition, apply_patch
from cairn.documents import digest
from cairn.services.errors import InvalidInput

Full: TypeAlias = dict[str, Any]
Edit: TypeAlias = Callable[[Full], Full]

GIVEN_BY_SYSTEM = ("pipeline_id", "pipeline_definition_version", "created_at", "updated_at")


def full(definition: PipelineDefinition) -> Full:
    """The document that is stored, without what the system gives."""
    document = cast("Full", definition.document)
    return {name: value for name, value in document.items() if name not in GIVEN_BY_SYSTEM}


def merge(changes: Mapping[str, Any]) -> Edit:
    """Fields that are left out stay as they are; `checkpoints`, where given, are all of them from now on."""

    def edit(old: Full) -> Full:
        if "checkpoints" in changes and "checkpoint_order" not in changes:
            old.pop("checkpoint_order", None)
        return {**old, **{name: value for name, value in changes.items() if name not in GIVEN_BY_SYSTEM}}

    return edit


def become(document: Mapping[str, Any]) -> Edit:
    return lambda _: {name: value for name, value in document.items() if name not in GIVEN_BY_SYSTEM}


def add(checkpoint: Mapping[str, Any], position: int | None) -> Edit:
    def edit(old: Full) -> Full:
        checkpoints = list(old["checkpoints"])
        checkpoints.insert(len(checkpoints) if position is None else position, dict(checkpoint))
        return _with(old, checkpoints)

    return edit


def change(checkpoint_id: str, changes: Mapping[str, Any]) -> Edit:
    """Fields of the checkpoint that are left out stay as they are."""

    def edit(old: Full) -> Full:
        def changed(c: Full) -> Full:
            return {**apply_patch(c, dict(changes)), "checkpoint_id": checkpoint_id}

        return _with(old, [changed(c) if c["checkpoint_id"] == checkpoint_id else c for c in old["checkpoints"]])

    return edit


def remove(checkpoint_id: str) -> Edit:
    return lambda old: _with(old, [c for c in old["checkpoints"] if c["checkpoint_id"] != checkpoint_id])


def reorder(order: Sequence[str]) -> Edit:
    """By ids or keys; each checkpoint has to be named once."""

    def edit(old: Full) -> Full:
        named = {name: c for c in old["checkpoints"] for name in (c["checkpoint_id"], c["key"])}
        unknown = [name for name in order if name not in named]
        ids = [named[name]["checkpoint_id"] for name in order if name in named]
        missing = [c["key"] for c in old["checkpoints"] if c["checkpoint_id"] not in ids]
        told = [f"unknown: {', '.join(unknown)}"] if unknown else []
        told += [f"missing: {', '.join(missing)}"] if missing else []
        told += ["one is named twice"] if len(set(ids)) != len(ids) else []
        if told:
            raise InvalidInput([("/checkpoint_order", f"Name every checkpoint once ({'; '.join(told)}).")])
        return _with(old, [named[one] for one in ids])

    return edit


def put_script(path: str, text: str) -> Edit:
    return lambda old: {**old, "scripts": {**old.get("scripts", {}), path: text}}


def remove_script(path: str) -> Edit:
    return lambda old: {**old, "scripts": {one: file for one, file in old.get("scripts", {}).items() if one != path}}


def _with(old: Full, checkpoints: list[Any]) -> Full:
    kept = {name: value for name, value in old.items() if name != "checkpoint_order"}
    return {**kept, "checkpoints": checkpoints}


def is_same(old: PipelineDefinition, new: PipelineDefinition) -> bool:
    """Whether they say the same, whenever they were said."""
    return digest(_meaning(old)) == digest(_meaning(new))


def _meaning(definition: PipelineDefinition) -> Full:
    document = full(definition)
    times = ("created_at", "updated_at")
    checkpoints = [{name: v for name, v in c.items() if name not in times} for c in document["checkpoints"]]
    return {**document, "checkpoints": checkpoints, "checkpoint_order": None}


def keys(definition: PipelineDefinition) -> list[str]:
    return [c.key for c in definition.checkpoints]
