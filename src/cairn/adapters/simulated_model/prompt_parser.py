"""What a prompt says, read as a model would: sections, material, the task, what is to be made."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from cairn.adapters.simulated_model.text import texts_in

_HEADING = re.compile(r"^=== (.+?) ===\s*$")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})\s*([\w+-]*)\s*$")
_ELEMENT = re.compile(r"^<([a-z_]+)((?: [a-z_]+=\"[^\"]*\")*)>(.*?)</\1>", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"^- (?:`)?([^\s,`]+\.[A-Za-z0-9]{1,16})(?:`)?(?:,? in [^:\n]*?)?(?::\s*(.*))?$", re.MULTILINE)
_ONE_FILE = re.compile(r"answer is the content of (\S+\.[A-Za-z0-9]{1,16})\b.*?(?:What is in it: (.*))?$", re.DOTALL)
_INTRODUCED = re.compile(r"\bYou are (?:an? |the )?([^.,\n]{2,80})", re.IGNORECASE)
_MEMBER = re.compile(r"\bYou are ([^.,\n]{1,80}?)(?: in a |,|\.)")
_OWN = ("YOUR TASK", "YOUR PART", "YOUR INSTRUCTIONS", "RESULT", "EXAMPLES")  # sections that are no material
_SAID = ("DISCUSSION", "REVISION FEEDBACK", "VALIDATION FINDINGS")  # about the work, not what it is about
_STATEMENT = re.compile(r"^([^\n:]{1,80}):\n(`{3,})text\n(.*?)\n\2", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RequestedOutput:
    """A file that is to be made."""

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
    """Of a system prompt, and of what was said by whoever asks, the first time and since."""

    system: str
    prompts: tuple[str, ...]
    results: tuple[str, ...] = ()  # of tools
    sections: tuple[tuple[str, str], ...] = field(init=False)

    def __post_init__(self) -> None:
        found = tuple(one for prompt in self.prompts for one in split(prompt))
        object.__setattr__(self, "sections", found)

    def section(self, title: str) -> str:
        return "\n\n".join(body for name, body in self.sections if name.startswith(title)).strip()

    @cached_property
    def task(self) -> str:
        """What is to be done, in the author's words."""
        if task := self.section("YOUR TASK"):
            return task
        loose = "\n".join(body for name, body in self.sections if not name)
        return without_fences(loose).strip()

    @property
    def wants_summary(self) -> bool:
        is_asked = re.search(r"\b(summar(y|i[sz]e)|sum up)\b", f"{self.system}\n{self.task}", re.IGNORECASE)
        return is_asked is not None and not self.section("RESULT")

    @cached_property
    def duty(self) -> str:
        return self.section("YOUR PART")

    @cached_property
    def agent(self) -> str:
        """Whom it speaks for."""
        found = _MEMBER.search(self.duty) or _INTRODUCED.search(self.system)
        return found[1].strip() if found else ""

    @cached_property
    def feedback(self) -> str:
        """What people, or who sent it back, want to have otherwise."""
        return "\n".join(body for body in map(self.section, ("REVISION FEEDBACK", "REWORK")) if body)

    @property
    def was_refused(self) -> bool:
        return bool(self.section("VALIDATION FINDINGS"))

    @cached_property
    def judged(self) -> str:
        """The first file of a result that is to be judged."""
        found = re.search(r"^(\S+\.\w{1,16}):$", self.section("THE RESULT"), re.MULTILINE)
        return found[1] if found else "result"

    @cached_property
    def statements(self) -> tuple[tuple[str, str], ...]:
        """What others have said: who, and what."""
        body = self.section("DISCUSSION SO FAR")
        found = [(one[1].strip(), one[3].strip()) for one in _STATEMENT.finditer(body)]
        found += [
            (one[1], html.unescape(one[2]))
            for one in re.finditer(r'<statement speaker="([^"]*)">(.*?)</statement>', body, re.DOTALL)
        ]
        for value in values_in(body):
            told = cast("dict[str, Any]", value).get("statements") if isinstance(value, dict) else None
            if isinstance(told, list):
                said = cast("list[dict[str, Any]]", told)
                found += [(str(one.get("speaker", "")), str(one.get("text", ""))) for one in said]
        return tuple(found)

    @cached_property
    def materials(self) -> tuple[str, ...]:
        """Texts that the task is about; of what has no title, what is fenced in or JSON."""
        found: list[str] = []
        for name, body in self.sections:
            if name:
                found += [body] if not name.startswith((*_OWN, *_SAID)) else []
                continue
            found += [text for _, text in fences(body)]
            found += [json.dumps(value) for value in values_in(without_fences(body))]
        return tuple(found)

    @cached_property
    def prose(self) -> tuple[str, ...]:
        """The words of the material: of JSON its longer texts, of the rest all but headings.

        What the run was started for comes last: the material is what there is to go by.
        """
        asked = self.section("ORIGINAL PROMPT")
        found: list[str] = []
        for body in (*(one for one in self.materials if one.strip() != asked), *([asked] if asked else [])):
            inner = [text for _, text in fences(body)] or [body]
            for text in inner:
                values = list(values_in(text))
                found += [one for value in values for one in texts_in(value) if " " in one] if values else [text]
        return tuple(dict.fromkeys(found))

    @cached_property
    def values(self) -> tuple[Any, ...]:
        """What of it is JSON; what tools have returned comes first, it is newer."""
        return tuple(value for body in (*reversed(self.results), *self.materials) for value in values_in(body))

    @cached_property
    def files(self) -> tuple[RequestedOutput, ...]:
        """Those that are to be written with tools."""
        is_bare = all(not name for name, _ in self.sections)
        result = without_fences("\n".join(self.prompts)) if is_bare else self.section("RESULT")
        if "write" not in result.lower():
            return ()
        found = list(_FILE.finditer(result))
        ends = [*(one.start() for one in found[1:]), len(result)]
        return tuple(
            RequestedOutput(one[1], (one[2] or "").strip(), next(values_in(result[one.end() : end]), None))
            for one, end in zip(found, ends, strict=True)
        )

    @cached_property
    def answer_file(self) -> RequestedOutput | None:
        """The file whose content the answer is."""
        found = _ONE_FILE.search(self.section("RESULT"))
        return RequestedOutput(found[1], (found[2] or "").strip()) if found else None

    @cached_property
    def listed(self) -> tuple[RequestedOutput, ...]:
        """Files that the answer holds as an object."""
        return tuple(RequestedOutput(one[1], (one[2] or "").strip()) for one in _FILE.finditer(self.section("RESULT")))


