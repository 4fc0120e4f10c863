"""JSON pointers work with every key that JSON allows."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cairn.documents import Value
from cairn.documents.pointers import child, join, look_up, nearest, parent, split
from cairn.documents.values import walk
from tests.documents.values import values


@settings(deadline=None)
@given(st.lists(st.text()))
def test_split_reverses_join(parts: list[str]) -> None:
    assert split(join(parts)) == tuple(parts)
    if parts:
        assert child(join(parts[:-1]), parts[-1]) == join(parts)
        assert parent(join(parts)) == join(parts[:-1])


@settings(deadline=None)
@given(values)
def test_every_value_is_found_by_its_pointer(value: Value) -> None:
    for path, item in walk(value):
        assert look_up(value, join(path)) is item
        assert nearest(value, join(path)) == join(path)


def test_escapes_are_those_of_the_standard() -> None:
    assert join(["a/b", "m~n", 0, ""]) == "/a~1b/m~0n/0/"
    assert split("/a~1b/~01") == ("a/b", "~1")
    with pytest.raises(ValueError, match="/"):
        split("a")


@pytest.mark.parametrize("pointer", ["/b", "/a/2", "/a/x", "/a/0/x", "/a/-1", "/a/0/0"])
def test_looking_up_a_missing_value_fails(pointer: str) -> None:
    with pytest.raises(LookupError):
        look_up({"a": [1, 2]}, pointer)


def test_nearest_finds_the_innermost_existing_value() -> None:
    assert nearest({"a": [1, 2]}, "/a/5/x/y") == "/a"
    assert nearest({"a": [1, 2]}, "/b/c") == ""
