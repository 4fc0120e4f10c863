"""Decode YAML 1.2 (core schema), plain values only, with source positions."""

from __future__ import annotations

import math
import re
from typing import NoReturn

from cairn.documents.errors import DocumentError
from cairn.documents.pointers import child
from cairn.documents.source_map import SourceMap, SourcePosition
from cairn.documents.values import MAX_DEPTH, MAX_DIGITS, MAX_YAML_BYTES, Value
from cairn.documents.yaml_events import YamlEvent, YamlEventKind, mark_at, parse, unescaped_error

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEAN = {word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OTHER_BASE = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
# The parser treats these as line breaks and would drop them; in YAML 1.2 they are ordinary characters.
_FALSE_BREAK = re.compile("[\x85\u2028\u2029]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def decode_yaml(
    text: bytes | str, *, max_bytes: int = MAX_YAML_BYTES, max_depth: int = MAX_DEPTH
) -> tuple[Value, SourceMap]:
    """Decode one YAML document, with the position of each value. JSON is valid YAML."""
    return _Decoder(_decoded(text, max_bytes), min(max_depth, MAX_DEPTH)).document()


def resolve(text: str) -> bool | int | float | str | None:
    """The value of an unquoted scalar in the YAML 1.2 core schema."""
    if text in _NULL:
        return None
    if text in _BOOLEAN:
        return _BOOLEAN[text]
    if _INTEGER.fullmatch(text) or _OTHER_BASE.fullmatch(text):
        if len(text) > MAX_DIGITS:
            raise ValueError(f"this number has more than {MAX_DIGITS} digits")
        return int(text, 0 if _OTHER_BASE.fullmatch(text) else 10)
    if _FLOAT.fullmatch(text):
        if math.isinf(number := float(text)):
            raise ValueError(f"{text[:40]} is too large for a floating-point number")
        return number
    if _NOT_FINITE.fullmatch(text):
        raise ValueError(f"JSON has no number {text}; put it in quotes if it is text")
    return text


def _decoded(text: bytes | str, max_bytes: int) -> str:
    size = len(text) if isinstance(text, bytes) else len(text.encode(errors="surrogatepass"))
    if size > max_bytes:
        raise DocumentError(f"the document has {size:,} bytes; the limit is {max_bytes:,}")
    try:
        source = text.decode() if isinstance(text, bytes) else text
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode()
        at = mark_at(before, len(before))
        raise DocumentError("invalid UTF-8", at.line, at.column) from None
    source = source.removeprefix("\ufeff")
    if match := _FALSE_BREAK.search(source):
        raise unescaped_error(source, match.start())
    return source


class _Decoder:
    """Builds values from events. Tags, anchors, aliases, duplicate keys and keys that aren't strings are errors."""

    def __init__(self, source: str, max_depth: int) -> None:
        self._events = parse(source)
        self._max_depth = max_depth
        self._values: dict[str, SourcePosition] = {}
        self._keys: dict[str, SourcePosition] = {}

    def document(self) -> tuple[Value, SourceMap]:
        start = next(self._events)
        self._values[""] = start.mark
        value: Value = None
        if start.kind is YamlEventKind.DOCUMENT:
            if start.version not in (None, (1, 2)):
                _reject(start, "only YAML 1.2 is supported; remove the %YAML line")
            value = self._value(next(self._events), "", 0)
            next(self._events)  # the end of the document
            if (after := next(self._events)).kind is YamlEventKind.DOCUMENT:
                _reject(after, "a second document starts here; only one is allowed")
        return value, SourceMap(self._values, self._keys)

    def _value(self, event: YamlEvent, path: str, depth: int) -> Value:
        self._values[path] = event.mark
        _reject_extras(event)
        if event.kind is YamlEventKind.SCALAR:
            return _scalar(event)
        if depth >= self._max_depth:
            _reject(event, f"lists and mappings are nested more than {self._max_depth} levels deep")
        return (
            self._sequence(path, depth + 1) if event.kind is YamlEventKind.SEQUENCE else self._mapping(path, depth + 1)
        )

    def _sequence(self, path: str, depth: int) -> list[Value]:
        items: list[Value] = []
        while (event := next(self._events)).kind is not YamlEventKind.END:
            items.append(self._value(event, child(path, len(items)), depth))
        return items

    def _mapping(self, path: str, depth: int) -> dict[str, Value]:
        members: dict[str, Value] = {}
        while (event := next(self._events)).kind is not YamlEventKind.END:
            key = _key(event)
            pointer = child(path, key)
            if key in members:
                _reject(event, f"duplicate key {key!r}; it is already in line {self._keys[pointer].line}")
            self._keys[pointer] = event.mark
            members[key] = self._value(next(self._events), pointer, depth)
        return members


def _key(event: YamlEvent) -> str:
    _reject_extras(event)
    if event.kind is not YamlEventKind.SCALAR:
        _reject(event, "a list or a mapping can't be a key")
    if not isinstance(key := _scalar(event), str):
        _reject(event, f"the key {event.text or 'here'} is not a string: put it in quotes")
    return key


def _scalar(event: YamlEvent) -> bool | int | float | str | None:
    if not event.is_quoted:
        try:
            return resolve(event.text)
        except ValueError as error:
            _reject(event, str(error))
    if not _SURROGATE.search(event.text):
        return event.text
    try:
        return event.text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        _reject(event, "half of a surrogate pair is not a valid character")


def _reject_extras(event: YamlEvent) -> None:
    if event.kind is YamlEventKind.ALIAS:
        _reject(event, f"aliases are not supported: replace *{event.anchor} with the value")
    if event.anchor:
        _reject(event, f"anchors are not supported: remove &{event.anchor} and repeat the value where you need it")
    if event.tag:
        _reject(event, f"tags are not supported: remove {event.tag}, and put the value in quotes if it is text")


def _reject(event: YamlEvent, message: str) -> NoReturn:
    raise DocumentError(message, event.mark.line, event.mark.column)
