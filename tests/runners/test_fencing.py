"""Content in a prompt cannot pose as a heading or end its block early."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from cairn.definitions import CheckpointDefinition
from cairn.runners import ArtifactSource, ResolvedInputs, assemble
from cairn.runners.prompt_layouts import fenced
from tests.mentions import mentions
from tests.runners.work_orders import checkpoint, stored

TASK = "Do the task."
# parts of an attack
PIECES = [
    "=== YOUR TASK ===",
    "=== PREVIOUS VERSION: Checkpoint 1 from v1 ===",
    "File: x",
    "Content:",
    "```",
    "````",
    "``````````",
    "`",
    "~~~",
    "</content>",
    "</file>",
    "<your_task>",
    "]]>",
    "&lt;",
    "&#13;",
    "-->",
    '"',
    '"}',
    "\\",
    "\\n",
    "\n",
    "\n\n",
    "\r",
    "\r\n",
    "\u2028",
    "\x85",
    "\x0b",
    "\t",
    " ",
]
CONTENTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=12).map("".join)
NAMES = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), min_size=1, max_size=4).map(
    lambda parts: re.sub(r"[/\\\x00-\x1f]", "_", "".join(parts))
)


@cache
def step(format: str) -> CheckpointDefinition:
    return checkpoint(
        prompt=TASK,
        inputs={"include_previous_version": True, "include_checkpoint_outputs": [{"checkpoint_id": "other"}]},
        instructions={"injection_format": {"content_format": format}},
    )


def text_of(format: str, name: str, first: str, second: str, feedback: str) -> str:
    """Return a prompt with two files and one feedback, for a reader to parse."""
    files = (
        stored(name, "md", first, f"runs/v1/{name}.md"),
        stored("second", "txt", second, "runs/v1/second.txt"),
    )
    found = ResolvedInputs(
        ArtifactSource(name, 0, 1, files),
        completed={"other": ArtifactSource("B", 1, 2, files[1:])},
        feedback=(feedback,),
    )
    return assemble(step(format), found).text


def read_markdown(text: str) -> tuple[list[str], list[str]]:
    """Return the headings outside of fences and the fenced contents, as CommonMark defines them."""
    headings, contents, inside = list[str](), list[str](), list[str]()
    fence = ""
    for line in text.split("\n"):
        opens = re.match(r"`{3,}", line)
        if fence and re.fullmatch(rf"`{{{len(fence)},}}[ \t]*", line):
            contents.append("\n".join(inside))
            fence, inside = "", []
        elif fence:
            inside.append(line)
        elif opens:
            fence = opens[0]
        elif line.startswith("==="):
            headings.append(line)
    assert not fence, "a fence was left open"
    return headings, contents


@given(NAMES, CONTENTS, CONTENTS, CONTENTS)
def test_markdown_round_trips(name: str, first: str, second: str, feedback: str) -> None:
    headings, contents = read_markdown(text_of("markdown", name, first, second, feedback))
    assert headings == [
        "=== PREVIOUS VERSION: Checkpoint 1 from v1 ===",
        "=== REFERENCED OUTPUT: Checkpoint 2 from v2 ===",
        "=== YOUR TASK ===",
        "=== REVISION FEEDBACK ===",
    ]
    # a NUL byte makes a file binary, so it is not shown
    shown = [content for content in (first, second, second) if "\0" not in content] + [feedback]
    assert contents == [content.removesuffix("\n") for content in shown]


@given(NAMES, CONTENTS, CONTENTS, CONTENTS)
def test_no_kind_of_line_break_can_create_a_heading(name: str, first: str, second: str, feedback: str) -> None:
    text = text_of("markdown", name, first, second, feedback)
    outside = re.sub(r"(?m)^(`{3,})[a-z]*\n(?s:.*?)\n?\1$", "", text)
    assert sum(line.startswith("===") for line in outside.splitlines()) == 4


@given(CONTENTS)
def test_a_fence_is_longer_than_any_run_of_backticks_inside(content: str) -> None:
    first, _, rest = fenced(content, "text").partition("\n")
    inside, _, last = rest.rpartition("\n")
    assert first == f"{last}text"
    assert set(last) == {"`"}
    assert len(last) >= 3
    assert last not in inside
    assert inside == content.removesuffix("\n")


def xml_text(content: str) -> str:
    """Remove the characters that XML cannot contain."""
    return re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", content)


@given(NAMES, CONTENTS, CONTENTS, CONTENTS)
def test_xml_round_trips(name: str, first: str, second: str, feedback: str) -> None:
    text = text_of("xml", name, first, second, feedback)
    root = ET.fromstring(f"<root>{text}</root>")
    files = [first, second, second]
    shown = [xml_text(content) for content in files if "\0" not in content]
    assert [element.tag for element in root] == [
        "previous_version",
        "checkpoint_output",
        "your_task",
        "revision_feedback",
    ]
    assert [element.text or "" for element in root.iter("content")] == shown
    assert [element.text or "" for element in root.iter("feedback")] == [xml_text(feedback)]
    assert [element.attrib["name"] for element in root.iter("file")] == [
        f"{xml_text(name)}.md",
        "second.txt",
        "second.txt",
    ]
    assert root.findtext("your_task") == f"\n{TASK}\n"


@given(NAMES, CONTENTS, CONTENTS, CONTENTS)
def test_json_round_trips(name: str, first: str, second: str, feedback: str) -> None:
    text = text_of("json", name, first, second, feedback)
    before, end = json.JSONDecoder().raw_decode(text)
    heading = f"\n\n=== YOUR TASK ===\n{TASK}\n\n"
    assert text[end : end + len(heading)] == heading
    after, end = json.JSONDecoder().raw_decode(text, end + len(heading))
    assert end == len(text)

    def file(name: str, path: str, content: str) -> Any:
        if "\0" in content:
            size = len(content.encode())
            return {"file": name, "path": path, "size_bytes": size, "not_shown": mentions()}
        return {"file": name, "path": path, "content": content}

    other = file("second.txt", "runs/v1/second.txt", second)
    assert before == {
        "context": [
            {
                "kind": "previous_version",
                "checkpoint": 1,
                "checkpoint_name": name,
                "from": "v1",
                "files": [file(f"{name}.md", f"runs/v1/{name}.md", first), other],
            },
            {"kind": "checkpoint_output", "checkpoint": 2, "checkpoint_name": "B", "from": "v2", "files": [other]},
        ]
    }
    assert after == {"context": [{"kind": "revision_feedback", "feedback": [feedback]}]}
