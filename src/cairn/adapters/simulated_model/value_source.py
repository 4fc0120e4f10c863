"""Candidate values for the fields of a schema."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@dataclass(frozen=True, slots=True)
class SchemaField:
    """A field that needs a value."""

    name: str = ""
    description: str = ""
    parents: tuple[str, ...] = ()  # names of the enclosing fields, innermost last
    index: int = 0  # position in a list

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(word.lower() for word in _WORDS.findall(self.name))

    def child(self, name: str, description: str = "") -> SchemaField:
        return SchemaField(name, description, (*self.parents, self.name), self.index)

    def at(self, index: int) -> SchemaField:
        return replace(self, index=index)


class ValueSource(Protocol):
    def known(self, field: SchemaField) -> Iterator[Any]:
        """Values that the prompt contains under this name."""
        ...

    def texts(self, field: SchemaField) -> Iterator[str]:
        """At least one text, best first."""
        ...

    def word(self, field: SchemaField) -> str:
        """Letters, digits and hyphens only."""
        ...

    def number(self, field: SchemaField) -> float: ...

    def boolean(self, field: SchemaField) -> bool: ...

    def ranked(self, field: SchemaField, options: Sequence[Any]) -> list[Any]:
        """The same options, best first."""
        ...

    def count(self, field: SchemaField) -> int:
        """The preferred length of a list."""
        ...


class GenericValues(ValueSource):
    """Values derived from field names alone."""

    def known(self, field: SchemaField) -> Iterator[Any]:  # noqa: ARG002
        yield from ()

    def texts(self, field: SchemaField) -> Iterator[str]:
        yield " ".join((*field.words, str(field.index + 1) if field.index else "")).strip() or "text"

    def word(self, field: SchemaField) -> str:
        return "-".join(field.words) or "text"

    def number(self, field: SchemaField) -> float:
        return field.index + 1

    def boolean(self, field: SchemaField) -> bool:  # noqa: ARG002
        return True

    def ranked(self, field: SchemaField, options: Sequence[Any]) -> list[Any]:  # noqa: ARG002
        return list(options)

    def count(self, field: SchemaField) -> int:  # noqa: ARG002
        return 2
