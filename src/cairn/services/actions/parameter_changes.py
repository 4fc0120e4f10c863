"""What people have changed in an action's parameters, field by field (H3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from cairn.documents import Value, digest
from cairn.documents.pointers import join

ABSENT: Any = object()


def changes(original: Value, modified: Value, path: tuple[str | int, ...] = ()) -> Iterator[dict[str, Any]]:
    """Fields that differ. `change_type` is added, removed or updated; of numbers also by how much."""
    if isinstance(original, dict) and isinstance(modified, dict):
        for name in (*original, *(name for name in modified if name not in original)):
            before, after = original.get(name, ABSENT), modified.get(name, ABSENT)
            if before is ABSENT or after is ABSENT:
                yield _change((*path, name), before, after)
            else:
                yield from changes(before, after, (*path, name))
    elif digest(original) != digest(modified):
        yield _change(path, original, modified)


def _change(path: tuple[str | int, ...], before: Any, after: Any) -> dict[str, Any]:
    kind = "added" if before is ABSENT else "removed" if after is ABSENT else "updated"
    change: dict[str, Any] = {
        "field": ".".join(str(part) for part in path),
        "path": join(list(path)),
        "original": None if before is ABSENT else before,
        "modified": None if after is ABSENT else after,
        "change_type": kind,
    }
    if _is_number(before) and _is_number(after):
        change["difference"] = round(after - before, 10)
    return change


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def merge(original: Value, patch: dict[str, Any]) -> dict[str, Any]:
    """The parameters with those that are given in place of theirs; null takes an optional one away."""
    merged = dict(cast("dict[str, Any]", original) if isinstance(original, dict) else {})
    for name, value in patch.items():
        if value is None and merged.get(name, ABSENT) is not None:
            merged.pop(name, None)
        else:
            merged[name] = value
    return merged
