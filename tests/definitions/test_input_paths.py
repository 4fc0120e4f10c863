"""Paths into a run's context."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cairn.definitions import input_paths
from cairn.definitions.input_paths import MappingError, Path, PathError, parse_path, resolve
from cairn.documents import Value
from cairn.documents.values import walk
from tests.documents.values import exact, texts, values
from tests.mentions import mentions

CONTEXT: Any = {
    "input": {"text": "x", "tags": [1, {"a.b": None}], "empty": {}},
    "ticket": {"id": 12345678901234567890123, "ratio": 1.0, "nothing": None, "": "blank"},
    "list": [],
}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("input", Path("input")),
        ("ticket.customer.name", Path("ticket", ("customer", "name"))),
        ("my-step_2.a[0][1].b?", Path("my-step_2", ("a", 0, 1, "b"), is_optional=True)),
        ('a["b.c"].["d"][""]', Path("a", ("b.c", "d", ""))),
        ("größe.größe mit raum", Path("größe", ("größe mit raum",))),
        (" a.b ", Path("a", ("b",))),
    ],
)
def test_paths(text: str, path: Path) -> None:
    assert parse_path(text) == path
    assert parse_path(str(path)) == path


@pytest.mark.parametrize("text", ["", "?", ".a", "[0]", "a.", "a..b", "a[", "a[-1]", "a[x]", "a?b", 'a["x', r'a["\x"]'])
def test_invalid_paths_are_rejected(text: str) -> None:
    with pytest.raises(PathError, match=re.escape(repr(text))):
        parse_path(text)


@settings(deadline=None)
@given(values, st.booleans())
def test_every_value_can_be_mapped_with_its_type(value: Value, is_optional: bool) -> None:
    for steps, found in walk(value):
        path = Path("step", tuple(steps), is_optional)
        assert parse_path(str(path)) == path
        assert exact(resolve({"x": str(path)}, {"step": value})["x"]) == exact(found)


@settings(deadline=None)
@given(st.lists(texts | st.integers(0, 10**8)))
def test_every_path_can_be_formatted_and_parsed_again(steps: list[str | int]) -> None:
    path = Path("a", tuple(steps))
    assert parse_path(str(path)) == path


def test_mapped_inputs() -> None:
    paths = {"a": "input.text", "b": 'input.tags[1]["a.b"]', "c": "ticket", "d": "input.none?", "e": "other.x?"}
    assert resolve(paths, CONTEXT) == {"a": "x", "b": None, "c": CONTEXT["ticket"]}


def test_without_a_mapping_the_input_is_the_complete_context() -> None:
    assert resolve({}, CONTEXT) == CONTEXT


def test_every_missing_source_is_reported() -> None:
    paths = {
        "a": "input.txet",
        "b": "input.tags[2]",
        "c": "ticket.id.x",
        "d": "other.x",
        "e": "input.empty.x",
        "f": "list.x",
        "g": "input[0]",
        "h": "input.text",
    }
    with pytest.raises(MappingError) as caught:
        input_paths.resolve(paths, CONTEXT)
    assert caught.value.errors == {
        "a": mentions("input.txet", "'txet'", "'text', 'tags', 'empty'"),
        "b": mentions("input.tags[2]", "2", "input.tags"),
        "c": mentions("ticket.id.x", "'x'", "12345678901234567890123"),
        "d": mentions("other.x", "'other'"),
        "e": mentions("input.empty.x", "'x'"),
        "f": mentions("list.x", "'x'", "0"),
        "g": mentions("input[0]", "0", "'text', 'tags', 'empty'"),
    }
    assert str(caught.value).startswith("a: input.txet: ")
    with pytest.raises(MappingError, match="'a'"):
        resolve({"x": "a"}, {})
