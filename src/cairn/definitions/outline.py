"""The valid parts of a definition, as the checks read them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import cast

from cairn.core.plan import Checkpoint, Plan
from cairn.definitions.authoring.references import NEEDS
from cairn.definitions.frozen_model import Document, JsonSchema
from cairn.definitions.json_schema.messages import one_of
from cairn.definitions.raw_document import objects, text, texts
from cairn.documents import Value
from cairn.documents.pointers import join


@dataclass(frozen=True)
class CheckpointOutline:
    """A checkpoint that has a key."""

    position: int
    key: str
    document: Document

    def pointer(self, *parts: str | int) -> str:
        return join(("checkpoints", self.position, *parts))

    @property
    def stage(self) -> str:
        return text(self.document, "stage") or self.key

    @property
    def needs(self) -> list[tuple[int, str]]:
        return texts(self.document, "dependencies", NEEDS)

    @property
    def decides(self) -> bool:
        return self.document.get("decides") is True

    @property
    def mode(self) -> str | None:
        return text(self.document, "execution", "mode")


class DefinitionOutline:
    def __init__(self, document: Value, invalid_paths: Collection[str] = ()) -> None:
        self.document = document
        self._invalid_paths = invalid_paths
        checkpoints = objects(document, "checkpoints")
        self.checkpoints = [
            CheckpointOutline(index, key, checkpoint)
            for index, checkpoint in checkpoints
            if (key := text(checkpoint, "key"))
        ]

    def is_valid(self, path: str) -> bool:
        """Whether the shape check found no error at or below the path."""
        return not any(invalid == path or invalid.startswith(f"{path}/") for invalid in self._invalid_paths)

    def schema(self, path: str, value: Value) -> JsonSchema | None:
        """The value at the path, if it is a valid JSON Schema."""
        return cast("JsonSchema", value) if isinstance(value, dict | bool) and self.is_valid(path) else None

    @cached_property
    def by_key(self) -> dict[str, CheckpointOutline]:
        """The first checkpoint of each key."""
        return {checkpoint.key: checkpoint for checkpoint in reversed(self.checkpoints)}

    @cached_property
    def completed_before(self) -> dict[str, frozenset[str]]:
        """For each key, the checkpoints that are certainly completed when it starts."""
        found: dict[str, frozenset[str]] = {}
        for checkpoint in sorted(self.by_key.values(), key=lambda checkpoint: checkpoint.position):
            needs = self._prerequisites[checkpoint.key]
            found[checkpoint.key] = needs.union(*(found.get(need, frozenset()) for need in needs))
        return found

    def is_before(self, key: str, checkpoint: CheckpointOutline) -> bool:
        return key in self.by_key and self.by_key[key].position < checkpoint.position

    @cached_property
    def _prerequisites(self) -> dict[str, frozenset[str]]:
        """The direct prerequisites of each checkpoint, computed as in a run, without invalid needs."""
        plan = Plan(
            tuple(
                Checkpoint(
                    key=checkpoint.key,
                    position=checkpoint.position,
                    stage=checkpoint.stage,
                    needs=tuple(need for _, need in checkpoint.needs if self.is_before(need, checkpoint)),
                )
                for checkpoint in sorted(self.by_key.values(), key=lambda checkpoint: checkpoint.position)
            )
        )
        return plan.prerequisites


def unknown_name(noun: str, name: str, known: Collection[str]) -> str:
    """A message that suggests a similar name or lists the known ones."""
    if close := get_close_matches(name, known, n=1):
        return f"unknown {noun} {name!r}: did you mean {close[0]!r}?"
    return f"unknown {noun} {name!r}" + (f": use {one_of(map(repr, known))}" if known else "")


def unknown_server(name: str, known: Collection[str]) -> str:
    message = unknown_name("MCP server", name, sorted(known))
    return f"{message} (admins add servers with the setting mcp_servers)"
