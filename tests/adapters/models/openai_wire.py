"""OpenAI's APIs Chat Completions, which many servers support, and Responses: answers as JSON or as events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.adapters.models.replies import Answer, ErrorReply

Json = dict[str, Any]
CREATED = 1_750_000_000
Event = tuple[str | None, str]


def _arguments(tool_call: Any) -> str:
    return tool_call.raw_arguments if tool_call.raw_arguments is not None else json.dumps(dict(tool_call.arguments))


def error(error_reply: ErrorReply) -> Json:
    error_type = error_reply.error_type or ("invalid_request_error" if error_reply.status < 500 else "server_error")
    return {"error": {"message": error_reply.message, "type": error_type, "param": None, "code": error_reply.code}}


# ---- Chat Completions ------------------------------------------------------------------------------------
CHAT_FINISH_REASONS = {"length": "length", "refusal": "content_filter", "end": "stop"}


def _chat_usage(answer: Answer) -> Json:
    return {
        "prompt_tokens": answer.input_tokens,
        "completion_tokens": answer.output_tokens,
        "total_tokens": answer.input_tokens + answer.output_tokens,
        "prompt_tokens_details": {"cached_tokens": answer.cache_read},
    }


def _chat_stop(answer: Answer) -> str:
    return (
        CHAT_FINISH_REASONS[answer.finish_reason]
        if answer.finish_reason
        else "tool_calls"
        if answer.tool_calls
        else "stop"
    )


def chat_full_response(answer: Answer, body: Json) -> Json:
    message: Json = {"role": "assistant", "content": answer.text or None}
    if answer.tool_calls:
        message["tool_calls"] = [
            {
                "id": tool_call.id or f"call_{n:02}",
                "type": "function",
                "function": {"name": tool_call.tool, "arguments": _arguments(tool_call)},
            }
            for n, tool_call in enumerate(answer.tool_calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": _chat_stop(answer), "logprobs": None}
    header = {"id": "chatcmpl-01", "object": "chat.completion", "created": CREATED, "model": body["model"]}
    return {**header, "choices": [choice], "usage": _chat_usage(answer)}


def chat_events(answer: Answer, body: Json) -> Iterator[Event]:
    header = {"id": "chatcmpl-01", "object": "chat.completion.chunk", "created": CREATED, "model": body["model"]}

    def chunk(delta: Json, stop: str | None = None) -> Event:
        return None, json.dumps({**header, "choices": [{"index": 0, "delta": delta, "finish_reason": stop}]})

    yield chunk({"role": "assistant", "content": ""})
    for at in range(0, len(answer.text), answer.chunk_size):
        yield chunk({"content": answer.text[at : at + answer.chunk_size]})
    for number, tool_call in enumerate(answer.tool_calls):
        started = {"name": tool_call.tool, "arguments": ""}
        call = {"index": number, "id": tool_call.id or f"call_{number:02}", "type": "function", "function": started}
        yield chunk({"tool_calls": [call]})
        text = _arguments(tool_call)
        for at in range(0, len(text), answer.chunk_size):
            more = {"index": number, "function": {"arguments": text[at : at + answer.chunk_size]}}
            yield chunk({"tool_calls": [more]})
    yield chunk({}, _chat_stop(answer))
    options: Json = body.get("stream_options") or {}
    if options.get("include_usage"):
        yield None, json.dumps({**header, "choices": [], "usage": _chat_usage(answer)})
    yield None, "[DONE]"


def chat_error_event() -> Event:
    return None, json.dumps({"error": {"message": "Overloaded", "type": "overloaded_error", "code": None}})


# ---- Responses -------------------------------------------------------------------------------------------
def _items(answer: Answer) -> list[Json]:
    items: list[Json] = []
    if answer.text:
        part: Json = {"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}
        items.append({"id": "msg_01", "type": "message", "status": "completed", "role": "assistant", "content": [part]})
    for number, tool_call in enumerate(answer.tool_calls):
        call = {"id": f"fc_{number:02}", "type": "function_call", "status": "completed"}
        called = {
            "call_id": tool_call.id or f"call_{number:02}",
            "name": tool_call.tool,
            "arguments": _arguments(tool_call),
        }
        items.append({**call, **called})
    return items


def _response(answer: Answer, body: Json, items: list[Json], status: str) -> Json:
    reason = {"length": "max_output_tokens", "refusal": "content_filter"}.get(answer.finish_reason or "")
    done = status == "completed"
    return {
        "id": "resp_01",
        "object": "response",
        "created_at": CREATED,
        "status": "incomplete" if done and reason else status,
        "error": None,
        "incomplete_details": {"reason": reason} if done and reason else None,
        "instructions": body.get("instructions"),
        "model": body["model"],
        "output": items,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": answer.input_tokens,
            "input_tokens_details": {"cached_tokens": answer.cache_read},
            "output_tokens": answer.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": answer.input_tokens + answer.output_tokens,
        }
        if done
        else None,
    }


def responses_full_response(answer: Answer, body: Json) -> Json:
    return _response(answer, body, _items(answer), "completed")


def responses_events(answer: Answer, body: Json) -> Iterator[Event]:
    for number, data in enumerate(_responses_events(answer, body)):
        yield data["type"], json.dumps({**data, "sequence_number": number})


def _responses_events(answer: Answer, body: Json) -> Iterator[Json]:
    yield {"type": "response.created", "response": _response(answer, body, [], "in_progress")}
    yield {"type": "response.in_progress", "response": _response(answer, body, [], "in_progress")}
    items = _items(answer)
    for index, item in enumerate(items):
        position = {"output_index": index, "item_id": item["id"]}
        if item["type"] == "message":
            started: Json = {**item, "content": [], "status": "in_progress"}
            yield {"type": "response.output_item.added", "output_index": index, "item": started}
            part = item["content"][0]
            inside = {**position, "content_index": 0}
            yield {"type": "response.content_part.added", **inside, "part": {**part, "text": ""}}
            for at in range(0, len(answer.text), answer.chunk_size):
                chunk = answer.text[at : at + answer.chunk_size]
                yield {"type": "response.output_text.delta", **inside, "delta": chunk, "logprobs": []}
            yield {"type": "response.output_text.done", **inside, "text": answer.text, "logprobs": []}
            yield {"type": "response.content_part.done", **inside, "part": part}
        else:
            started = {**item, "arguments": "", "status": "in_progress"}
            yield {"type": "response.output_item.added", "output_index": index, "item": started}
            text = item["arguments"]
            for at in range(0, len(text), answer.chunk_size):
                chunk = text[at : at + answer.chunk_size]
                yield {"type": "response.function_call_arguments.delta", **position, "delta": chunk}
            done = {"name": item["name"], "arguments": text}
            yield {"type": "response.function_call_arguments.done", **position, **done}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    response = responses_full_response(answer, body)
    yield {"type": f"response.{response['status']}", "response": response}


def responses_error_event() -> Event:
    event = {"type": "error", "code": "server_is_overloaded", "message": "Overloaded", "param": None}
    return "error", json.dumps({**event, "sequence_number": 9})
