"""The identity of an action: the parameters that make two actions the same act, in one spelling."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any, cast

from cairn.documents import canonical
from cairn.services.actions.action_type import ActionType
from cairn.services.actions.templates import find

_IGNORED = frozenset({"Cc", "Cf"})


def identity_bytes(action: ActionType, content: Mapping[str, Any], facts: Mapping[str, Any], instance: str) -> bytes:
    """Equal for actions that are the same act, however their values are written."""
    values: dict[str, Any] = {}
    if action.identity is None:
        values = dict(content)
    else:
        for path in action.identity:
            for document in (facts, content):
                try:
                    values[path] = find(document, path)
                    break
                except LookupError:
                    continue
    spelled = {path: one_spelling(value) for path, value in values.items()}
    return canonical({"parameters": spelled, "instance": instance})


def one_spelling(value: Any) -> Any:
    """The value without differences that people don't see, so that another spelling isn't another act."""
    match value:
        case str():
            normal = unicodedata.normalize("NFKC", value).casefold()
            shown = (
                " " if c.isspace() else c for c in normal if c.isspace() or unicodedata.category(c) not in _IGNORED
            )
            return " ".join("".join(shown).split())
        case float() if value.is_integer():
            return int(value)
        case Mapping():
            return {key: one_spelling(item) for key, item in cast("Mapping[str, Any]", value).items()}
        case list() | tuple():
            return [one_spelling(item) for item in cast("list[Any]", value)]
        case _:
            return value
