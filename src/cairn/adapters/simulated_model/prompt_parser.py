"""Parse prompts: sections, material, the task and the requested output."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from cairn.adapters.simulated_model.text import strings_in

_HEADING = re.compile(r"^=== (.+?) ===\s*$")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})\s*([\w+-]*)\s*$")
_ELEMENT = re.compile(r"^<([a-z_]+)((?: [a-z_]+=\"[^\"]*\")*)>(.*?)</\1>", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"^- (?:`)?([^\s,`]+\.[A-Za-z0-9]{1,16})(?:`)?(?:,? in [^:\n]*?)?(?::\s*(.*))?$", re.MULTILINE)
_ANSWER_FILE = re.compile(r"complete content of (\S+\.[A-Za-z0-9]{1,16})\b.*?(?: Description: (.*))?$", re.DOTALL)
_ROLE = re.compile(r"\bYou are (?:an? |the )?([^.,\n]{2,80})", re.IGNORECASE)
_MEMBER = re.compile(r"\bYou are ([^.,\n]{1,80}?)(?: in a |,|\.)")
_INSTRUCTION_SECTIONS = ("YOUR TASK", "YOUR ROLE", "YOUR INSTRUCTIONS", "RESULT", "EXAMPLES")
_FEEDBACK_SECTIONS = ("DISCUSSION", "REVISION FEEDBACK", "VALIDATION FINDINGS")
_STATEMENT = re.compile(r"^([^\n:]{1,80}):\n(`{3,})text\n(.*?)\n\2", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RequestedOutput:
    """A file that the prompt requests."""

    path: str
    description: str = ""
    schema: Any = None

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2].rpartition(".")[0]

    @property
    def format(self) -> str:
        return self.path.rpartition(".")[2].lower()


@dataclass(frozen=True)
class ParsedPrompt:
    """The system prompt, the user prompts and the tool results of a conversation."""

    system: str
    user_prompts: tuple[str, ...]
    tool_results: tuple[str, ...] = ()
    sections: tuple[tuple[str, str], ...] = field(init=False)

    def __post_init__(self) -> None:
        found = tuple(section for prompt in self.user_prompts for section in split_sections(prompt))
        object.__setattr__(self, "sections", found)

    def section(self, title: str) -> str:
        return "\n\n".join(body for name, body in self.sections if name.startswith(title)).strip()

    @cached_property
    def task(self) -> str:
        """The author's task, or the text outside all sections."""
        if task := self.section("YOUR TASK"):
            return task
        untitled = "\n".join(body for name, body in self.sections if not name)
        return without_code_blocks(untitled).strip()

    @property
    def asks_for_summary(self) -> bool:
        found = re.search(r"\b(summar(y|i[sz]e)|sum up)\b", f"{self.system}\n{self.task}", re.IGNORECASE)
        return found is not None and not self.section("RESULT")

    @cached_property
    def turn_instructions(self) -> str:
        return self.section("YOUR ROLE")

    @cached_property
    def agent_name(self) -> str:
        """The name of the agent that the prompt addresses."""
        found = _MEMBER.search(self.turn_instructions) or _ROLE.search(self.system)
        return found[1].strip() if found else ""

    @cached_property
    def feedback(self) -> str:
        """Changes that people or a later checkpoint requested."""
        return "\n".join(body for body in map(self.section, ("REVISION FEEDBACK", "REWORK")) if body)

    @property
    def has_validation_findings(self) -> bool:
        return bool(self.section("VALIDATION FINDINGS"))

    @cached_property
    def judged_file(self) -> str:
        """The first file in the result that is to be judged."""
        found = re.search(r"^(\S+\.\w{1,16}):$", self.section("THE RESULT"), re.MULTILINE)
        return found[1] if found else "result"

    @cached_property
    def statements(self) -> tuple[tuple[str, str], ...]:
        """Earlier statements of the discussion: speaker and text."""
        body = self.section("DISCUSSION SO FAR")
        found = [(match[1].strip(), match[3].strip()) for match in _STATEMENT.finditer(body)]
        found += [
            (match[1], html.unescape(match[2]))
            for match in re.finditer(r'<statement speaker="([^"]*)">(.*?)</statement>', body, re.DOTALL)
        ]
        for value in json_values_in(body):
            listed = cast("dict[str, Any]", value).get("statements") if isinstance(value, dict) else None
            if isinstance(listed, list):
                statements = cast("list[dict[str, Any]]", listed)
                found += [
                    (str(statement.get("speaker", "")), str(statement.get("text", ""))) for statement in statements
                ]
        return tuple(found)

    @cached_property
    def materials(self) -> tuple[str, ...]:
        """Texts to work with: complete sections, and code blocks and JSON outside all sections."""
        found: list[str] = []
        for name, body in self.sections:
            if name:
                found += [body] if not name.startswith((*_INSTRUCTION_SECTIONS, *_FEEDBACK_SECTIONS)) else []
                continue
            found += [text for _, text in code_blocks(body)]
            found += [json.dumps(value) for value in json_values_in(without_code_blocks(body))]
        return tuple(found)

    @cached_property
    def prose(self) -> tuple[str, ...]:
        """The prose in the material, including strings of several words in JSON values.

        The prompt that started the run comes last, because the material is the source of facts.
        """
        original = self.section("ORIGINAL PROMPT")
        found: list[str] = []
        for body in (
            *(material for material in self.materials if material.strip() != original),
            *([original] if original else []),
        ):
            inner = [text for _, text in code_blocks(body)] or [body]
            for text in inner:
                values = list(json_values_in(text))
                found += (
                    [string for value in values for string in strings_in(value) if " " in string] if values else [text]
                )
        return tuple(dict.fromkeys(found))

    @cached_property
    def json_values(self) -> tuple[Any, ...]:
        """JSON values of tool results and material, newest first."""
        return tuple(
            value for body in (*reversed(self.tool_results), *self.materials) for value in json_values_in(body)
        )

    @cached_property
    def files_to_write(self) -> tuple[RequestedOutput, ...]:
        """Files to write with a tool."""
        has_sections = any(name for name, _ in self.sections)
        result = self.section("RESULT") if has_sections else without_code_blocks("\n".join(self.user_prompts))
        if "write" not in result.lower():
            return ()
        found = list(_FILE.finditer(result))
        ends = [*(match.start() for match in found[1:]), len(result)]
        return tuple(
            RequestedOutput(match[1], (match[2] or "").strip(), next(json_values_in(result[match.end() : end]), None))
            for match, end in zip(found, ends, strict=True)
        )

    @cached_property
    def answer_file(self) -> RequestedOutput | None:
        """The file whose content is the complete answer."""
        found = _ANSWER_FILE.search(self.section("RESULT"))
        return RequestedOutput(found[1], (found[2] or "").strip()) if found else None

    @cached_property
    def listed_files(self) -> tuple[RequestedOutput, ...]:
        """Files that the answer contains as members of one object."""
        return tuple(
            RequestedOutput(match[1], (match[2] or "").strip()) for match in _FILE.finditer(self.section("RESULT"))
        )


