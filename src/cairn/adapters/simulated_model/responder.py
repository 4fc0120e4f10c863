"""Choose the simulated model's reply: tool calls, files, a structured output or text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from cairn.adapters.simulated_model.discussion_text import discussion_reply
from cairn.adapters.simulated_model.documents import file_content, schema_value
from cairn.adapters.simulated_model.plausible_values import PlausibleValues
from cairn.adapters.simulated_model.prompt_parser import ParsedPrompt, RequestedOutput
from cairn.adapters.simulated_model.script import ScriptStep
from cairn.adapters.simulated_model.tool_calls import SimulatedTool, ToolUse, next_tool, tool_use

_ONE_WORD = re.compile(r"\breply with exactly one word\b[^:]*:\s*(\w+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SimulatedRequest:
    """The exact request that a provider would receive."""

    prompt: ParsedPrompt
    tools: Sequence[SimulatedTool] = ()
    output: SimulatedTool | None = None  # the schema of a structured output
    tool_uses: Sequence[ToolUse] = ()  # so far in this conversation

    @property
    def used_tools(self) -> list[str]:
        return [use.tool for use in self.tool_uses]


@dataclass(frozen=True, slots=True)
class SimulatedReply:
    text: str = ""
    tool_uses: Sequence[ToolUse] = ()
    output: tuple[Any] | None = None  # in a tuple, because the value can be null


def respond(request: SimulatedRequest, step: ScriptStep | None = None) -> SimulatedReply:
    prompt = request.prompt
    values = PlausibleValues(prompt)
    step = step or ScriptStep()
    if step.use is not None and (tool := _tool(request, step.use)) is not None:
        use = tool_use(tool, prompt, values, step.arguments)
        return SimulatedReply(use.text, [use])
    if step.say is not None:
        return _scripted_text(request, step.say)
    if step.output is not None:
        return (
            SimulatedReply(output=step.output)
            if request.output
            else SimulatedReply(json.dumps(step.output[0], ensure_ascii=False))
        )
    tool = next_tool(request.tools, request.used_tools, prompt)
    if tool is not None:
        use = tool_use(tool, prompt, values)
        return SimulatedReply(use.text, [use])
    return _file_reply(request, step, values) or _final_reply(request, step, values)


def _tool(request: SimulatedRequest, name: str) -> SimulatedTool | None:
    return next((tool for tool in request.tools if tool.name == name), None)


def _scripted_text(request: SimulatedRequest, text: str) -> SimulatedReply:
    if request.output is None:
        return SimulatedReply(text)
    try:
        return SimulatedReply(output=(json.loads(text),))
    except ValueError:
        return SimulatedReply(text)


# Files
def _file_reply(request: SimulatedRequest, step: ScriptStep, values: PlausibleValues) -> SimulatedReply | None:
    """Write the missing files, or confirm that all files are written. None if the prompt requests no files."""
    writer = next((tool for tool in request.tools if tool.writes), None)
    if writer is None or not request.prompt.files_to_write:
        return None
    written = {str(use.arguments.get("path", "")) for use in request.tool_uses}
    files = _with_scripted_files(request.prompt.files_to_write, step.artifacts)
    missing = [file for file in files if file.path not in written and not _is_skipped(file, step.artifacts)]
    if not missing:
        paths = ", ".join(file.path for file in files if file.path in written) or "none"
        return SimulatedReply(f"Files written: {paths}. {values.prose(0)}")
    uses = [
        ToolUse(writer.name, writer.write_arguments(file.path, _content(file, step, request, values)))
        for file in missing
    ]
    return SimulatedReply(f"I will write {' and '.join(file.path for file in missing)}.", uses)


def _with_scripted_files(files: Sequence[RequestedOutput], artifacts: Mapping[str, Any]) -> list[RequestedOutput]:
    """Add the files that only the script mentions."""
    folder = files[0].path.rpartition("/")[0]
    known = {name for file in files for name in (file.name, file.path.rpartition("/")[2])}
    extra = [
        RequestedOutput(f"{folder}/{name}".lstrip("/"))
        for name, content in artifacts.items()
        if name not in known and content is not None
    ]
    return [*files, *extra]


def _scripted_content(file: RequestedOutput, artifacts: Mapping[str, Any]) -> Any:
    """The content from the script. None: the script skips the file. Ellipsis: the script doesn't mention it."""
    file_name = file.path.rpartition("/")[2]
    return artifacts.get(file.name, artifacts.get(file_name, ...))


def _is_skipped(file: RequestedOutput, artifacts: Mapping[str, Any]) -> bool:
    return _scripted_content(file, artifacts) is None


def _content(file: RequestedOutput, step: ScriptStep, request: SimulatedRequest, values: PlausibleValues) -> str:
    scripted = _scripted_content(file, step.artifacts)
    if scripted is ...:
        return file_content(file, request.prompt, values)
    return scripted if isinstance(scripted, str) else json.dumps(scripted, indent=2, ensure_ascii=False)


# Final replies
def _final_reply(request: SimulatedRequest, step: ScriptStep, values: PlausibleValues) -> SimulatedReply:
    prompt = request.prompt
    if request.output is not None:
        return SimulatedReply(output=(_structured_output(request.output, prompt, step, values),))
    if (word := _ONE_WORD.search(prompt.task)) is not None:
        return SimulatedReply(word[1])
    if (file := prompt.answer_file) is not None:
        return SimulatedReply(_content(file, step, request, values))
    if prompt.asks_for_summary:
        return SimulatedReply(_summary(prompt, values))
    return SimulatedReply(discussion_reply(prompt, values))


def _structured_output(output: SimulatedTool, prompt: ParsedPrompt, step: ScriptStep, values: PlausibleValues) -> Any:
    generated = schema_value(output.schema, values)
    if not isinstance(generated, dict):
        return generated
    members = cast("dict[str, Any]", generated)
    files = {re.sub(r"[^A-Za-z0-9_-]", "_", file.name): file for file in prompt.listed_files}
    for name, file in files.items():
        if len(files) > 1 and file.format != "json" and isinstance(members.get(name), str):
            members[name] = file_content(file, prompt, values)
    for name, scripted in step.artifacts.items():
        if name in files and len(files) == 1 and name not in members:
            return scripted if scripted is not None else {}
        members = {key: value for key, value in {**members, name: scripted}.items() if value is not None or key != name}
    return members


def _summary(prompt: ParsedPrompt, values: PlausibleValues) -> str:
    found = values.sentences or [prompt.task[:300]]
    return f"Summary: {' '.join(found[:5])}"
