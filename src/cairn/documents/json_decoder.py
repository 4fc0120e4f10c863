"""Decode JSON: strict, exact and with limits."""

from __future__ import annotations

import gc
import math
import re
from typing import cast

import jiter

from cairn.documents.errors import DocumentError
from cairn.documents.values import MAX_DEPTH, MAX_DIGITS, MAX_JSON_BYTES, Value, is_deeper, is_finite

_POSITION = re.compile(r"(.*) at line (\d+) column (\d+)", re.DOTALL)
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|(-?[0-9][0-9.eE+-]*)', re.DOTALL)
_BOM = b"\xef\xbb\xbf"
_LARGE = 256 * 1024

# Our message for each error of the parser, by how the parser's message starts.
_MESSAGES = (
    ("number out of range", f"this number has more than {MAX_DIGITS} digits"),
    ("recursion limit", "lists and objects are nested more than {depth} levels deep"),
    ("invalid unicode", "invalid UTF-8"),
    ("unexpected end of hex", "half of a surrogate pair is not a valid character"),
    ("lone leading surrogate", "half of a surrogate pair is not a valid character"),
    ("trailing characters", "unexpected text after the end of the document"),
    ("trailing comma", "trailing comma: remove it, or add another value"),
    ("control character", "control characters in a string must be escaped, a line break as \\n"),
    ("EOF", "unexpected end of the document"),
)


def decode_json(data: bytes | str, *, max_bytes: int = MAX_JSON_BYTES, max_depth: int = MAX_DEPTH) -> Value:
    """Decode JSON exactly. `max_depth` can lower the limit of 200 levels, but not raise it."""
    raw = _encoded(data)
    if len(raw) > max_bytes:
        raise DocumentError(f"the document has {len(raw):,} bytes; the limit is {max_bytes:,}")
    if raw.startswith(_BOM):
        raise DocumentError("the document starts with a byte order mark; save it as UTF-8 without one", 1, 1)
    depth = min(max_depth, MAX_DEPTH)
    try:
        value = _parse(raw)
    except ValueError as error:
        raise _decoding_error(str(error), raw, depth) from None
    if depth < MAX_DEPTH and is_deeper(value, depth):
        raise DocumentError(f"lists and objects are nested more than {depth} levels deep")
    if not is_finite(value):
        raise _overflow_error(raw)
    return value


def _encoded(data: bytes | str) -> bytes:
    if isinstance(data, bytes):
        return data
    try:
        return data.encode()
    except UnicodeEncodeError as error:
        line = data.count("\n", 0, error.start) + 1
        column = error.start - data.rfind("\n", 0, error.start)
        raise DocumentError("half of a surrogate pair is not a valid character", line, column) from None


def _parse(raw: bytes) -> Value:
    # A large document triggers the garbage collector again and again, although nothing is garbage yet. Pausing it
    # halves the time.
    pause = len(raw) > _LARGE and gc.isenabled()
    if pause:
        gc.disable()
    try:
        parsed = jiter.from_json(raw, allow_inf_nan=False, catch_duplicate_keys=True, cache_mode="keys")
        return cast("Value", parsed)
    finally:
        if pause:
            gc.enable()


def _decoding_error(message: str, raw: bytes, depth: int) -> DocumentError:
    what, line, column = _POSITION.findall(message)[0]
    line, column = int(line), int(column)
    if what.startswith("Detected duplicate key"):
        what = f"duplicate key {what.removeprefix('Detected duplicate key ')} in an object"
    else:
        text = next((text for start, text in _MESSAGES if what.startswith(start)), f"invalid JSON: {what}")
        what = text.replace("{depth}", str(depth))
    # The parser counts the column in bytes; people count characters.
    before = raw.split(b"\n", line)[line - 1][:column]
    return DocumentError(what, line, max(1, len(before.decode(errors="replace"))))


def _overflow_error(raw: bytes) -> DocumentError:
    token = next(match for match in _TOKEN.finditer(raw) if match[1] and math.isinf(float(match[1])))
    line = raw.count(b"\n", 0, token.start()) + 1
    before = raw[raw.rfind(b"\n", 0, token.start()) + 1 : token.start()]
    number = token[0].decode()
    return DocumentError(f"{number[:40]} is too large for a floating-point number", line, len(before.decode()) + 1)
