"""Format context for models as Markdown, XML or JSON, so that content can't be mistaken for instructions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from cairn.definitions.enums import ContentFormat
from cairn.definitions.model import Example
from cairn.documents import DocumentError, Value, decode_json, encode_json


class BlockKind(StrEnum):
    PREVIOUS_VERSION = "previous_version"  # the same checkpoint in the previous run
    PREVIOUS_PASS = "previous_pass"  # noqa: S105 - the same checkpoint in the earlier pass
    CHECKPOINT_OUTPUT = "checkpoint_output"  # another checkpoint of this run
    REWORK = "rework"  # why rework was requested, and the artifacts of the requester
    REVISION_FEEDBACK = "revision_feedback"  # changes that people requested
    ORIGINAL_PROMPT = "original_prompt"  # the prompt of the run
    INPUT = "input"  # the checkpoint's input from the run
    VALIDATION_FINDINGS = "validation_findings"  # the errors of the last result


TEXTS = frozenset(
    {BlockKind.REVISION_FEEDBACK, BlockKind.ORIGINAL_PROMPT, BlockKind.INPUT, BlockKind.VALIDATION_FINDINGS}
)  # kinds whose blocks need no title below the heading


@dataclass(frozen=True, slots=True)
class PromptBlock:
    """One file or text in the context."""

    kind: BlockKind
    heading: str
    checkpoint_name: str
    run_version: int | None
    artifact_name: str | None  # None: a text
    file_name: str | None
    file_path: str | None
    format: str
    content: str | None  # None: not shown
    size_bytes: int
    omitted: str | None = None  # why the content is not shown
    label: str = "feedback"  # of a text
    is_summary: bool = False  # the content is a summary


@dataclass(frozen=True, slots=True)
class PromptSection:
    """The blocks under one heading."""

    kind: BlockKind
    heading: str
    labels: dict[str, str | int] = field(default_factory=dict[str, "str | int"])  # the origin of the blocks
    blocks: tuple[PromptBlock, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptStatement:
    """A contribution to a discussion."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class PromptLayout:
    """The functions that format the parts of a prompt."""

    sections: Callable[[Sequence[PromptSection]], str]
    titled: Callable[[str, str], str]  # a title and a trusted text, which is not escaped
    examples: Callable[[Sequence[Example]], str]
    statements: Callable[[Sequence[PromptStatement]], str]
    content_location: str  # tells the model where the content is


# Markdown

_LANGUAGES = {"md": "markdown", "mmd": "mermaid", "py": "python", "txt": "text"}
_BACKTICKS = re.compile("`+")


def fenced(content: str, language: str) -> str:
    """The content in a fence that is longer than any run of backticks in it."""
    fence = "`" * max(3, 1 + max((len(run) for run in _BACKTICKS.findall(content)), default=0))
    end = "" if content.endswith("\n") else "\n"
    return f"{fence}{language}\n{content}{end}{fence}"


def _heading(text: str) -> str:
    return f"=== {text} ==="


def _markdown(sections: Sequence[PromptSection]) -> str:
    return "\n\n".join(
        f"{_heading(section.heading)}\n" + ("\n\n".join(map(_markdown_block, section.blocks)) or "No files.")
        for section in sections
    )


def _markdown_block(block: PromptBlock) -> str:
    if block.kind in TEXTS:
        return fenced(block.content or "", _LANGUAGES.get(block.format, block.format))
    if block.file_name is None:
        return f"{block.label.capitalize()}:\n{fenced(block.content or '', 'text')}"
    lines = [f"File: {one_line(block.file_name)}"]
    if block.file_path is not None:
        lines.append(f"Path: {one_line(block.file_path)}")
    if block.omitted is not None:
        lines.append(f"Size: {block.size_bytes:,} bytes, not shown: {block.omitted}")
    if block.content is not None:
        title = "Summary of the content:" if block.is_summary else "Content:"
        lines += ["", title, fenced(block.content, _LANGUAGES.get(block.format, block.format))]
    return "\n".join(lines)


def _markdown_examples(examples: Sequence[Example]) -> str:
    parts = [_heading("EXAMPLES")]
    for number, example in enumerate(examples, 1):
        for name, value in _sides(example):
            text = encode_json(value, indent=True).decode()
            parts.append(f"Example {number}, {name}:\n{fenced(text, 'json')}")
    return "\n\n".join(parts)


def _sides(example: Example) -> list[tuple[str, dict[str, Any]]]:
    sides = (("input", example.input), ("output", example.output))
    return [(name, value) for name, value in sides if value is not None]


def _markdown_statements(statements: Sequence[PromptStatement]) -> str:
    return "\n\n".join(f"{one_line(statement.speaker)}:\n{fenced(statement.text, 'text')}" for statement in statements)


def _markdown_titled(title: str, text: str) -> str:
    return f"{_heading(title)}\n{text}"


def one_line(text: str) -> str:
    return _BREAKS.sub(" ", text)


