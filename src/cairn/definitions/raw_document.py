"""Looking into a document that may be wrong anywhere: what is not of the kind asked for is not there."""

from __future__ import annotations

from cairn.definitions.frozen_model import Document
from cairn.documents import Value


def get(holder: Value, *way: str) -> Value:
    for part in way:
        holder = holder.get(part) if isinstance(holder, dict) else None
    return holder


def section(holder: Value, *way: str) -> Document:
    """The object there; an empty one if there is none."""
    found = get(holder, *way)
    return found if isinstance(found, dict) else {}


def items(holder: Value, *way: str) -> list[Value]:
    found = get(holder, *way)
    return found if isinstance(found, list) else []


def objects(holder: Value, *way: str) -> list[tuple[int, Document]]:
    """The objects of the list there, with their positions."""
    return [(at, item) for at, item in enumerate(items(holder, *way)) if isinstance(item, dict)]


def texts(holder: Value, *way: str) -> list[tuple[int, str]]:
    """The texts of the list there, with their positions."""
    return [(at, item) for at, item in enumerate(items(holder, *way)) if isinstance(item, str)]


def text(holder: Value, *way: str) -> str | None:
    found = get(holder, *way)
    return found if isinstance(found, str) else None
