"""Anthropic's Messages API: answers as JSON and as events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.adapters.models.replies import Fails, Says

Json = dict[str, Any]
KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
STOPS = {"length": "max_tokens", "refusal": "refusal", "end": "end_turn"}


def _usage(says: Says, output: int) -> Json:
    return {
        "input_tokens": says.input_tokens,
        "cache_creation_input_tokens": says.cache_write,
        "cache_read_input_tokens": says.cache_read,
        "output_tokens": output,
    }


def _stop(says: Says) -> str:
    return STOPS[says.stop] if says.stop else "tool_use" if says.uses else "end_turn"


def _message(says: Says, body: Json, content: list[Json], **more: Any) -> Json:
    return {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": None,
        "stop_sequence": None,
        **more,
    }


def whole(says: Says, body: Json) -> Json:
    content: list[Json] = [{"type": "text", "text": says.text}] if says.text else []
    for number, use in enumerate(says.uses):
        call = {"type": "tool_use", "id": use.id or f"toolu_{number:02}", "name": use.tool}
        content.append({**call, "input": dict(use.arguments)})
    usage = _usage(says, says.output_tokens)
    return _message(says, body, content, stop_reason=_stop(says), usage=usage)


def events(says: Says, body: Json) -> Iterator[tuple[str | None, str]]:
    """Each with its name."""
    for data in _events(says, body):
        yield data["type"], json.dumps(data)


def _events(says: Says, body: Json) -> Iterator[Json]:
    yield {"type": "message_start", "message": _message(says, body, [], usage=_usage(says, 1))}
    index = 0
    if says.text:
        yield {"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}}
        yield {"type": "ping"}
        for at in range(0, len(says.text), says.piece):
            piece = {"type": "text_delta", "text": says.text[at : at + says.piece]}
            yield {"type": "content_block_delta", "index": index, "delta": piece}
        yield {"type": "content_block_stop", "index": index}
        index += 1
    for number, use in enumerate(says.uses):
        block: Json = {"type": "tool_use", "id": use.id or f"toolu_{number:02}", "name": use.tool, "input": {}}
        yield {"type": "content_block_start", "index": index, "content_block": block}
        text = use.raw if use.raw is not None else json.dumps(dict(use.arguments))
        for at in range(0, len(text), says.piece):
            piece = {"type": "input_json_delta", "partial_json": text[at : at + says.piece]}
            yield {"type": "content_block_delta", "index": index, "delta": piece}
        yield {"type": "content_block_stop", "index": index}
        index += 1
    delta = {"stop_reason": _stop(says), "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": says.output_tokens}}
    yield {"type": "message_stop"}


def error(fails: Fails) -> Json:
    kind = fails.kind or KINDS.get(fails.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": fails.message}, "request_id": "req_01"}


def error_event() -> tuple[str | None, str]:
    told = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    return "error", json.dumps(told)
