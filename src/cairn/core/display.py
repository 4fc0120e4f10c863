"""Short texts for the values that people see in explanations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from cairn.core.comparisons import MissingValue

MAX_LENGTH = 200  # characters of a displayed value
MAX_ITEMS = 20  # of a list that is displayed item by item


def display(value: Any) -> str:
    """A short text for a value."""
    match value:
        case MissingValue():
            return "missing"
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return truncate(value)
        case list() | tuple():
            items = cast("Sequence[Any]", value)
            if len(items) > MAX_ITEMS:
                return f"a list of {len(items)}"
            return truncate("[" + ", ".join(display(item) if _is_scalar(item) else "…" for item in items) + "]")
        case Mapping():
            return f"an object of {len(cast('Mapping[str, Any]', value))}"
        case _:
            return truncate(str(value))


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, list | tuple | Mapping)


def truncate(text: str) -> str:
    return text if len(text) <= MAX_LENGTH else f"{text[: MAX_LENGTH - 1]}…"