def displayable(name: str) -> str:
    """The file name with control and formatting characters replaced."""
    return _NOT_DISPLAYABLE.sub("\ufffd", name)


_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NOT_DISPLAYABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

# Xml

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _xml(sections: Sequence[PromptSection]) -> str:
    return "\n\n".join(map(_xml_section, sections))


def _xml_section(section: PromptSection) -> str:
    name = section.kind.value
    lines = [f"<{name}{_attributes(section.labels)}>", *map(_xml_block, section.blocks), f"</{name}>"]
    return "\n".join(lines)


def _xml_block(block: PromptBlock) -> str:
    if block.file_name is None:
        return f"<{block.label}>{_text(block.content or '')}</{block.label}>"
    file: dict[str, str | int] = {"name": block.file_name}
    if block.file_path is not None:
        file["path"] = block.file_path
    if block.omitted is not None:
        file |= {"size_bytes": block.size_bytes, "not_shown": block.omitted}
    if block.content is None:
        return f"<file{_attributes(file)}/>"
    name = "summary" if block.is_summary else "content"
    return f"<file{_attributes(file)}>\n<{name}>{_text(block.content)}</{name}>\n</file>"


def _xml_examples(examples: Sequence[Example]) -> str:
    lines = ["<examples>"]
    for example in examples:
        lines.append("<example>")
        lines += [f"<{name}>{_text(encode_json(value).decode())}</{name}>" for name, value in _sides(example)]
        lines.append("</example>")
    return "\n".join([*lines, "</examples>"])


def _attributes(values: dict[str, str | int]) -> str:
    return "".join(f" {name}={quoteattr(_valid_xml(str(value)))}" for name, value in values.items())


def _text(content: str) -> str:
    # A carriage return would be read as a line feed.
    return escape(_valid_xml(content), {"\r": "&#13;"})


def _valid_xml(text: str) -> str:
    """The text without characters that are invalid in XML."""
    return _NOT_IN_XML.sub("\ufffd", text)


def _xml_statements(statements: Sequence[PromptStatement]) -> str:
    return "\n".join(
        f"<statement{_attributes({'speaker': statement.speaker})}>{_text(statement.text)}</statement>"
        for statement in statements
    )


def _xml_titled(title: str, text: str) -> str:
    """The text in an element. Content is escaped, so it can't close the element."""
    name = title.lower().replace(" ", "_")
    return f"<{name}>\n{text}\n</{name}>"


# Json


def _json(sections: Sequence[PromptSection]) -> str:
    value: Value = {"context": [_json_section(section) for section in sections]}
    return encode_json(value, indent=True).decode()


def _json_section(section: PromptSection) -> Value:
    result: dict[str, Value] = {"kind": section.kind.value, **section.labels}
    if section.kind is BlockKind.REVISION_FEEDBACK:
        result["feedback"] = [block.content for block in section.blocks]
        return result
    result |= {block.label: _json_content(block) for block in section.blocks if block.file_name is None}
    if section.kind in TEXTS:
        return result
    result["files"] = [_json_block(block) for block in section.blocks if block.file_name is not None]
    return result


def _json_block(block: PromptBlock) -> Value:
    result: dict[str, Value] = {"file": block.file_name}
    if block.file_path is not None:
        result["path"] = block.file_path
    if block.omitted is not None:
        result |= {"size_bytes": block.size_bytes, "not_shown": block.omitted}
    if block.content is not None:
        result["summary" if block.is_summary else "content"] = _json_content(block)
    return result


def _json_examples(examples: Sequence[Example]) -> str:
    value: Value = {"examples": [dict(_sides(example)) for example in examples]}
    return encode_json(value, indent=True).decode()


def _json_content(block: PromptBlock) -> Value:
    """The value of a JSON file, or the text of any other file."""
    if block.format == "json" and block.content is not None:
        try:
            return decode_json(block.content, max_depth=100)
        except DocumentError:
            pass
    return block.content


def _json_statements(statements: Sequence[PromptStatement]) -> str:
    value: Value = {"statements": [{"speaker": statement.speaker, "text": statement.text} for statement in statements]}
    return encode_json(value, indent=True).decode()


LAYOUTS = {
    ContentFormat.MARKDOWN: PromptLayout(
        _markdown,
        _markdown_titled,
        _markdown_examples,
        _markdown_statements,
        "in fenced code blocks, including tool results,",
    ),
    ContentFormat.XML: PromptLayout(
        _xml,
        _xml_titled,
        _xml_examples,
        _xml_statements,
        "in XML elements other than your instructions and your task, and in the fenced code blocks of tool results,",
    ),
    # Content is inside JSON strings, which have no line breaks, so it can't form a heading.
    ContentFormat.JSON: PromptLayout(
        _json,
        _markdown_titled,
        _json_examples,
        _json_statements,
        'in JSON objects with "context" or "statements", and in the fenced code blocks of tool results,',
    ),
}
