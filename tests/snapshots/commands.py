"""The help of every command, and the sentences that commands print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import pytest
import typer.main

from cairn.cli.app import app
from tests.snapshots.source_texts import listing, texts_of

WIDTH = 100


def help_texts(monkeypatch: pytest.MonkeyPatch) -> str:
    """The help of all commands, in the order of `cairn --help`."""
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setattr(app, "rich_markup_mode", None)  # as in a pipe
    command = typer.main.get_command(app)
    return "\n\n".join(
        f"$ {' '.join(('cairn', *path, '--help'))}\n\n{_help(command, path)}" for path in _command_paths(command)
    )


def _help(command: Any, path: Sequence[str]) -> str:
    with redirect_stdout(StringIO()) as stdout, pytest.raises(SystemExit):
        command.main([*path, "--help"], prog_name="cairn")
    return "".join(f"{line.rstrip()}\n" for line in stdout.getvalue().splitlines())


def _command_paths(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for name, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            yield from _command_paths(inner, (*path, name))


def output() -> str:
    """All sentences except help texts."""
    sentences = {
        module: [
            text for text in texts if not text.label.endswith(" help") and text.label not in ("group", "Typer help")
        ]
        for module, texts in texts_of("cli").items()
    }
    return "# What commands print\n\n" + listing({module: texts for module, texts in sentences.items() if texts})
