"""Differences between two definitions, as a list of changes or as a text diff."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from cairn.definitions.authoring.yaml_export import NO_SCRIPTS, to_yaml
from cairn.definitions.frozen_model import Document
from cairn.definitions.model import CheckpointDefinition, PipelineDefinition
from cairn.definitions.raw_document import text
from cairn.documents import Value, canonical
from cairn.documents.pointers import child, join

# Fields that Cairn sets, and fields that are compared separately.
_NOT_AUTHORED = frozenset(
    {"pipeline_definition_version", "created_at", "updated_at", "checkpoint_order", "checkpoints"}
)
_IDS = ("artifact_id", "field_id", "agent_id")


class ChangeKind(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"  # to another position in the list


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `path` points into the new definition, or into the old one if the part was removed."""

    path: str
    kind: ChangeKind
    before: Value = None
    after: Value = None


def diff(old: PipelineDefinition, new: PipelineDefinition) -> list[Change]:
    """All differences in the fields that authors write. Checkpoints are matched by id, or else by key."""
    return [*_compare(_authored(old), _authored(new), ""), *_compare_checkpoints(old, new)]


def text_diff(
    old: PipelineDefinition,
    new: PipelineDefinition,
    names: tuple[str, str] = ("before", "after"),
    scripts: tuple[Mapping[str, str], Mapping[str, str]] = (NO_SCRIPTS, NO_SCRIPTS),
) -> str:
    """A unified diff of both definitions as YAML, with their scripts. Empty if no field that authors write differs."""
    lines = (
        to_yaml(version, texts).splitlines(keepends=True) for version, texts in zip((old, new), scripts, strict=True)
    )
    return "".join(difflib.unified_diff(*lines, fromfile=names[0], tofile=names[1]))


def _compare_checkpoints(old: PipelineDefinition, new: PipelineDefinition) -> Iterator[Change]:
    before = {_name(checkpoint): index for index, checkpoint in enumerate(old.checkpoints)}
    after = {_name(checkpoint): index for index, checkpoint in enumerate(new.checkpoints)}
    unmoved = _unmoved([name for name in before if name in after], [name for name in after if name in before])
    for name, index in before.items():
        if name not in after:
            yield Change(join(("checkpoints", index)), ChangeKind.REMOVED, before=_authored(old.checkpoints[index]))
    for name, index in after.items():
        path, authored = join(("checkpoints", index)), _authored(new.checkpoints[index])
        if name not in before:
            yield Change(path, ChangeKind.ADDED, after=authored)
            continue
        if name not in unmoved:
            yield Change(path, ChangeKind.MOVED, before[name], index)
        yield from _compare(_authored(old.checkpoints[before[name]]), authored, path)


def _compare(before: Value, after: Value, path: str) -> Iterator[Change]:
    if canonical(before) == canonical(after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            pointer = child(path, key)
            if key not in after:
                yield Change(pointer, ChangeKind.REMOVED, before=before[key])
            elif key not in before:
                yield Change(pointer, ChangeKind.ADDED, after=after[key])
            else:
                yield from _compare(before[key], after[key], pointer)
    elif isinstance(before, list) and isinstance(after, list) and (ids := _ids(before)) and (new_ids := _ids(after)):
        yield from _compare_parts(dict(zip(ids, before, strict=True)), dict(zip(new_ids, after, strict=True)), path)
    else:
        yield Change(path, ChangeKind.CHANGED, before, after)


def _compare_parts(before: dict[str, Value], after: dict[str, Value], path: str) -> Iterator[Change]:
    """Compare artifacts, fields or agents. They are matched by id."""
    unmoved = _unmoved([name for name in before if name in after], [name for name in after if name in before])
    for index, (name, part) in enumerate(before.items()):
        if name not in after:
            yield Change(child(path, index), ChangeKind.REMOVED, before=part)
    for index, (name, part) in enumerate(after.items()):
        if name not in before:
            yield Change(child(path, index), ChangeKind.ADDED, after=part)
            continue
        if name not in unmoved:
            yield Change(child(path, index), ChangeKind.MOVED, list(before).index(name), index)
        yield from _compare(before[name], part, child(path, index))


def _unmoved(before: list[str], after: list[str]) -> set[str]:
    """The names that are still in the same order. All others have moved."""
    blocks = difflib.SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    return {name for block in blocks for name in before[block.a : block.a + block.size]}


def _ids(parts: list[Value]) -> list[str] | None:
    """The ids of the parts, or None if any part has no unique id."""
    found = [name for part in parts if (name := next(filter(None, (text(part, key) for key in _IDS)), None))]
    return found if len(found) == len(parts) == len(set(found)) else None


def _name(checkpoint: CheckpointDefinition) -> str:
    return checkpoint.checkpoint_id or checkpoint.key


def _authored(part: PipelineDefinition | CheckpointDefinition) -> Document:
    return {key: value for key, value in part.document.items() if key not in _NOT_AUTHORED}