# ---- taking apart ------------------------------------------------------------------------------------------
def split(text: str) -> Iterator[tuple[str, str]]:
    """Sections with their titles; what stands before the first has none."""
    elements = list(_ELEMENT.finditer(text)) if "=== " not in text else []
    if elements:
        yield "", _ELEMENT.sub("", text)
        for one in elements:
            yield one[1].replace("_", " ").upper(), _unescaped(one[1], one[3])
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
    """An author's own words stand as they are; content does not."""
    if name.startswith("your_") or name in ("result", "discussion_so_far"):
        return body
    return html.unescape(re.sub(r"</?\w+[^>]*>", "\n", body))


def fences(text: str) -> Iterator[tuple[str, str]]:
    """What stands between fences, with the language."""
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


def without_fences(text: str) -> str:
    for _, inside in fences(text):
        text = text.replace(inside, "")
    return re.sub(r"^\s*(`{3,}|~{3,}).*$", "", text, flags=re.MULTILINE)


def values_in(text: str) -> Iterator[Any]:
    """JSON objects and lists that begin a line."""
    decoder = json.JSONDecoder()
    at = 0
    while (found := re.compile(r"^[ \t]*[\[{]", re.MULTILINE).search(text, at)) is not None:
        try:
            value, at = decoder.raw_decode(text, found.end() - 1)
        except (ValueError, RecursionError):
            at = found.end()
        else:
            yield value
