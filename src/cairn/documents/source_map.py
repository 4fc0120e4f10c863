"""The source positions of the values in a document, so that findings can point to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cairn.documents.pointers import parent


@dataclass(frozen=True, slots=True, order=True)
class SourcePosition:
    """A position in a text, counted from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class SourceMap:
    """Positions of values and keys, by JSON pointer. Items of a list have no key."""

    values: Mapping[str, SourcePosition] = field(default_factory=dict[str, SourcePosition])
    keys: Mapping[str, SourcePosition] = field(default_factory=dict[str, SourcePosition])

    def value(self, pointer: str) -> SourcePosition | None:
        """The start of the value, or of the innermost value around it that is in the text."""
        while pointer and pointer not in self.values:
            pointer = parent(pointer)
        return self.values.get(pointer)

    def key(self, pointer: str) -> SourcePosition | None:
        """The position of the key, or of the value if it has no key."""
        return self.keys.get(pointer) or self.value(pointer)
