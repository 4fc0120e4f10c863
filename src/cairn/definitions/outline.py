"""A definition as the checks see it: what is well formed of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import cast

from cairn.core.plan import Checkpoint, Plan
from cairn.definitions.authoring.references import NEEDS
from cairn.definitions.frozen_model import Document, JsonSchema
from cairn.definitions.raw_document import objects, text, texts
from cairn.documents import Value
from cairn.documents.pointers import join


@dataclass(frozen=True)
class CheckpointOutline:
    """One checkpoint that has a key."""

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
    def __init__(self, document: Value, ill_formed: Collection[str] = ()) -> None:
        self.document = document
        self._ill_formed = ill_formed
        checkpoints = objects(document, "checkpoints")
        self.checkpoints = [
            CheckpointOutline(at, key, checkpoint) for at, checkpoint in checkpoints if (key := text(checkpoint, "key"))
        ]

    def is_well_formed(self, path: str) -> bool:
        """Did the schema find nothing wrong there?"""
        return not any(place == path or place.startswith(f"{path}/") for place in self._ill_formed)

    def schema(self, path: str, value: Value) -> JsonSchema | None:
        """The JSON Schema that stands there, if it is one."""
        return cast("JsonSchema", value) if isinstance(value, dict | bool) and self.is_well_formed(path) else None

    @cached_property
    def by_key(self) -> dict[str, CheckpointOutline]:
        """The first of each key."""
        return {step.key: step for step in reversed(self.checkpoints)}

    @cached_property
    def completed_before(self) -> dict[str, frozenset[str]]:
        """For each key, what is certain to be complete when it starts: what it waits for, and what that waited for."""
        found: dict[str, frozenset[str]] = {}
        for step in sorted(self.by_key.values(), key=lambda step: step.position):
            needed = self._needed[step.key]
            found[step.key] = needed.union(*(found.get(need, frozenset()) for need in needed))
        return found

    def comes_before(self, key: str, step: CheckpointOutline) -> bool:
        return key in self.by_key and self.by_key[key].position < step.position

    @cached_property
    def _needed(self) -> dict[str, frozenset[str]]:
        """As the run itself reads it, without the needs that are faults of their own."""
        plan = Plan(
            tuple(
                Checkpoint(
                    key=step.key,
                    position=step.position,
                    stage=step.stage,
                    needs=tuple(need for _, need in step.needs if self.comes_before(need, step)),
                )
                for step in sorted(self.by_key.values(), key=lambda step: step.position)
            )
        )
        return plan.prerequisites


def unknown_name(what: str, name: str, known: Collection[str]) -> str:
    """That something does not exist, and what may have been meant."""
    if close := get_close_matches(name, known, n=1):
        return f"there is no {what} {name!r}: did you mean {close[0]!r}?"
    return f"there is no {what} {name!r}" + (f"; there are {', '.join(map(repr, known))}" if known else "")
