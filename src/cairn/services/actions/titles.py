"""Fill the title templates of action types. Values are short, on one line and without misleading characters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from cairn.documents import encode_json
from cairn.services.actions.templates import find
from cairn.services.text import single_line, visible

MAX_VALUE = 80  # characters of a value in a title
_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")
_PLACEHOLDER = re.compile(r"\{\{ *([^{} ]+) *\}\}")


def fill_title(template: str, *documents: Mapping[str, Any]) -> str | None:
    """The title with the values of the first document that has them. None if one is missing outside of `[ ]`."""
    try:
        text = _OPTIONAL.sub(lambda match: _optional(match[1], documents), template)
        return single_line(_fill(text, documents)) or None
    except LookupError:
        return None


def title_fields(template: str) -> Iterator[str]:
    """The parameters that the template names."""
    return (match[1] for match in _PLACEHOLDER.finditer(template))


def _optional(text: str, documents: Sequence[Mapping[str, Any]]) -> str:
    try:
        _fill(text, documents)
    except LookupError:
        return ""
    return text


def _fill(text: str, documents: Sequence[Mapping[str, Any]]) -> str:
    return _PLACEHOLDER.sub(lambda match: _value(match[1], documents), text)


def _value(path: str, documents: Sequence[Mapping[str, Any]]) -> str:
    for document in documents:
        try:
            value = find(document, path)
        except LookupError:
            continue
        if value not in (None, "", [], ()):
            return single_line(visible(_text(value)), MAX_VALUE)
    raise LookupError(path)


def _text(value: Any) -> str:
    match value:
        case str():
            return value
        case list() | tuple():
            return ", ".join(_text(item) for item in cast("Sequence[Any]", value))
        case _:
            return encode_json(value).decode()
