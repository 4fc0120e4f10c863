"""Placeholders in the texts of an action, so that a corrected `amount` also changes "{{ amount }}"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

_PLACEHOLDER = re.compile(r"\{\{ *([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*) *\}\}")


def fill(text: str, parameters: Mapping[str, Any]) -> str:
    """Replace each placeholder by its value. Placeholders in values are not replaced."""
    return _PLACEHOLDER.sub(lambda match: _text(find(parameters, match[1])), text)


def fill_texts(text: str, texts: Mapping[str, str]) -> str:
    """Replace each placeholder by the text of its name. Placeholders in texts are not replaced."""
    return _PLACEHOLDER.sub(lambda match: texts[match[1]], text)


def placeholders(text: str) -> Iterator[str]:
    """The names in placeholders."""
    return (match[1] for match in _PLACEHOLDER.finditer(text))


def unknown_names(text: str, parameters: Mapping[str, Any]) -> Iterator[str]:
    """Placeholders that name no parameter."""
    for match in _PLACEHOLDER.finditer(text):
        try:
            find(parameters, match[1])
        except LookupError:
            yield match[1]


def find(document: Mapping[str, Any], path: str) -> Any:
    """The value at a dotted path, such as `json.amount`. Raises LookupError."""
    value: Any = document
    for part in path.split("."):
        members: Mapping[str, Any] = cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
        value = members[part]
    return value


def _text(value: Any) -> str:
    return "" if value is None else str(value)
