"""The simulated model's tool calls: choose the tool that a task calls for, and its arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from cairn.adapters.simulated_model.documents import schema_value
from cairn.adapters.simulated_model.plausible_values import PlausibleValues
from cairn.adapters.simulated_model.prompt_parser import ParsedPrompt
from cairn.adapters.simulated_model.text import label, slug
from cairn.adapters.simulated_model.value_source import SchemaField

MAX_TOOL_CALLS = 4  # before the result
# Words in a task that call for a tool, in the order of use.
_TRIGGERS: tuple[tuple[str, str], ...] = (
    ("list_files", r"\b(existing|workspace|given) files?\b|\blook at the files\b"),
    ("web_search", r"\b(search|web|look up|research|latest|current|news|sources?)\b"),
    ("code_execution", r"\b(run|execut\w+|comput\w+|calculat\w+|python|script|code)\b"),
    ("run_code", r"\b(run|execut\w+|comput\w+|calculat\w+|python|script|code)\b"),
    ("ask_human", r"\b(ask|unclear|clarif\w+|unsure|question|confirm)\b"),
    ("request_rework", r"\b(rework|send (it|them)? ?back|fix|fails?|failing|not good enough)\b"),
    ("propose_action", r"\b(propos\w+|approv\w+|refund|send|action|pay|book|publish|delete|order)\b"),
)
_FILE_TOOLS = frozenset({"read_file", "write_file", "edit_file", "copy_file", "delete_file", "search_files"})
_FOLLOW_UPS = frozenset({"report_outcome"})  # without a report, an action counts as done
_CODE_PARAMETERS = ("code", "source", "script", "program")
_OPERATION = re.compile(
    r"^(?P<name>\S+) \((?P<risk>\w+) risk\)(?:: (?P<description>.*))?(?:\nParameters: (?P<schema>\{.*\}))?$",
    re.MULTILINE,
)
_PROPOSAL_PARAMETERS = (  # sent even if they are optional
    "operation_type",
    "parameters",
    "reasoning",
    "confidence",
    "risk_level",
    "supporting_data",
)
_QUERY_PARAMETERS = ("query", "q", "search", "search_query")


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

    def write_arguments(self, path: str, content: str) -> dict[str, Any]:
        operation = {"operation": "write"} if self.parameters.get("operation") else {}
        return {**operation, "path": path, "content": content}


@dataclass(frozen=True, slots=True)
class ToolUse:
    tool: str
    arguments: Mapping[str, Any]
    text: str = ""  # accompanies the call


def next_tool(tools: Sequence[SimulatedTool], used_tools: Sequence[str], prompt: ParsedPrompt) -> SimulatedTool | None:
    """The next unused tool that the task calls for. Material never triggers a tool."""
    unused = {tool.name: tool for tool in tools if tool.name not in used_tools and tool.name not in _FOLLOW_UPS}
    if len(used_tools) >= MAX_TOOL_CALLS:
        return None
    instructions = f"{prompt.task}\n{prompt.turn_instructions}"
    known = dict(_TRIGGERS)
    for name, pattern in _TRIGGERS:
        if name in unused and (name in instructions or re.search(pattern, instructions, re.IGNORECASE)):
            return unused[name]
    for name, tool in unused.items():
        words = [word for word in re.split(r"[^a-z]+", name.lower()) if len(word) > 2]
        is_named = name in instructions or any(re.search(rf"\b{word}\b", instructions, re.IGNORECASE) for word in words)
        if is_named and name not in known and name not in _FILE_TOOLS and not tool.writes:
            return tool
    return None


def tool_use(
    tool: SimulatedTool, prompt: ParsedPrompt, values: PlausibleValues, fixed: Mapping[str, Any] | None = None
) -> ToolUse:
    """Build a call of the tool. Arguments that are not `fixed` are made up."""
    generated = schema_value({"type": "object", **tool.schema}, values)
    arguments = cast("dict[str, Any]", generated) if isinstance(generated, dict) else {}
    arguments = {**arguments, **_typical_arguments(tool, values)}
    arguments.pop("supporting_data", None)  # never made up
    if tool.name == "propose_action":
        arguments |= _proposal(tool, arguments, prompt, values)
    names = {*cast("Sequence[str]", tool.schema.get("required", ())), *_PROPOSAL_PARAMETERS}
    arguments = {name: inner for name, inner in arguments.items() if name in names and name in tool.parameters}
    return ToolUse(tool.name, {**arguments, **(fixed or {})}, _text(tool, prompt, values, fixed or {}))


def _typical_arguments(tool: SimulatedTool, values: PlausibleValues) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, schema in tool.parameters.items():
        is_text = isinstance(schema, Mapping) and cast("Mapping[str, Any]", schema).get("type") == "string"
        if is_text and name in _CODE_PARAMETERS:
            found[name] = _program(values)
        elif is_text and name in _QUERY_PARAMETERS:
            found[name] = " ".join(values.topics[:4])
        elif name in ("folder", "first_line", "lines"):
            found[name] = cast("Mapping[str, Any]", schema).get("default", "")
    return found


def _program(values: PlausibleValues) -> str:
    topics = json.dumps(values.topics[:3], ensure_ascii=False)
    return f"topics = {topics}\nfor topic in topics:\n    print(topic, len(topic))\n"


def _proposal(
    tool: SimulatedTool, generated: Mapping[str, Any], prompt: ParsedPrompt, values: PlausibleValues
) -> dict[str, Any]:
    """Arguments of `propose_action`, preferably for an operation that the tool's description lists."""
    described = {match["name"]: match for match in _OPERATION.finditer(tool.description)}
    candidates = list(described) or [str(generated.get("operation_type") or "send_email")]
    instructions = f"{prompt.task} {prompt.turn_instructions}".lower()

    def relevance(name: str) -> int:
        text = f"{name} {described[name]['description'] or ''}" if name in described else name
        return sum(word in instructions for word in re.split(r"[^a-z]+", text.lower()) if len(word) > 3)

    has_enum = "enum" in cast("Mapping[str, Any]", tool.parameters.get("operation_type", {}))
    operation_type = str(generated["operation_type"]) if has_enum else max(candidates, key=relevance)
    found = described.get(operation_type)
    risk = {"risk_level": found["risk"]} if found else {}
    schema = json.loads(found["schema"]) if found and found["schema"] else None
    parameters = schema_value(schema, values) if schema is not None else _default_parameters(operation_type, values)
    if isinstance(parameters, dict):  # artifacts that may not exist
        cast("dict[str, Any]", parameters).pop("attachments", None)
    supporting = {"supporting_data": data} if (data := _supporting_data(prompt)) else {}
    return {"operation_type": operation_type, "parameters": parameters, **risk, **supporting}


