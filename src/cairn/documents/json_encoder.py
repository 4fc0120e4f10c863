"""The one way out: JSON bytes, the canonical form, and its digest."""

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
_SPARE = 254 - MAX_DEPTH  # orjson goes 254 levels deep: with so many lists around it a value can only have ours
_LEAVES = frozenset({str, float, bool, type(None)})
_HALF = 2**63
_WHOLE = 2**64


def encode_json(value: Value, *, indent: bool = False) -> bytes:
    """Write JSON that `decode_json` reads back as the same value."""
    return _indented(value) if indent else _write(value)


def canonical(value: Value) -> bytes:
    """The one spelling of a value: keys sorted by code point, no spaces, each number in its shortest form."""
    # 1 and 1.0 stay apart: a step that reads them gets an integer or a float, and may act on it.
    return _write(value, orjson.OPT_SORT_KEYS)


def digest(value: Value) -> str:
    """SHA-256 of the canonical form, in hex."""
    return hashlib.sha256(canonical(value)).hexdigest()


def _write(value: Value, option: int = 0) -> bytes:
    try:
        written = _write_plain(value, option)
    except TypeError:
        written = _write_large(value, option)
    # orjson writes a number that is not finite as null.
    if b"null" in written and not is_finite(value) and (fault := _find_fault(value)):
        raise fault
    return written


def _indented(value: Value) -> bytes:
    _write(value)  # which finds every fault
    try:
        return orjson.dumps(value, option=_PLAIN | orjson.OPT_INDENT_2)
    except TypeError:
        return orjson.dumps(_with_fragments(value), option=_PLAIN | orjson.OPT_INDENT_2)


def _write_plain(value: object, option: int) -> bytes:
    _nest.inner[0] = value
    try:
        return orjson.dumps(_nest.outer, option=option | _PLAIN)[_SPARE:-_SPARE]
    finally:
        _nest.inner[0] = None


class _Nest(threading.local):
    """The lists around a value, each thread's own."""

    def __init__(self) -> None:
        self.inner: list[object] = [None]
        self.outer: list[object] = self.inner
        for _ in range(_SPARE - 1):
            self.outer = [self.outer]


_nest = _Nest()


def _write_large(value: object, option: int) -> bytes:
    """A value with integers beyond 64 bits; what still cannot be written is told with its place."""
    try:
        return _write_plain(_with_fragments(value), option)
    except (TypeError, ValueError, RecursionError):
        if fault := _find_fault(value):
            raise fault from None
        raise


def _with_fragments(value: object) -> object:
    """The same value, its integers beyond 64 bits already written: orjson has no way to write them."""
    if isinstance(value, dict):
        inside = cast("dict[object, object]", value)
        return {key: v if type(v) in _LEAVES else _with_fragments(v) for key, v in inside.items()}
    if isinstance(value, list | tuple):
        return [v if type(v) in _LEAVES else _with_fragments(v) for v in cast("list[object]", value)]
    if isinstance(value, int) and not -_HALF <= value < _WHOLE:
        return orjson.Fragment(str(value))
    return value


def _find_fault(value: object) -> DocumentError | None:
    for way, found in walk(value):
        if len(way) == MAX_DEPTH and is_container(found):
            return DocumentError(f"more than {MAX_DEPTH} lists and objects stand inside one another")
        if message := _fault_of(found):
            return DocumentError(message, path=join(way))
    return None


def _fault_of(found: object) -> str | None:
    match found:
        case float() if not math.isfinite(found):
            return f"{found} is not a number that JSON can hold"
        case int() if abs(found) >= 10**MAX_DIGITS:
            return f"this integer has more than {MAX_DIGITS} digits"
        case str() if not _is_unicode(found):
            return "this text holds half of a surrogate pair, which is not a character"
        case dict():
            return next((fault for key, _ in members(cast("object", found)) if (fault := _fault_of_key(key))), None)
        case None | bool() | int() | float() | str() | list() | tuple():
            return None
        case _:
            return f"JSON has no {type(found).__name__}"


def _fault_of_key(key: object) -> str | None:
    if not isinstance(key, str):
        return f"the key {key!r} is not a text"
    return None if _is_unicode(key) else f"the key {key!r} holds half of a surrogate pair, which is not a character"


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
