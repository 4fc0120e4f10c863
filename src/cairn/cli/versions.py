"""The versions that `cairn --version` and `cairn version` print."""

from __future__ import annotations

import platform
import sqlite3

import typer

from cairn import __version__


def read() -> dict[str, str]:
    return {"version": __version__, "python": platform.python_version(), "sqlite": sqlite3.sqlite_version}


def line(found: dict[str, str]) -> str:
    return f"cairn {found['version']} (Python {found['python']}, SQLite {found['sqlite']})"


def print_and_exit(is_asked: bool) -> None:
    if is_asked:
        typer.echo(line(read()))
        raise typer.Exit
