"""Where each part of the full form comes from in what the author wrote."""

from __future__ import annotations

from dataclasses import dataclass, field

from cairn.documents import Value
from cairn.documents.pointers import nearest, parent


@dataclass(slots=True)
class SourcePointers:
    """Places that were moved, by their JSON pointer in the full form. What was not moved stands where it stood."""

    moved: dict[str, str] = field(default_factory=dict[str, str])

    def move(self, target: str, source: str) -> None:
        self.moved[target] = source

    def source(self, pointer: str) -> str:
        """Where it came from, if it was written at all."""
        outer = pointer
        while outer and outer not in self.moved:
            outer = parent(outer)
        return self.moved.get(outer, outer) + pointer[len(outer) :]

    def nearest_source(self, pointer: str, document: Value) -> str:
        """The place in the author's document: its own, or that of the nearest thing around it that was written."""
        return nearest(document, self.source(pointer))
