"""Check that keys, names and ids are unique."""

from __future__ import annotations

from collections.abc import Iterator

from cairn.definitions.authoring.slugs import RESERVED
from cairn.definitions.findings import Finding
from cairn.definitions.frozen_model import Document
from cairn.definitions.outline import DefinitionOutline
from cairn.definitions.raw_document import objects, text
from cairn.documents.pointers import child, join

_CHECKPOINTS = (("key", "key"), ("checkpoint_name", "name"), ("checkpoint_id", "id"))
_LISTS = (
    (("output", "artifacts"), "artifact", (("name", "name"), ("artifact_id", "id"))),
    (("execution", "human_only_config", "input_fields"), "field", (("name", "name"), ("field_id", "id"))),
    (("execution", "agent_config", "agents"), "agent", (("name", "name"), ("agent_id", "id"))),
)


def check_names(outline: DefinitionOutline) -> Iterator[Finding]:
    for field, label in _CHECKPOINTS:
        parts = objects(outline.document, "checkpoints")
        yield from _duplicates(parts, "/checkpoints", field, f"checkpoint {label}")
    for checkpoint in outline.checkpoints:
        if checkpoint.key in RESERVED:
            message = f"the key {checkpoint.key!r} is reserved for the run's input: choose another key"
            yield Finding(checkpoint.pointer("key"), message)
        for path, noun, fields in _LISTS:
            for field, label in fields:
                parts = objects(checkpoint.document, *path)
                yield from _duplicates(parts, checkpoint.pointer(*path), field, f"{noun} {label}")


def _duplicates(parts: list[tuple[int, Document]], holder: str, field: str, noun: str) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for index, part in parts:
        value = (text(part, field) or "").strip()
        if value and value in first:
            other = join((*holder.split("/")[1:], first[value]))
            yield Finding(child(child(holder, index), field), f"duplicate {noun} {value!r}, also used by {other}")
        first.setdefault(value, index)
