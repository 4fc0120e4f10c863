"""Read tool calls, tool results and thinking from messages of the agent library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from cairn.documents import DocumentError, decode_json

CALLS = frozenset({"tool-call", "builtin-tool-call"})
RESULTS = frozenset({"tool-return", "builtin-tool-return"})
SUCCESS = "success"


def parts_of(message: Any) -> list[dict[str, Any]]:
    """The parts of a message other than its text, in order."""
    parts: Any = cast("dict[str, Any]", message).get("parts") if isinstance(message, dict) else None
    if not isinstance(parts, list):
        return []
    return list(_read([cast("dict[str, Any]", part) for part in cast("list[Any]", parts) if isinstance(part, dict)]))


def _read(parts: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for part in parts:
        kind, name = part.get("part_kind"), part.get("tool_name")
        if kind == "thinking" and (thinking := part.get("content")):  # empty if the provider encrypts it
            yield {"kind": "thinking", "text": str(thinking)}
        if not isinstance(name, str):
            continue
        tool: dict[str, Any] = {"call_id": str(part.get("tool_call_id") or ""), "name": name}
        if kind in CALLS:
            yield {"kind": "call", **tool, "arguments": _arguments(part.get("args"))}
        elif kind in RESULTS:
            succeeded = part.get("outcome", SUCCESS) == SUCCESS
            yield {"kind": "result", **tool, "content": part.get("content"), "succeeded": succeeded}
        elif kind == "retry-prompt":
            yield {"kind": "result", **tool, "content": part.get("content"), "succeeded": False}


def _arguments(args: Any) -> Any:
    """Some providers send the arguments as JSON text."""
    if not isinstance(args, str):
        return args
    try:
        return decode_json(args)
    except DocumentError:
        return args
