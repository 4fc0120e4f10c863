"""References to secrets in actions: a whole header or JSON string, `secret:NAME` or `Bearer {secret:NAME}`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from cairn.documents.pointers import child

_NAME = r"([A-Za-z][A-Za-z0-9_.-]{0,99})"
_REFERENCE = re.compile(rf"secret:{_NAME}")
_BEARER = re.compile(rf"Bearer \{{secret:{_NAME}\}}")
_MENTION = re.compile(r"(?<![A-Za-z0-9_.-])secret:[A-Za-z]")
FORMS = "a whole header or a whole JSON string, as `secret:NAME` or `Bearer {secret:NAME}`"


def secret_name(text: str) -> str | None:
    """The name of the secret that the text refers to, as a whole."""
    match = _REFERENCE.fullmatch(text) or _BEARER.fullmatch(text)
    return match[1] if match is not None else None


def references(value: Any) -> Iterator[str]:
    """The secrets that strings in the value refer to."""
    for _, text, is_key in _strings(value, ""):
        if not is_key and (name := secret_name(text)) is not None:
            yield name


def misplaced(value: Any, pointer: str = "", *, allows_references: bool) -> Iterator[str]:
    """Pointers to texts that mention a secret where it would be sent as it is written."""
    for path, text, is_key in _strings(value, pointer):
        if _MENTION.search(text) and not (allows_references and not is_key and secret_name(text) is not None):
            yield path


def fill_secrets(value: Any, get: Callable[[str], str]) -> Any:
    """The value with secrets instead of the references to them."""
    match value:
        case str():
            name = secret_name(value)
            if name is None:
                return value
            return f"Bearer {get(name)}" if value.startswith("Bearer ") else get(name)
        case dict():
            members = cast("dict[str, Any]", value)
            return {key: fill_secrets(item, get) for key, item in members.items()}
        case list():
            return [fill_secrets(item, get) for item in cast("list[Any]", value)]
        case _:
            return value


def _strings(value: Any, pointer: str) -> Iterator[tuple[str, str, bool]]:
    """Every text with a pointer to it, and whether it is a key."""
    match value:
        case str():
            yield pointer, value, False
        case Mapping():
            for key, item in cast("Mapping[str, Any]", value).items():
                yield child(pointer, key), key, True
                yield from _strings(item, child(pointer, key))
        case list():
            for index, item in enumerate(cast("list[Any]", value)):
                yield from _strings(item, child(pointer, index))
        case _:
            pass
