"""What an answer of a model's comes to: words, or an object."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from pydantic_ai.messages import ModelResponse

from cairn.documents import DocumentError, decode_json
from cairn.runners.agents.answer_schema import FINAL_RESULT, AnswerSchema
from cairn.runners.agents.transcript import spoken

_FENCED = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?```\s*\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class AgentAnswer:
    text: str
    value: Any = None  # where an object was asked for


@dataclass(frozen=True, slots=True)
class UnreadableAnswer:
    """It is not in the form that was asked for; the words are for the model."""

    message: str
    text: str = ""
    is_empty: bool = False


def read_answer(response: ModelResponse, shape: AnswerSchema | None) -> AgentAnswer | UnreadableAnswer:
    text = spoken(response)
    if shape is None:
        return AgentAnswer(text) if text.strip() else UnreadableAnswer("the answer is empty", is_empty=True)
    for call in response.tool_calls:
        if call.tool_name == FINAL_RESULT:
            return _read(call.args if call.args is not None else "{}", text)
    if not text.strip():
        return UnreadableAnswer(f"the answer is empty; hand the result over as {FINAL_RESULT}", is_empty=True)
    found = _FENCED.match(text)
    return _read(found[1] if found else text, text)


def _read(written: str | dict[str, Any], text: str) -> AgentAnswer | UnreadableAnswer:
    if isinstance(written, dict):
        return AgentAnswer(text, written)
    try:
        value = decode_json(written)
    except DocumentError as error:
        return UnreadableAnswer(f"expected one JSON object, but {error}", written)
    if not isinstance(value, dict):
        return UnreadableAnswer(f"expected one JSON object, but here it is {type(value).__name__}", written)
    return AgentAnswer(text, value)
