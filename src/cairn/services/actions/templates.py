"""Placeholders in the texts of an action, so that a corrected `amount` also changes "{{ amount }}"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

_PLACEHOLDER = re.compile(r"\{\{ *([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*) *\}\}")


def fill(text: str, parameters: Mapping[str, Any]) -> str:
    """Replace each placeholder by its value. Placeholders in values are not replaced."""
    return _PLACEHOLDER.sub(lambda match: _text(_find(match[1], parameters)), text)


def unknown_names(text: str, parameters: Mapping[str, Any]) -> Iterator[str]:
    """Placeholders that name no parameter."""
    for match in _PLACEHOLDER.finditer(text):
        try:
            _find(match[1], parameters)
        except LookupError:
            yield match[1]


def _find(name: str, parameters: Mapping[str, Any]) -> Any:
    value: Any = parameters
    for part in name.split("."):
        fields: Mapping[str, Any] = cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
        value = fields[part]
    return value


def _text(value: Any) -> str:
    return "" if value is None else str(value)
