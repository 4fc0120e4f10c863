"""Texts of an action may name its other parameters, `{{ amount }}`: what is corrected in one place holds in all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

_NAMED = re.compile(r"\{\{ *([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*) *\}\}")


def fill(text: str, parameters: Mapping[str, Any]) -> str:
    """Each name by its value, as it stands; what is put in is not looked at again."""
    return _NAMED.sub(lambda match: _written(_find(match[1], parameters)), text)


def unknown(text: str, parameters: Mapping[str, Any]) -> Iterator[str]:
    """Names in the text that stand for nothing."""
    for match in _NAMED.finditer(text):
        try:
            _find(match[1], parameters)
        except LookupError:
            yield match[1]


def _find(name: str, parameters: Mapping[str, Any]) -> Any:
    value: Any = parameters
    for part in name.split("."):
        held: Mapping[str, Any] = cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
        value = held[part]
    return value


def _written(value: Any) -> str:
    return "" if value is None else str(value)
