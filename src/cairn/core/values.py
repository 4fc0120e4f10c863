"""How frozen values change: by copying."""

from __future__ import annotations

from typing import Any, Self


class Changing:
    """A frozen dataclass of which many changed copies are made: `dataclasses.replace` takes six times as long."""

    def changed(self, **changes: Any) -> Self:
        if not changes.keys() <= self.__dict__.keys():
            raise TypeError(f"{type(self).__name__} has no {', '.join(changes.keys() - self.__dict__.keys())}")
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__, **changes)
        return copy
