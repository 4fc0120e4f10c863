"""`cairn --version` and `cairn version`."""

from __future__ import annotations

import json
import platform
import sqlite3

import pytest

from cairn import __version__
from tests.cli.shell import invoke


@pytest.mark.parametrize("words", [("--version",), ("version",), ("--version", "runs")])
def test_versions_in_one_line(words: tuple[str, ...]) -> None:
    result = invoke(*words)
    expected = f"cairn {__version__} (Python {platform.python_version()}, SQLite {sqlite3.sqlite_version})\n"
    assert (result.code, result.out, result.err) == (0, expected, "")


def test_versions_as_json() -> None:
    result = invoke("version", "--json")
    found = {"version": __version__, "python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    assert (result.code, json.loads(result.out)) == (0, found)
