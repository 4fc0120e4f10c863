"""Calls of tools, what came of them and what was thought, as a message of the agent library tells them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from cairn.documents import DocumentError, decode_json

CALLS = frozenset({"tool-call", "builtin-tool-call"})
RESULTS = frozenset({"tool-return", "builtin-tool-return"})
WELL = "success"


def told_beside(message: Any) -> list[dict[str, Any]]:
    """All but what is said, in the order in which it stands in the message."""
    parts: Any = cast("dict[str, Any]", message).get("parts") if isinstance(message, dict) else None
    if not isinstance(parts, list):
        return []
    return list(_read([cast("dict[str, Any]", part) for part in cast("list[Any]", parts) if isinstance(part, dict)]))


def _read(parts: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for part in parts:
        kind, name = part.get("part_kind"), part.get("tool_name")
        if kind == "thinking" and (thought := part.get("content")):  # a provider may keep its own thoughts shut
            yield {"kind": "thinking", "text": str(thought)}
        if not isinstance(name, str):
            continue
        told: dict[str, Any] = {"call_id": str(part.get("tool_call_id") or ""), "name": name}
        if kind in CALLS:
            yield {"kind": "call", **told, "arguments": _arguments(part.get("args"))}
        elif kind in RESULTS:
            went_well = part.get("outcome", WELL) == WELL
            yield {"kind": "result", **told, "content": part.get("content"), "went_well": went_well}
        elif kind == "retry-prompt":
            yield {"kind": "result", **told, "content": part.get("content"), "went_well": False}


def _arguments(given: Any) -> Any:
    """Some providers write them as a text of JSON."""
    if not isinstance(given, str):
        return given
    try:
        return decode_json(given)
    except DocumentError:
        return given
