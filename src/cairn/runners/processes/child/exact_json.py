"""Encode JSON without loss. Errors have the same messages and paths as those of `cairn.documents.encode_json`."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_DEPTH = 200
MAX_DIGITS = 4300
MAX_SAFE_BITS = 3 * MAX_DIGITS  # an integer with at most so many bits has fewer than MAX_DIGITS digits


class NotSerializable(ValueError):
    """JSON can't represent the value. `path` is the JSON pointer to the part that it can't represent."""

    def __init__(self, message: str, keys: tuple[object, ...] = ()) -> None:
        super().__init__(message)
        self.path = "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in keys)


def encode(value: Any) -> bytes:
    pending: list[tuple[tuple[object, ...], Any]] = [((), value)]
    while pending:
        path, item = pending.pop()
        if message := _error_message(item):
            raise NotSerializable(message, path)
        if isinstance(item, (dict, list, tuple)):
            if len(path) == MAX_DEPTH:
                raise NotSerializable(f"lists and objects are nested more than {MAX_DEPTH} levels deep")
            pending.extend([((*path, key), member) for key, member in _members(item)])
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _members(container: Any) -> Any:
    return container.items() if hasattr(container, "items") else enumerate(container)


def _error_message(item: Any) -> str | None:
    if item is None or isinstance(item, (bool, list, tuple)):
        return None
    if isinstance(item, str):
        is_valid = _is_unicode(item)
        return None if is_valid else "this string contains half of a surrogate pair, which is not a valid character"
    if isinstance(item, int):
        is_too_long = item.bit_length() > MAX_SAFE_BITS and abs(item) >= 10**MAX_DIGITS
        return f"this integer has more than {MAX_DIGITS} digits" if is_too_long else None
    if isinstance(item, float):
        return None if item - item == 0 else f"JSON has no number {item}"
    if not isinstance(item, dict):
        return f"JSON has no type for {type(item).__name__}"
    return next((message for key, _ in _members(item) if (message := _key_error_message(key))), None)


def _key_error_message(key: Any) -> str | None:
    if not isinstance(key, str):
        return f"the key {key!r} is not a string"
    if not _is_unicode(key):
        return f"the key {key!r} contains half of a surrogate pair, which is not a valid character"
    return None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def replace_surrogates(text: str) -> str:
    """The text with `?` in place of halves of surrogate pairs."""
    return text.encode(errors="replace").decode()