def _supporting_data(prompt: ParsedPrompt) -> dict[str, Any]:
    """The nested objects of the newest JSON object, shown to approvers."""
    newest = next((cast("dict[str, Any]", value) for value in prompt.json_values if isinstance(value, dict)), None)
    return {label(name): inner for name, inner in (newest or {}).items() if isinstance(inner, dict) and inner}


def _default_parameters(operation_type: str, values: PlausibleValues) -> dict[str, Any]:
    to = next((value for value in values.known(SchemaField("email")) if isinstance(value, str)), "customer@example.com")
    if "mail" in operation_type:
        return {"to": to, "subject": values.subject, "body": values.letter}
    if "http" in operation_type:
        url = f"https://example.com/{slug(values.topic(0)) or 'item'}"
        return {"method": "POST", "url": url, "body": {"title": values.subject}}
    amount = next((value for value in values.known(SchemaField("amount")) if isinstance(value, int | float)), None)
    return {"subject": values.subject, **({"amount": amount} if amount is not None else {})}


def _text(tool: SimulatedTool, prompt: ParsedPrompt, values: PlausibleValues, fixed: Mapping[str, Any]) -> str:
    match tool.name:
        case "propose_action":
            return f"I propose an action: {values.reason(0)}"
        case "request_rework":
            return f"This needs rework. {fixed.get('reason') or values.reason(0)}"
        case "ask_human":
            return f"I have a question before I continue. {prompt.agent_name or 'I'} cannot decide this alone."
        case _:
            return f"I will use {tool.name} for {values.topic(0)}."
