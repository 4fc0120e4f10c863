"""What the simulated model answers: with tools, files, forms, verdicts, teams, or its part of a discussion."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from cairn.adapters.simulated_model.discussion_text import part_of
from cairn.adapters.simulated_model.documents import content, value
from cairn.adapters.simulated_model.plausible_values import PlausibleValues
from cairn.adapters.simulated_model.prompt_parser import ParsedPrompt, RequestedOutput
from cairn.adapters.simulated_model.script import ScriptStep
from cairn.adapters.simulated_model.tool_calls import SimulatedTool, ToolUse, called_for, used_with

_ONE_WORD = re.compile(r"\banswer with this one word\b[^:]*:\s*(\w+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SimulatedRequest:
    """What a provider is given, and no more."""

    reading: ParsedPrompt
    tools: Sequence[SimulatedTool] = ()
    output: SimulatedTool | None = None  # the form of the answer, where it is to be an object
    used: Sequence[ToolUse] = ()  # so far in this conversation

    @property
    def names_used(self) -> list[str]:
        return [one.tool for one in self.used]


@dataclass(frozen=True, slots=True)
class SimulatedReply:
    text: str = ""
    uses: Sequence[ToolUse] = ()
    raw: str | None = None  # arguments of the output as they are, also such that are no JSON
    output: tuple[Any] | None = None  # the object that was asked for


def think(asked: SimulatedRequest, step: ScriptStep | None = None) -> SimulatedReply:
    reading = asked.reading
    knowing = PlausibleValues(reading)
    step = step or ScriptStep()
    if step.use is not None and (tool := _tool(asked, step.use)) is not None:
        use = used_with(tool, reading, knowing, step.arguments)
        return SimulatedReply(use.words, [use])
    if step.say is not None:
        return _said(asked, step.say)
    if step.output is not None:
        return (
            SimulatedReply(output=step.output)
            if asked.output
            else SimulatedReply(json.dumps(step.output[0], ensure_ascii=False))
        )
    tool = called_for(asked.tools, asked.names_used, reading)
    if tool is not None:
        use = used_with(tool, reading, knowing)
        return SimulatedReply(use.words, [use])
    return _files(asked, step, knowing) or _result(asked, step, knowing)


def _tool(asked: SimulatedRequest, name: str) -> SimulatedTool | None:
    return next((tool for tool in asked.tools if tool.name == name), None)


def _said(asked: SimulatedRequest, text: str) -> SimulatedReply:
    if asked.output is None:
        return SimulatedReply(text)
    try:
        return SimulatedReply(output=(json.loads(text),))
    except ValueError:
        return SimulatedReply(text)


# ---- files -------------------------------------------------------------------------------------------------
def _files(asked: SimulatedRequest, step: ScriptStep, knowing: PlausibleValues) -> SimulatedReply | None:
    """Those that are asked for and not written yet; None: it is not about files, or all is done."""
    writer = next((tool for tool in asked.tools if tool.writes), None)
    if writer is None or not asked.reading.files:
        return None
    written = {str(one.arguments.get("path", "")) for one in asked.used}
    wanted = _with_extra(asked.reading.files, step.artifacts)
    left = [one for one in wanted if one.path not in written and not _is_left_out(one, step.artifacts)]
    if not left:
        told = ", ".join(one.path for one in wanted if one.path in written) or "nothing"
        return SimulatedReply(f"Written: {told}. {knowing.prose(0)}")
    uses = [ToolUse(writer.name, writer.writing(one.path, _content(one, step, asked, knowing))) for one in left]
    return SimulatedReply(f"I write {' and '.join(one.path for one in left)}.", uses)


def _with_extra(files: Sequence[RequestedOutput], given: Mapping[str, Any]) -> list[RequestedOutput]:
    folder = files[0].path.rpartition("/")[0]
    known = {name for one in files for name in (one.name, one.path.rpartition("/")[2])}
    extra = [
        RequestedOutput(f"{folder}/{name}".lstrip("/"))
        for name, told in given.items()
        if name not in known and told is not None
    ]
    return [*files, *extra]


def _given(wanted: RequestedOutput, artifacts: Mapping[str, Any]) -> Any:
    file = wanted.path.rpartition("/")[2]
    return artifacts.get(wanted.name, artifacts.get(file, ...))


def _is_left_out(wanted: RequestedOutput, artifacts: Mapping[str, Any]) -> bool:
    return _given(wanted, artifacts) is None


def _content(wanted: RequestedOutput, step: ScriptStep, asked: SimulatedRequest, knowing: PlausibleValues) -> str:
    told = _given(wanted, step.artifacts)
    if told is ...:
        return content(wanted, asked.reading, knowing)
    return told if isinstance(told, str) else json.dumps(told, indent=2, ensure_ascii=False)


# ---- the answer --------------------------------------------------------------------------------------------
def _result(asked: SimulatedRequest, step: ScriptStep, knowing: PlausibleValues) -> SimulatedReply:
    reading = asked.reading
    if asked.output is not None:
        return SimulatedReply(output=(_object(asked, step, knowing),))
    if (word := _ONE_WORD.search(reading.task)) is not None:
        return SimulatedReply(word[1])
    if (file := reading.answer_file) is not None:
        return SimulatedReply(_content(file, step, asked, knowing))
    if reading.wants_summary:
        return SimulatedReply(_summary(reading, knowing))
    return SimulatedReply(part_of(reading, knowing))


def _object(asked: SimulatedRequest, step: ScriptStep, knowing: PlausibleValues) -> Any:
    output = cast("SimulatedTool", asked.output)
    made = value(output.schema, knowing)
    if not isinstance(made, dict):
        return made
    members = cast("dict[str, Any]", made)
    listed = {re.sub(r"[^A-Za-z0-9_-]", "_", one.name): one for one in asked.reading.listed}
    for name, one in listed.items():
        if len(listed) > 1 and one.format != "json" and isinstance(members.get(name), str):
            members[name] = content(one, asked.reading, knowing)
    for name, told in step.artifacts.items():
        if name in listed and len(listed) == 1 and name not in members:
            return told if told is not None else {}
        members = {key: inner for key, inner in {**members, name: told}.items() if inner is not None or key != name}
    return members


def _summary(reading: ParsedPrompt, knowing: PlausibleValues) -> str:
    told = knowing.sentences or [reading.task[:300]]
    return f"In short: {' '.join(told[:5])}"
