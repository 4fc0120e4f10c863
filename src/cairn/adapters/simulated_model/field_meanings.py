"""What a place in a value is called, and what would read well there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@dataclass(frozen=True, slots=True)
class FieldPlace:
    """Where a value stands."""

    name: str = ""
    description: str = ""
    parents: tuple[str, ...] = ()  # names around it, the nearest last
    index: int = 0  # in a list

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(word.lower() for word in _WORDS.findall(self.name))

    def inside(self, name: str, description: str = "") -> FieldPlace:
        return FieldPlace(name, description, (*self.parents, self.name), self.index)

    def at(self, index: int) -> FieldPlace:
        return replace(self, index=index)


class FieldMeaning(Protocol):
    def known(self, place: FieldPlace) -> Iterator[Any]:
        """Values that what was read has under this name."""
        ...

    def texts(self, place: FieldPlace) -> Iterator[str]:
        """Best first; at least one."""
        ...

    def word(self, place: FieldPlace) -> str:
        """Letters, digits and hyphens."""
        ...

    def number(self, place: FieldPlace) -> float: ...

    def is_so(self, place: FieldPlace) -> bool: ...

    def order(self, place: FieldPlace, options: Sequence[Any]) -> list[Any]:
        """The same ones, best first."""
        ...

    def count(self, place: FieldPlace) -> int:
        """How many there would be in a list."""
        ...


class Plain(FieldMeaning):
    """Knows nothing of any task."""

    def known(self, place: FieldPlace) -> Iterator[Any]:  # noqa: ARG002
        yield from ()

    def texts(self, place: FieldPlace) -> Iterator[str]:
        yield " ".join((*place.words, str(place.index + 1) if place.index else "")).strip() or "text"

    def word(self, place: FieldPlace) -> str:
        return "-".join(place.words) or "text"

    def number(self, place: FieldPlace) -> float:
        return place.index + 1

    def is_so(self, place: FieldPlace) -> bool:  # noqa: ARG002
        return True

    def order(self, place: FieldPlace, options: Sequence[Any]) -> list[Any]:  # noqa: ARG002
        return list(options)

    def count(self, place: FieldPlace) -> int:  # noqa: ARG002
        return 2
