"""Anthropic's Messages API: answers as JSON or as a stream of events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.adapters.models.replies import Answer, ErrorReply

Json = dict[str, Any]
ERROR_TYPES = {
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
STOP_REASONS = {"length": "max_tokens", "refusal": "refusal", "end": "end_turn"}


def _usage(answer: Answer, output: int) -> Json:
    return {
        "input_tokens": answer.input_tokens,
        "cache_creation_input_tokens": answer.cache_write,
        "cache_read_input_tokens": answer.cache_read,
        "output_tokens": output,
    }


def _stop(answer: Answer) -> str:
    return (
        STOP_REASONS[answer.finish_reason] if answer.finish_reason else "tool_use" if answer.tool_calls else "end_turn"
    )


def _message(answer: Answer, body: Json, content: list[Json], **more: Any) -> Json:
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


def full_response(answer: Answer, body: Json) -> Json:
    content: list[Json] = [{"type": "text", "text": answer.text}] if answer.text else []
    for number, tool_call in enumerate(answer.tool_calls):
        call = {"type": "tool_use", "id": tool_call.id or f"toolu_{number:02}", "name": tool_call.tool}
        content.append({**call, "input": dict(tool_call.arguments)})
    usage = _usage(answer, answer.output_tokens)
    return _message(answer, body, content, stop_reason=_stop(answer), usage=usage)


def events(answer: Answer, body: Json) -> Iterator[tuple[str | None, str]]:
    """Yield each event with its name."""
    for data in _events(answer, body):
        yield data["type"], json.dumps(data)


def _events(answer: Answer, body: Json) -> Iterator[Json]:
    yield {"type": "message_start", "message": _message(answer, body, [], usage=_usage(answer, 1))}
    index = 0
    if answer.text:
        yield {"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}}
        yield {"type": "ping"}
        for at in range(0, len(answer.text), answer.chunk_size):
            chunk = {"type": "text_delta", "text": answer.text[at : at + answer.chunk_size]}
            yield {"type": "content_block_delta", "index": index, "delta": chunk}
        yield {"type": "content_block_stop", "index": index}
        index += 1
    for number, tool_call in enumerate(answer.tool_calls):
        block: Json = {
            "type": "tool_use",
            "id": tool_call.id or f"toolu_{number:02}",
            "name": tool_call.tool,
            "input": {},
        }
        yield {"type": "content_block_start", "index": index, "content_block": block}
        text = tool_call.raw_arguments if tool_call.raw_arguments is not None else json.dumps(dict(tool_call.arguments))
        for at in range(0, len(text), answer.chunk_size):
            chunk = {"type": "input_json_delta", "partial_json": text[at : at + answer.chunk_size]}
            yield {"type": "content_block_delta", "index": index, "delta": chunk}
        yield {"type": "content_block_stop", "index": index}
        index += 1
    delta = {"stop_reason": _stop(answer), "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": answer.output_tokens}}
    yield {"type": "message_stop"}


def error(error_reply: ErrorReply) -> Json:
    error_type = error_reply.error_type or ERROR_TYPES.get(error_reply.status, "api_error")
    return {"type": "error", "error": {"type": error_type, "message": error_reply.message}, "request_id": "req_01"}


def error_event() -> tuple[str | None, str]:
    event = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    return "error", json.dumps(event)
