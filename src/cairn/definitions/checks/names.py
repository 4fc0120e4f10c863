"""Keys, names and ids that stand for one thing only."""

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
    for name, word in _CHECKPOINTS:
        yield from _duplicates(objects(outline.document, "checkpoints"), "/checkpoints", name, "checkpoint", word)
    for step in outline.checkpoints:
        if step.key in RESERVED:
            message = f"the key {step.key!r} stands for the run's input; give the checkpoint another one"
            yield Finding(step.pointer("key"), message)
        for way, what, names in _LISTS:
            for name, word in names:
                yield from _duplicates(objects(step.document, *way), step.pointer(*way), name, what, word)


def _duplicates(parts: list[tuple[int, Document]], holder: str, name: str, what: str, word: str) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for at, part in parts:
        called = (text(part, name) or "").strip()
        if called and called in first:
            place = child(child(holder, at), name)
            other = join((*holder.split("/")[1:], first[called]))
            yield Finding(place, f"two {what}s have the {word} {called!r}: this one and {other}")
        first.setdefault(called, at)