# Parsing
def split_sections(text: str) -> Iterator[tuple[str, str]]:
    """Yield title and body of each section. Text before the first section has an empty title."""
    elements = list(_ELEMENT.finditer(text)) if "=== " not in text else []
    if elements:
        yield "", _ELEMENT.sub("", text)
        for element in elements:
            yield element[1].replace("_", " ").upper(), _unescaped(element[1], element[3])
        return
    title, lines, fence = "", list[str](), ""
    for line in text.splitlines():
        if found := _FENCE.match(line):
            fence = "" if fence and line.strip() == fence else fence or found[1]
        elif not fence and (heading := _HEADING.match(line)):
            yield title, "\n".join(lines)
            title, lines = heading[1], []
            continue
        lines.append(line)
    yield title, "\n".join(lines)


def _unescaped(name: str, body: str) -> str:
    """Undo the XML layout's escaping, which applies to material but not to instructions."""
    if name.startswith("your_") or name in ("result", "discussion_so_far"):
        return body
    return html.unescape(re.sub(r"</?\w+[^>]*>", "\n", body))


def code_blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield language and content of each fenced code block."""
    language, lines, fence = "", list[str](), ""
    for line in text.splitlines():
        found = _FENCE.match(line)
        if not fence and found:
            fence, language, lines = found[1], found[2], []
        elif fence and line.strip() == fence:
            yield language, "\n".join(lines)
            fence = ""
        elif fence:
            lines.append(line)


def without_code_blocks(text: str) -> str:
    for _, content in code_blocks(text):
        text = text.replace(content, "")
    return re.sub(r"^\s*(`{3,}|~{3,}).*$", "", text, flags=re.MULTILINE)


def json_values_in(text: str) -> Iterator[Any]:
    """Yield the JSON objects and arrays that start at the beginning of a line."""
    decoder = json.JSONDecoder()
    position = 0
    while (match := re.compile(r"^[ \t]*[\[{]", re.MULTILINE).search(text, position)) is not None:
        try:
            value, position = decoder.raw_decode(text, match.end() - 1)
        except (ValueError, RecursionError):
            position = match.end()
        else:
            yield value
