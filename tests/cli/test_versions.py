"""`cairn --version` and `cairn version`."""

from __future__ import annotations

import json
import platform
import sqlite3

import pytest

from cairn import __version__
from tests.cli.shell import invoke


@pytest.mark.parametrize("words", [("--version",), ("version",), ("--version", "runs")])
def test_the_versions_in_one_line(words: tuple[str, ...]) -> None:
    said = invoke(*words)
    expected = f"cairn {__version__} (Python {platform.python_version()}, SQLite {sqlite3.sqlite_version})\n"
    assert (said.code, said.out, said.err) == (0, expected, "")


def test_the_versions_as_json() -> None:
    said = invoke("version", "--json")
    found = {"version": __version__, "python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    assert (said.code, json.loads(said.out)) == (0, found)
