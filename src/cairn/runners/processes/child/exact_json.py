"""JSON without loss: what it cannot hold is told with its place, in the words that Cairn has for it."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_DEPTH = 200
MAX_DIGITS = 4300
SURELY_SHORT = 3 * MAX_DIGITS  # bits
_SURROGATE = "half of a surrogate pair, which is not a valid character"


class Unwritable(ValueError):
    """A value that JSON cannot hold; `path` is where in it."""

    def __init__(self, message: str, way: tuple[object, ...] = ()) -> None:
        super().__init__(message)
        self.path = "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in way)


def encode(value: Any) -> bytes:
    left: list[tuple[tuple[object, ...], Any]] = [((), value)]
    while left:
        way, found = left.pop()
        if message := _fault(found):
            raise Unwritable(message, way)
        if isinstance(found, (dict, list, tuple)):
            if len(way) == MAX_DEPTH:
                raise Unwritable(f"lists and objects are nested more than {MAX_DEPTH} levels deep")
            left.extend([((*way, key), one) for key, one in _members(found)])
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _members(found: Any) -> Any:
    return found.items() if hasattr(found, "items") else enumerate(found)


def _fault(found: Any) -> str | None:
    if found is None or isinstance(found, (bool, list, tuple)):
        return None
    if isinstance(found, str):
        return None if _is_unicode(found) else f"this string contains {_SURROGATE}"
    if isinstance(found, int):
        is_long = found.bit_length() > SURELY_SHORT and abs(found) >= 10**MAX_DIGITS
        return f"this integer has more than {MAX_DIGITS} digits" if is_long else None
    if isinstance(found, float):
        return None if found - found == 0 else f"JSON has no number {found}"
    if not isinstance(found, dict):
        return f"JSON has no type for {type(found).__name__}"
    return next((fault for key, _ in _members(found) if (fault := _fault_of_key(key))), None)


def _fault_of_key(key: Any) -> str | None:
    if not isinstance(key, str):
        return f"the key {key!r} is not a string"
    return None if _is_unicode(key) else f"the key {key!r} contains {_SURROGATE}"


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def plain(text: str) -> str:
    """The text, with something else for halves of surrogate pairs."""
    return text.encode(errors="replace").decode()
