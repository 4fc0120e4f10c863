"""The values of documents, and their limits."""

from __future__ import annotations

import marshal
import math
import re
from collections.abc import Iterator
from typing import Any, TypeAlias, cast

Value: TypeAlias = "bool | int | float | str | list[Value] | dict[str, Value] | None"

MAX_DEPTH = 200  # levels of nesting: the limit of the JSON parser
MAX_DIGITS = 4300  # of an integer: Python's own limit, because conversion takes quadratic time
MAX_JSON_BYTES = 16 * 1024 * 1024  # a payload of 10 MB, and the rest of the request
MAX_YAML_BYTES = 1024 * 1024  # people write YAML, and decoding takes a hundred times as long as JSON

# marshal writes a float as `g` (with the highest bit set if the object is referenced again) and eight bytes in
# little-endian order. If all bits of the exponent are set, the number is not finite. Two patterns with a fixed first
# byte are five times as fast as one with an alternative.
_NOT_FINITE = tuple(re.compile(start + rb".{6}[\xf0-\xff][\x7f\xff]", re.DOTALL) for start in (b"g", b"\xe7"))


def members(value: object) -> list[tuple[str | int, object]]:
    """The items of a container by key or index; empty for other values."""
    if isinstance(value, dict):
        return list(cast("dict[str | int, object]", value).items())
    if isinstance(value, list | tuple):
        return list(enumerate(cast("list[object]", value)))
    return []


def walk(value: object) -> Iterator[tuple[tuple[str | int, ...], object]]:
    """All values in a value and their paths. Containers precede their items."""
    stack: list[tuple[tuple[str | int, ...], object]] = [((), value)]
    while stack:
        path, item = stack.pop()
        yield path, item
        stack.extend(((*path, key), inner) for key, inner in reversed(members(item)))


def is_container(value: object) -> bool:
    return isinstance(value, dict | list | tuple)


def is_deeper(value: object, limit: int) -> bool:
    """Whether containers are nested more than `limit` levels deep."""
    level = [value]
    for _ in range(limit + 1):
        level = [item for item in level if is_container(item)]
        if not level:
            return False
        level = [inner for item in level for _, inner in members(item)]
    return True


def is_finite(value: object) -> bool:
    """Whether the value contains neither NaN nor an infinite number."""
    try:
        # Five times as fast as a walk. A match may also be part of a string: only the walk is certain.
        dump = marshal.dumps(cast("Any", value), 4)
        if not any(pattern.search(dump) for pattern in _NOT_FINITE):
            return True
    except ValueError:
        pass  # marshal rejects subclasses of the built-in types
    return all(math.isfinite(item) for _, item in walk(value) if isinstance(item, float))
