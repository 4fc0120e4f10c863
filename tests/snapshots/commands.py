"""The help of every command, and what commands print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import pytest
import typer.main

from cairn.cli.app import app
from tests.snapshots.source_texts import listed, texts_of

WIDTH = 100


def help_texts(monkeypatch: pytest.MonkeyPatch) -> str:
    """In the order in which `cairn --help` lists them."""
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setattr(app, "rich_markup_mode", None)  # as in a pipe
    command = typer.main.get_command(app)
    return "\n\n".join(
        f"$ {' '.join(('cairn', *words, '--help'))}\n\n{_help(command, words)}" for words in _all(command)
    )


def _help(command: Any, words: Sequence[str]) -> str:
    with redirect_stdout(StringIO()) as shown, pytest.raises(SystemExit):
        command.main([*words, "--help"], prog_name="cairn")
    return "".join(f"{line.rstrip()}\n" for line in shown.getvalue().splitlines())


def _all(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield words
    for name, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            yield from _all(inner, (*words, name))


def output() -> str:
    """Everything but help texts."""
    found = {
        module: [
            text for text in texts if not text.label.endswith(" help") and text.label not in ("group", "Typer help")
        ]
        for module, texts in texts_of("cli").items()
    }
    return "# What commands print\n\n" + listed({module: texts for module, texts in found.items() if texts})
