"""JSON pointers (RFC 6901)."""

from __future__ import annotations

from collections.abc import Iterable

from cairn.documents.values import Value


def join(parts: Iterable[str | int]) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def child(pointer: str, part: str | int) -> str:
    return f"{pointer}{join((part,))}"


def parent(pointer: str) -> str:
    return pointer.rpartition("/")[0]


def split(pointer: str) -> tuple[str, ...]:
    if pointer and not pointer.startswith("/"):
        raise ValueError(f"{pointer!r} is not a JSON pointer: it must start with /")
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])


def look_up(value: Value, pointer: str) -> Value:
    """The value at a pointer; LookupError if there is none."""
    for part in split(pointer):
        match value:
            case dict():
                value = value[part]
            case list() if part.isdecimal():
                value = value[int(part)]
            case _:
                raise LookupError(f"there is no value at {pointer}")
    return value


def nearest(value: Value, pointer: str) -> str:
    """The pointer of the innermost existing value on the way to `pointer`."""
    while pointer:
        try:
            look_up(value, pointer)
        except LookupError:
            pointer = parent(pointer)
        else:
            break
    return pointer
