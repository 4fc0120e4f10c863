"""What a document may hold, and how much of it."""

from __future__ import annotations

import marshal
import math
import re
from collections.abc import Iterator
from typing import Any, TypeAlias, cast

Value: TypeAlias = "bool | int | float | str | list[Value] | dict[str, Value] | None"

MAX_DEPTH = 200  # containers inside one another: the limit of the JSON parser
MAX_DIGITS = 4300  # of an integer: beyond it Python, too, refuses to read or write one (the time grows with the square)
MAX_JSON_BYTES = 16 * 1024 * 1024  # 10 MB of payload and what stands around it
MAX_YAML_BYTES = 1024 * 1024  # YAML is written by people, and read a hundred times slower than JSON

# marshal writes a float as `g` (with the highest bit set if it is used elsewhere, too) and its eight bytes, lowest
# first; all bits of the exponent set mean: not finite. Two patterns that begin with one byte are five times faster
# than one that begins with either.
_NOT_FINITE = tuple(re.compile(start + rb".{6}[\xf0-\xff][\x7f\xff]", re.DOTALL) for start in (b"g", b"\xe7"))


def members(value: object) -> list[tuple[str | int, object]]:
    """What a container holds, by key or position; nothing for a plain value."""
    if isinstance(value, dict):
        return list(cast("dict[str | int, object]", value).items())
    if isinstance(value, list | tuple):
        return list(enumerate(cast("list[object]", value)))
    return []


def walk(value: object) -> Iterator[tuple[tuple[str | int, ...], object]]:
    """Every value inside, with the way to it; the outer before the inner."""
    left: list[tuple[tuple[str | int, ...], object]] = [((), value)]
    while left:
        way, found = left.pop()
        yield way, found
        left.extend(((*way, key), inner) for key, inner in reversed(members(found)))


def is_container(value: object) -> bool:
    return isinstance(value, dict | list | tuple)


def is_deeper(value: object, limit: int) -> bool:
    """Are there more than `limit` containers inside one another?"""
    level = [value]
    for _ in range(limit + 1):
        level = [found for found in level if is_container(found)]
        if not level:
            return False
        level = [inner for found in level for _, inner in members(found)]
    return True


def is_finite(value: object) -> bool:
    """Is no number in it NaN or infinite?"""
    try:
        # Five times faster than a walk. What it finds may be part of a text, so that then the walk decides.
        written = marshal.dumps(cast("Any", value), 4)
        if not any(pattern.search(written) for pattern in _NOT_FINITE):
            return True
    except ValueError:
        pass  # marshal does not write subclasses of the plain types
    return all(math.isfinite(found) for _, found in walk(value) if isinstance(found, float))
