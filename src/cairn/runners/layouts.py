"""How context is written for a model, in each format, so that content cannot pass for anything else (seed 0 §9)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from xml.sax.saxutils import escape, quoteattr

from cairn.definitions.choices import ContentFormat
from cairn.documents import DocumentError, Value, decode_json, encode_json


class BlockKind(StrEnum):
    PREVIOUS_VERSION = "previous_version"  # the same checkpoint in the previous run
    PREVIOUS_PASS = "previous_pass"  # noqa: S105 - the same checkpoint in the earlier pass
    CHECKPOINT_OUTPUT = "checkpoint_output"  # another checkpoint of this run
    REWORK = "rework"  # why the work was sent back, and what whoever asked has made so far
    REVISION_FEEDBACK = "revision_feedback"  # what people asked to change


@dataclass(frozen=True, slots=True)
class Block:
    """One file, or one text of people's or of another checkpoint's, in the context."""

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
    omitted: str | None = None  # why it is not shown, if it should be
    label: str = "feedback"  # what a text is


@dataclass(frozen=True, slots=True)
class Section:
    """The blocks that stand under one heading."""

    kind: BlockKind
    heading: str
    labels: dict[str, str | int] = field(default_factory=dict[str, "str | int"])  # where it comes from
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class Layout:
    """One format: how sections are written, and the prompts that stand beside them."""

    sections: Callable[[Sequence[Section]], str]
    task: Callable[[str], str]
    instructions: Callable[[str], str]


# ---- markdown ----------------------------------------------------------------------------------

_LANGUAGES = {"md": "markdown", "mmd": "mermaid", "py": "python", "txt": "text"}
_BACKTICKS = re.compile("`+")


def fenced(content: str, language: str) -> str:
    """The content between fences that are longer than any run of backticks in it."""
    fence = "`" * max(3, 1 + max((len(run) for run in _BACKTICKS.findall(content)), default=0))
    end = "" if content.endswith("\n") else "\n"
    return f"{fence}{language}\n{content}{end}{fence}"


def _heading(text: str) -> str:
    return f"=== {text} ==="


def _markdown(sections: Sequence[Section]) -> str:
    return "\n\n".join(
        f"{_heading(section.heading)}\n" + ("\n\n".join(map(_markdown_block, section.blocks)) or "No files.")
        for section in sections
    )


def _markdown_block(block: Block) -> str:
    if block.kind is BlockKind.REVISION_FEEDBACK:
        return fenced(block.content or "", "text")
    if block.file_name is None:
        return f"{block.label.capitalize()}:\n{fenced(block.content or '', 'text')}"
    lines = [f"File: {_line(block.file_name)}"]
    if block.file_path is not None:
        lines.append(f"Path: {_line(block.file_path)}")
    if block.omitted is not None:
        lines.append(f"Size: {block.size_bytes:,} bytes, not shown: {block.omitted}")
    if block.content is not None:
        lines += ["", "Content:", fenced(block.content, _LANGUAGES.get(block.format, block.format))]
    return "\n".join(lines)


def _line(text: str) -> str:
    return _BREAKS.sub(" ", text)


_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")

# ---- xml -----------------------------------------------------------------------------------------

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _xml(sections: Sequence[Section]) -> str:
    return "\n\n".join(map(_xml_section, sections))


def _xml_section(section: Section) -> str:
    name = section.kind.value
    lines = [f"<{name}{_attributes(section.labels)}>", *map(_xml_block, section.blocks), f"</{name}>"]
    return "\n".join(lines)


def _xml_block(block: Block) -> str:
    if block.file_name is None:
        return f"<{block.label}>{_text(block.content or '')}</{block.label}>"
    file: dict[str, str | int] = {"name": block.file_name}
    if block.file_path is not None:
        file["path"] = block.file_path
    if block.omitted is not None:
        file |= {"size_bytes": block.size_bytes, "not_shown": block.omitted}
    if block.content is None:
        return f"<file{_attributes(file)}/>"
    return f"<file{_attributes(file)}>\n<content>{_text(block.content)}</content>\n</file>"


def _attributes(values: dict[str, str | int]) -> str:
    return "".join(f" {name}={quoteattr(_possible(str(value)))}" for name, value in values.items())


def _text(content: str) -> str:
    # A carriage return would be read as a line feed.
    return escape(_possible(content), {"\r": "&#13;"})


def _possible(text: str) -> str:
    """The text without the characters that XML has no way to write."""
    return _NOT_IN_XML.sub("\ufffd", text)


def _element(name: str) -> Callable[[str], str]:
    """The author's own words, as they are, in an element that no content can close."""
    return lambda text: f"<{name}>\n{text}\n</{name}>"


# ---- json ----------------------------------------------------------------------------------------


def _json(sections: Sequence[Section]) -> str:
    value: Value = {"context": [_json_section(section) for section in sections]}
    return encode_json(value, indent=True).decode()


def _json_section(section: Section) -> Value:
    told: dict[str, Value] = {"kind": section.kind.value, **section.labels}
    if section.kind is BlockKind.REVISION_FEEDBACK:
        told["feedback"] = [block.content for block in section.blocks]
        return told
    told |= {block.label: block.content for block in section.blocks if block.file_name is None}
    told["files"] = [_json_block(block) for block in section.blocks if block.file_name is not None]
    return told


def _json_block(block: Block) -> Value:
    told: dict[str, Value] = {"file": block.file_name}
    if block.file_path is not None:
        told["path"] = block.file_path
    if block.omitted is not None:
        told |= {"size_bytes": block.size_bytes, "not_shown": block.omitted}
    if block.content is not None:
        told["content"] = _json_content(block)
    return told


def _json_content(block: Block) -> Value:
    """JSON as it is, anything else as a text."""
    if block.format == "json" and block.content is not None:
        try:
            return decode_json(block.content, max_depth=100)
        except DocumentError:
            pass
    return block.content


def _headed(heading: str) -> Callable[[str], str]:
    return lambda text: f"{_heading(heading)}\n{text}"


LAYOUTS = {
    ContentFormat.MARKDOWN: Layout(_markdown, _headed("YOUR TASK"), _headed("YOUR INSTRUCTIONS")),
    ContentFormat.XML: Layout(_xml, _element("your_task"), _element("your_instructions")),
    # Content stands inside of JSON texts, where a line cannot begin.
    ContentFormat.JSON: Layout(_json, _headed("YOUR TASK"), _headed("YOUR INSTRUCTIONS")),
}
