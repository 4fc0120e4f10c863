"""What a place in a value is called, and what would read well there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands."""

    name: str = ""
    description: str = ""
    parents: tuple[str, ...] = ()  # names around it, the nearest last
    index: int = 0  # in a list

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(word.lower() for word in _WORDS.findall(self.name))

    def inside(self, name: str, description: str = "") -> Place:
        return Place(name, description, (*self.parents, self.name), self.index)

    def at(self, index: int) -> Place:
        return replace(self, index=index)


class Sense(Protocol):
    def known(self, place: Place) -> Iterator[Any]:
        """Values that what was read has under this name."""
        ...

    def texts(self, place: Place) -> Iterator[str]:
        """Best first; at least one."""
        ...

    def word(self, place: Place) -> str:
        """Letters, digits and hyphens."""
        ...

    def number(self, place: Place) -> float: ...

    def is_so(self, place: Place) -> bool: ...

    def order(self, place: Place, options: Sequence[Any]) -> list[Any]:
        """The same ones, best first."""
        ...

    def count(self, place: Place) -> int:
        """How many there would be in a list."""
        ...


class Plain(Sense):
    """Knows nothing of any task."""

    def known(self, place: Place) -> Iterator[Any]:  # noqa: ARG002
        yield from ()

    def texts(self, place: Place) -> Iterator[str]:
        yield " ".join((*place.words, str(place.index + 1) if place.index else "")).strip() or "text"

    def word(self, place: Place) -> str:
        return "-".join(place.words) or "text"

    def number(self, place: Place) -> float:
        return place.index + 1

    def is_so(self, place: Place) -> bool:  # noqa: ARG002
        return True

    def order(self, place: Place, options: Sequence[Any]) -> list[Any]:  # noqa: ARG002
        return list(options)

    def count(self, place: Place) -> int:  # noqa: ARG002
        return 2
