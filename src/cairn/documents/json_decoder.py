"""The one way in for JSON: strict, exact, bounded."""

from __future__ import annotations

import gc
import math
import re
from typing import cast

import jiter

from cairn.documents.errors import DocumentError
from cairn.documents.values import MAX_DEPTH, MAX_DIGITS, MAX_JSON_BYTES, Value, is_deeper, is_finite

_PLACE = re.compile(r"(.*) at line (\d+) column (\d+)", re.DOTALL)
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|(-?[0-9][0-9.eE+-]*)', re.DOTALL)
_BOM = b"\xef\xbb\xbf"
_MANY = 256 * 1024

# The parser's words, by how they begin, and ours.
_WORDS = (
    ("number out of range", f"this number has more than {MAX_DIGITS} digits"),
    ("recursion limit", "more than {depth} lists and objects stand inside one another"),
    ("invalid unicode", "this is not UTF-8"),
    ("unexpected end of hex", "half of a surrogate pair is not a character"),
    ("lone leading surrogate", "half of a surrogate pair is not a character"),
    ("trailing characters", "the document has ended here; nothing may follow it"),
    ("trailing comma", "a comma has to be followed by another value"),
    ("control character", "control characters in a text have to be escaped, a line break as \\n"),
    ("EOF", "the document breaks off here"),
)


def decode_json(data: bytes | str, *, max_bytes: int = MAX_JSON_BYTES, max_depth: int = MAX_DEPTH) -> Value:
    """Read JSON exactly. The depth is at most 200, whatever `max_depth` says."""
    raw = _encoded(data)
    if len(raw) > max_bytes:
        raise DocumentError(f"the document has {len(raw):,} bytes; at most {max_bytes:,} are taken")
    if raw.startswith(_BOM):
        raise DocumentError("the document begins with a byte order mark; save it as UTF-8 without one", 1, 1)
    depth = min(max_depth, MAX_DEPTH)
    try:
        value = _parse(raw)
    except ValueError as error:
        raise _explained(str(error), raw, depth) from None
    if depth < MAX_DEPTH and is_deeper(value, depth):
        raise DocumentError(f"more than {depth} lists and objects stand inside one another")
    if not is_finite(value):
        raise _overflow(raw)
    return value


def _encoded(data: bytes | str) -> bytes:
    if isinstance(data, bytes):
        return data
    try:
        return data.encode()
    except UnicodeEncodeError as error:
        line = data.count("\n", 0, error.start) + 1
        column = error.start - data.rfind("\n", 0, error.start)
        raise DocumentError("half of a surrogate pair is not a character", line, column) from None


def _parse(raw: bytes) -> Value:
    # Many values in a row set the collector off again and again, and none of them is garbage: half of the time.
    pause = len(raw) > _MANY and gc.isenabled()
    if pause:
        gc.disable()
    try:
        parsed = jiter.from_json(raw, allow_inf_nan=False, catch_duplicate_keys=True, cache_mode="keys")
        return cast("Value", parsed)
    finally:
        if pause:
            gc.enable()


def _explained(message: str, raw: bytes, depth: int) -> DocumentError:
    what, line, column = _PLACE.findall(message)[0]
    line, column = int(line), int(column)
    if what.startswith("Detected duplicate key"):
        what = f"the key {what.removeprefix('Detected duplicate key ')} stands twice in one object"
    else:
        said = next((words for start, words in _WORDS if what.startswith(start)), f"this is not JSON: {what}")
        what = said.replace("{depth}", str(depth))
    # The parser counts bytes, people count characters.
    before = raw.split(b"\n", line)[line - 1][:column]
    return DocumentError(what, line, max(1, len(before.decode(errors="replace"))))


def _overflow(raw: bytes) -> DocumentError:
    token = next(found for found in _TOKEN.finditer(raw) if found[1] and math.isinf(float(found[1])))
    line = raw.count(b"\n", 0, token.start()) + 1
    before = raw[raw.rfind(b"\n", 0, token.start()) + 1 : token.start()]
    number = token[0].decode()
    return DocumentError(f"{number[:40]} is too large for a floating-point number", line, len(before.decode()) + 1)
