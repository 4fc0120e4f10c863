"""Read a model response as text or as an object."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from pydantic_ai.messages import ModelResponse

from cairn.documents import DocumentError, decode_json
from cairn.runners.agents.answer_schema import FINAL_RESULT, AnswerSchema
from cairn.runners.agents.transcript import text_of

_FENCED = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?```\s*\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class AgentAnswer:
    text: str
    value: Any = None  # the object, if there is an answer schema


@dataclass(frozen=True, slots=True)
class UnreadableAnswer:
    """An answer that is empty or not a JSON object. The message is sent to the model."""

    message: str
    text: str = ""
    is_empty: bool = False


def read_answer(response: ModelResponse, schema: AnswerSchema | None) -> AgentAnswer | UnreadableAnswer:
    text = text_of(response)
    if schema is None:
        return AgentAnswer(text) if text.strip() else UnreadableAnswer("the answer is empty", is_empty=True)
    for call in response.tool_calls:
        if call.tool_name == FINAL_RESULT:
            return _read_object(call.args if call.args is not None else "{}", text)
    if not text.strip():
        return UnreadableAnswer(f"the answer is empty: return the result with {FINAL_RESULT}", is_empty=True)
    found = _FENCED.match(text)
    return _read_object(found[1] if found else text, text)


def _read_object(content: str | dict[str, Any], text: str) -> AgentAnswer | UnreadableAnswer:
    if isinstance(content, dict):
        return AgentAnswer(text, content)
    try:
        value = decode_json(content)
    except DocumentError as error:
        return UnreadableAnswer(f"expected one JSON object ({error})", content)
    if not isinstance(value, dict):
        return UnreadableAnswer(f"expected one JSON object, got {type(value).__name__}", content)
    return AgentAnswer(text, value)
