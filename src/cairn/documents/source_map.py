"""Where each value of a text stands, so that whatever is found later can be placed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cairn.documents.pointers import parent


@dataclass(frozen=True, slots=True, order=True)
class SourcePosition:
    """A place in a text; both count from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class SourceMap:
    """Marks by JSON pointer. A value that is not a member of an object has no key."""

    values: Mapping[str, SourcePosition] = field(default_factory=dict[str, SourcePosition])
    keys: Mapping[str, SourcePosition] = field(default_factory=dict[str, SourcePosition])

    def value(self, pointer: str) -> SourcePosition | None:
        """Where the value begins, or the nearest one around it that the text has."""
        while pointer and pointer not in self.values:
            pointer = parent(pointer)
        return self.values.get(pointer)

    def key(self, pointer: str) -> SourcePosition | None:
        """Where its key stands, or else the value."""
        return self.keys.get(pointer) or self.value(pointer)
