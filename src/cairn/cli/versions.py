"""The versions that `cairn --version` and `cairn version` print."""

from __future__ import annotations

import platform
import sqlite3

import typer

from cairn import __version__


def read_versions() -> dict[str, str]:
    return {"version": __version__, "python": platform.python_version(), "sqlite": sqlite3.sqlite_version}


def version_line(versions: dict[str, str]) -> str:
    return f"cairn {versions['version']} (Python {versions['python']}, SQLite {versions['sqlite']})"


def print_and_exit(is_requested: bool) -> None:
    if is_requested:
        typer.echo(version_line(read_versions()))
        raise typer.Exit
