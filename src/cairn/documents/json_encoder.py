"""Encode JSON, its canonical form and the digest."""

from __future__ import annotations

import hashlib
import math
import threading
from typing import cast

import orjson

from cairn.documents.errors import DocumentError
from cairn.documents.pointers import join
from cairn.documents.values import MAX_DEPTH, MAX_DIGITS, Value, is_container, is_finite, members, walk

_PLAIN = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
_SPARE = 254 - MAX_DEPTH  # orjson stops at 254 levels: inside this many lists, a value can have only MAX_DEPTH
_LEAVES = frozenset({str, float, bool, type(None)})
_MIN_INTEGER = -(2**63)  # orjson encodes 64-bit integers, signed or unsigned
_MAX_INTEGER = 2**64 - 1


def encode_json(value: Value, *, indent: bool = False) -> bytes:
    """Encode a value as JSON that `decode_json` decodes to the same value."""
    return _indented(value) if indent else _encode(value)


def canonical(value: Value) -> bytes:
    """The canonical encoding: keys sorted by code point, no spaces, shortest form of each number."""
    # 1 and 1.0 stay distinct: a checkpoint that reads them gets an integer or a float, and may depend on it.
    return _encode(value, orjson.OPT_SORT_KEYS)


def digest(value: Value) -> str:
    """SHA-256 of the canonical encoding, in hex."""
    return hashlib.sha256(canonical(value)).hexdigest()


def _encode(value: Value, option: int = 0) -> bytes:
    try:
        encoded = _encode_plain(value, option)
    except TypeError:
        encoded = _encode_large(value, option)
    # orjson encodes a number that is not finite as null.
    if b"null" in encoded and not is_finite(value) and (error := _find_error(value)):
        raise error
    return encoded


def _indented(value: Value) -> bytes:
    _encode(value)  # raises all errors
    try:
        return orjson.dumps(value, option=_PLAIN | orjson.OPT_INDENT_2)
    except TypeError:
        return orjson.dumps(_with_fragments(value), option=_PLAIN | orjson.OPT_INDENT_2)


def _encode_plain(value: object, option: int) -> bytes:
    _nest.inner[0] = value
    try:
        return orjson.dumps(_nest.outer, option=option | _PLAIN)[_SPARE:-_SPARE]
    finally:
        _nest.inner[0] = None


class _Nest(threading.local):
    """The lists around a value, per thread."""

    def __init__(self) -> None:
        self.inner: list[object] = [None]
        self.outer: list[object] = self.inner
        for _ in range(_SPARE - 1):
            self.outer = [self.outer]


_nest = _Nest()


def _encode_large(value: object, option: int) -> bytes:
    """Encode a value that contains integers beyond 64 bits. Errors say where in the value they are."""
    try:
        return _encode_plain(_with_fragments(value), option)
    except (TypeError, ValueError, RecursionError):
        if error := _find_error(value):
            raise error from None
        raise


def _with_fragments(value: object) -> object:
    """The value with integers beyond 64 bits already encoded, because orjson can't encode them."""
    if isinstance(value, dict):
        entries = cast("dict[object, object]", value)
        return {key: v if type(v) in _LEAVES else _with_fragments(v) for key, v in entries.items()}
    if isinstance(value, list | tuple):
        return [v if type(v) in _LEAVES else _with_fragments(v) for v in cast("list[object]", value)]
    if isinstance(value, int) and not _MIN_INTEGER <= value <= _MAX_INTEGER:
        return orjson.Fragment(str(value))
    return value


def _find_error(value: object) -> DocumentError | None:
    for path, item in walk(value):
        if len(path) == MAX_DEPTH and is_container(item):
            return DocumentError(f"lists and objects are nested more than {MAX_DEPTH} levels deep")
        if message := _error_message(item):
            return DocumentError(message, path=join(path))
    return None


def _error_message(item: object) -> str | None:
    match item:
        case float() if not math.isfinite(item):
            return f"JSON has no number {item}"
        case int() if abs(item) >= 10**MAX_DIGITS:
            return f"this integer has more than {MAX_DIGITS} digits"
        case str() if not _is_unicode(item):
            return "this string contains half of a surrogate pair, which is not a valid character"
        case dict():
            return next((text for key, _ in members(cast("object", item)) if (text := _key_error_message(key))), None)
        case None | bool() | int() | float() | str() | list() | tuple():
            return None
        case _:
            return f"JSON has no type for {type(item).__name__}"


def _key_error_message(key: object) -> str | None:
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
