"""Map each part of the full form to its position in the author's document."""

from __future__ import annotations

from dataclasses import dataclass, field

from cairn.documents import Value
from cairn.documents.pointers import nearest, parent


@dataclass(slots=True)
class SourcePointers:
    """The origins of moved parts, by JSON pointer. All other parts have the same pointer in both documents."""

    moved: dict[str, str] = field(default_factory=dict[str, str])

    def move(self, target: str, source: str) -> None:
        self.moved[target] = source

    def source(self, pointer: str) -> str:
        """The pointer in the author's document, where the part may not exist."""
        outer = pointer
        while outer and outer not in self.moved:
            outer = parent(outer)
        return self.moved.get(outer, outer) + pointer[len(outer) :]

    def nearest_source(self, pointer: str, document: Value) -> str:
        """The pointer of the part in the author's document, or of the nearest enclosing part that exists there."""
        return nearest(document, self.source(pointer))
