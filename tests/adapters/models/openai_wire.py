"""OpenAI's Chat Completions, which many servers speak, and Responses: answers as JSON and as events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.adapters.models.replies import Fails, Says

Json = dict[str, Any]
CREATED = 1_750_000_000
Event = tuple[str | None, str]


def _arguments(use: Any) -> str:
    return use.raw if use.raw is not None else json.dumps(dict(use.arguments))


def error(fails: Fails) -> Json:
    kind = fails.kind or ("invalid_request_error" if fails.status < 500 else "server_error")
    return {"error": {"message": fails.message, "type": kind, "param": None, "code": fails.code}}


# ---- Chat Completions ------------------------------------------------------------------------------------
CHAT_STOPS = {"length": "length", "refusal": "content_filter", "end": "stop"}


def _chat_usage(says: Says) -> Json:
    return {
        "prompt_tokens": says.input_tokens,
        "completion_tokens": says.output_tokens,
        "total_tokens": says.input_tokens + says.output_tokens,
        "prompt_tokens_details": {"cached_tokens": says.cache_read},
    }


def _chat_stop(says: Says) -> str:
    return CHAT_STOPS[says.stop] if says.stop else "tool_calls" if says.uses else "stop"


def chat_whole(says: Says, body: Json) -> Json:
    message: Json = {"role": "assistant", "content": says.text or None}
    if says.uses:
        message["tool_calls"] = [
            {
                "id": use.id or f"call_{n:02}",
                "type": "function",
                "function": {"name": use.tool, "arguments": _arguments(use)},
            }
            for n, use in enumerate(says.uses)
        ]
    choice = {"index": 0, "message": message, "finish_reason": _chat_stop(says), "logprobs": None}
    about = {"id": "chatcmpl-01", "object": "chat.completion", "created": CREATED, "model": body["model"]}
    return {**about, "choices": [choice], "usage": _chat_usage(says)}


def chat_events(says: Says, body: Json) -> Iterator[Event]:
    about = {"id": "chatcmpl-01", "object": "chat.completion.chunk", "created": CREATED, "model": body["model"]}

    def chunk(delta: Json, stop: str | None = None) -> Event:
        return None, json.dumps({**about, "choices": [{"index": 0, "delta": delta, "finish_reason": stop}]})

    yield chunk({"role": "assistant", "content": ""})
    for at in range(0, len(says.text), says.piece):
        yield chunk({"content": says.text[at : at + says.piece]})
    for number, use in enumerate(says.uses):
        begun = {"name": use.tool, "arguments": ""}
        call = {"index": number, "id": use.id or f"call_{number:02}", "type": "function", "function": begun}
        yield chunk({"tool_calls": [call]})
        text = _arguments(use)
        for at in range(0, len(text), says.piece):
            more = {"index": number, "function": {"arguments": text[at : at + says.piece]}}
            yield chunk({"tool_calls": [more]})
    yield chunk({}, _chat_stop(says))
    options: Json = body.get("stream_options") or {}
    if options.get("include_usage"):
        yield None, json.dumps({**about, "choices": [], "usage": _chat_usage(says)})
    yield None, "[DONE]"


def chat_error_event() -> Event:
    return None, json.dumps({"error": {"message": "Overloaded", "type": "overloaded_error", "code": None}})


# ---- Responses -------------------------------------------------------------------------------------------
def _items(says: Says) -> list[Json]:
    items: list[Json] = []
    if says.text:
        part: Json = {"type": "output_text", "text": says.text, "annotations": [], "logprobs": []}
        items.append({"id": "msg_01", "type": "message", "status": "completed", "role": "assistant", "content": [part]})
    for number, use in enumerate(says.uses):
        call = {"id": f"fc_{number:02}", "type": "function_call", "status": "completed"}
        called = {"call_id": use.id or f"call_{number:02}", "name": use.tool, "arguments": _arguments(use)}
        items.append({**call, **called})
    return items


def _response(says: Says, body: Json, items: list[Json], status: str) -> Json:
    why = {"length": "max_output_tokens", "refusal": "content_filter"}.get(says.stop or "")
    done = status == "completed"
    return {
        "id": "resp_01",
        "object": "response",
        "created_at": CREATED,
        "status": "incomplete" if done and why else status,
        "error": None,
        "incomplete_details": {"reason": why} if done and why else None,
        "instructions": body.get("instructions"),
        "model": body["model"],
        "output": items,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": says.input_tokens,
            "input_tokens_details": {"cached_tokens": says.cache_read},
            "output_tokens": says.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": says.input_tokens + says.output_tokens,
        }
        if done
        else None,
    }


def responses_whole(says: Says, body: Json) -> Json:
    return _response(says, body, _items(says), "completed")


def responses_events(says: Says, body: Json) -> Iterator[Event]:
    for number, data in enumerate(_responses_events(says, body)):
        yield data["type"], json.dumps({**data, "sequence_number": number})


def _responses_events(says: Says, body: Json) -> Iterator[Json]:
    yield {"type": "response.created", "response": _response(says, body, [], "in_progress")}
    yield {"type": "response.in_progress", "response": _response(says, body, [], "in_progress")}
    items = _items(says)
    for index, item in enumerate(items):
        place = {"output_index": index, "item_id": item["id"]}
        if item["type"] == "message":
            begun: Json = {**item, "content": [], "status": "in_progress"}
            yield {"type": "response.output_item.added", "output_index": index, "item": begun}
            part = item["content"][0]
            inside = {**place, "content_index": 0}
            yield {"type": "response.content_part.added", **inside, "part": {**part, "text": ""}}
            for at in range(0, len(says.text), says.piece):
                piece = says.text[at : at + says.piece]
                yield {"type": "response.output_text.delta", **inside, "delta": piece, "logprobs": []}
            yield {"type": "response.output_text.done", **inside, "text": says.text, "logprobs": []}
            yield {"type": "response.content_part.done", **inside, "part": part}
        else:
            begun = {**item, "arguments": "", "status": "in_progress"}
            yield {"type": "response.output_item.added", "output_index": index, "item": begun}
            text = item["arguments"]
            for at in range(0, len(text), says.piece):
                piece = text[at : at + says.piece]
                yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
            done = {"name": item["name"], "arguments": text}
            yield {"type": "response.function_call_arguments.done", **place, **done}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    whole = responses_whole(says, body)
    yield {"type": f"response.{whole['status']}", "response": whole}


def responses_error_event() -> Event:
    told = {"type": "error", "code": "server_is_overloaded", "message": "Overloaded", "param": None}
    return "error", json.dumps({**told, "sequence_number": 9})
