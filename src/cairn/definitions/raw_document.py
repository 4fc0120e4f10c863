"""Read values from an unchecked document. A value of the wrong type counts as missing."""

from __future__ import annotations

from cairn.definitions.frozen_model import Document
from cairn.documents import Value


def get(holder: Value, *path: str) -> Value:
    for part in path:
        holder = holder.get(part) if isinstance(holder, dict) else None
    return holder


def section(holder: Value, *path: str) -> Document:
    """The object at the path, or an empty one."""
    found = get(holder, *path)
    return found if isinstance(found, dict) else {}


def items(holder: Value, *path: str) -> list[Value]:
    found = get(holder, *path)
    return found if isinstance(found, list) else []


def objects(holder: Value, *path: str) -> list[tuple[int, Document]]:
    """The objects in the list at the path, with their indexes."""
    return [(index, item) for index, item in enumerate(items(holder, *path)) if isinstance(item, dict)]


def texts(holder: Value, *path: str) -> list[tuple[int, str]]:
    """The strings in the list at the path, with their indexes."""
    return [(index, item) for index, item in enumerate(items(holder, *path)) if isinstance(item, str)]


def text(holder: Value, *path: str) -> str | None:
    found = get(holder, *path)
    return found if isinstance(found, str) else None
