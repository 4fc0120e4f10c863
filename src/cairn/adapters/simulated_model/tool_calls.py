"""Tools that a simulated model has: which of them a task calls for, and what they are called with."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from cairn.adapters.simulated_model.documents import value
from cairn.adapters.simulated_model.field_meanings import FieldPlace
from cairn.adapters.simulated_model.plausible_values import PlausibleValues
from cairn.adapters.simulated_model.prompt_parser import ParsedPrompt
from cairn.adapters.simulated_model.text import label, slug

MOST = 4  # uses before the result
# What in an author's words calls for a tool; first those that look, then those that ask others.
_CALLED_FOR: tuple[tuple[str, str], ...] = (
    ("list_files", r"\b(existing|workspace|given) files?\b|\blook at the files\b"),
    ("web_search", r"\b(search|web|look up|research|latest|current|news|sources?)\b"),
    ("code_execution", r"\b(run|execut\w+|comput\w+|calculat\w+|python|script|code)\b"),
    ("run_code", r"\b(run|execut\w+|comput\w+|calculat\w+|python|script|code)\b"),
    ("ask_human", r"\b(ask|unclear|clarif\w+|unsure|question|confirm)\b"),
    ("request_rework", r"\b(rework|send (it|them)? ?back|fix|fails?|failing|not good enough)\b"),
    ("propose_action", r"\b(propos\w+|approv\w+|refund|send|action|pay|book|publish|delete|order)\b"),
)
_OTHERWISE = frozenset({"read_file", "write_file", "edit_file", "copy_file", "delete_file", "search_files"})
_CODE = ("code", "source", "script", "program")
_OFFERED = re.compile(
    r"^(?P<name>\S+) \((?P<risk>\w+) risk\)(?:: (?P<about>.*))?(?:\nParameters: (?P<schema>\{.*\}))?$", re.MULTILINE
)
_SAID = (
    "operation_type",
    "parameters",
    "reasoning",
    "confidence",
    "risk_level",
    "supporting_data",
)  # also where it need not be
_QUERY = ("query", "q", "search", "search_query")


@dataclass(frozen=True, slots=True)
class SimulatedTool:
    name: str
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def parameters(self) -> Mapping[str, Any]:
        return cast("Mapping[str, Any]", self.schema.get("properties", {}))

    @property
    def writes(self) -> bool:
        if not {"path", "content"} <= set(self.parameters):
            return False
        return re.search(r"write|create|save|file_operations", self.name) is not None

    def writing(self, path: str, content: str) -> dict[str, Any]:
        """Arguments that write a file."""
        operation = cast("Mapping[str, Any]", self.parameters.get("operation", {}))
        chosen = {"operation": "write"} if operation else {}
        return {**chosen, "path": path, "content": content}


@dataclass(frozen=True, slots=True)
class ToolUse:
    tool: str
    arguments: Mapping[str, Any]
    words: str = ""  # said with it


def called_for(tools: Sequence[SimulatedTool], used: Sequence[str], reading: ParsedPrompt) -> SimulatedTool | None:
    """The next one that the task speaks of, each once."""
    there = {tool.name: tool for tool in tools if tool.name not in used}
    if len(used) >= MOST:
        return None
    own = f"{reading.task}\n{reading.duty}"
    known = dict(_CALLED_FOR)
    for name, pattern in _CALLED_FOR:
        if name in there and (name in own or re.search(pattern, own, re.IGNORECASE)):
            return there[name]
    for name, tool in there.items():
        words = [word for word in re.split(r"[^a-z]+", name.lower()) if len(word) > 2]
        is_named = name in own or any(re.search(rf"\b{word}\b", own, re.IGNORECASE) for word in words)
        if is_named and name not in known and name not in _OTHERWISE and not tool.writes:
            return tool
    return None


def used_with(
    tool: SimulatedTool, reading: ParsedPrompt, knowing: PlausibleValues, given: Mapping[str, Any] | None = None
) -> ToolUse:
    """A call of the tool; what is given stands, the rest is made up."""
    made = value({"type": "object", **tool.schema}, knowing)
    arguments = {**(cast("dict[str, Any]", made) if isinstance(made, dict) else {}), **_sensible(tool, knowing)}
    arguments.pop("supporting_data", None)  # only what is known
    if tool.name == "propose_action":
        arguments |= _proposal(tool, arguments, reading, knowing)
    wanted = {*cast("Sequence[str]", tool.schema.get("required", ())), *_SAID}
    arguments = {key: inner for key, inner in arguments.items() if key in wanted and key in tool.parameters}
    return ToolUse(tool.name, {**arguments, **(given or {})}, _words(tool, reading, knowing, given or {}))


def _sensible(tool: SimulatedTool, knowing: PlausibleValues) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, schema in tool.parameters.items():
        is_text = isinstance(schema, Mapping) and cast("Mapping[str, Any]", schema).get("type") == "string"
        if is_text and name in _CODE:
            found[name] = _program(knowing)
        elif is_text and name in _QUERY:
            found[name] = " ".join(knowing.topics[:4])
        elif name in ("folder", "first_line", "lines"):
            found[name] = cast("Mapping[str, Any]", schema).get("default", "")
    return found


def _program(knowing: PlausibleValues) -> str:
    topics = json.dumps(knowing.topics[:3], ensure_ascii=False)
    return f"topics = {topics}\nfor topic in topics:\n    print(topic, len(topic))\n"


def _proposal(
    tool: SimulatedTool, made: Mapping[str, Any], reading: ParsedPrompt, knowing: PlausibleValues
) -> dict[str, Any]:
    """What is proposed, why, and how sure it is: one of the operations that the tool tells of, if it does."""
    known = {one["name"]: one for one in _OFFERED.finditer(tool.description)}
    offered = list(known) or [str(made.get("operation_type") or "send_email")]
    own = f"{reading.task} {reading.duty}".lower()

    def spoken_of(name: str) -> int:
        about = f"{name} {known[name]['about'] or ''}" if name in known else name
        return sum(word in own for word in re.split(r"[^a-z]+", about.lower()) if len(word) > 3)

    declared = "enum" in cast("Mapping[str, Any]", tool.parameters.get("operation_type", {}))
    kind = str(made["operation_type"]) if declared else max(offered, key=spoken_of)
    found = known.get(kind)
    risk = {"risk_level": found["risk"]} if found else {}
    schema = json.loads(found["schema"]) if found and found["schema"] else None
    parameters = value(schema, knowing) if schema is not None else _parameters(kind, knowing)
    shown = {"supporting_data": seen} if (seen := _seen(reading)) else {}
    return {"operation_type": kind, "parameters": parameters, **risk, **shown}


def _seen(reading: ParsedPrompt) -> dict[str, Any]:
    """What whoever decides would want to see beside it: the objects of what was given, by name."""
    given = next((cast("dict[str, Any]", one) for one in reading.values if isinstance(one, dict)), dict[str, Any]())
    return {label(name): inner for name, inner in given.items() if isinstance(inner, dict) and inner}


def _parameters(kind: str, knowing: PlausibleValues) -> dict[str, Any]:
    to = next((one for one in knowing.known(FieldPlace("email")) if isinstance(one, str)), "customer@example.com")
    if "mail" in kind:
        return {"to": to, "subject": knowing.subject, "body": knowing.letter}
    if "http" in kind:
        address = f"https://example.com/{slug(knowing.topic(0)) or 'item'}"
        return {"method": "POST", "url": address, "body": {"title": knowing.subject}}
    amount = next((one for one in knowing.known(FieldPlace("amount")) if isinstance(one, int | float)), None)
    return {"about": knowing.subject, **({"amount": amount} if amount is not None else {})}


def _words(tool: SimulatedTool, reading: ParsedPrompt, knowing: PlausibleValues, given: Mapping[str, Any]) -> str:
    match tool.name:
        case "propose_action":
            return f"I propose an action: {knowing.reason(0)}"
        case "request_rework":
            return f"This is not right yet. {given.get('reason') or knowing.reason(0)} I ask for it to be done again."
        case "ask_human":
            return f"Before I go on I ask: {reading.agent or 'I'} cannot decide this alone."
        case _:
            return f"I use {tool.name} for {knowing.topic(0)}."
