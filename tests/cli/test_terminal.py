"""Commands on a terminal: colors, progress and forms."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.shell import CAIRN, ENVIRONMENT, Shell

pytestmark = pytest.mark.e2e
COLOR = re.compile(r"\x1b\[[0-9;]*m")


class Terminal:
    """A command that runs on a pseudo-terminal."""

    def __init__(self, *words: str, data: Path) -> None:
        self._leader, follower = pty.openpty()
        environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        self.process = subprocess.Popen(
            [CAIRN, *words, "--data-dir", str(data)],
            env={**environment, **ENVIRONMENT, "TERM": "xterm-256color", "COLUMNS": "120"},
            stdin=follower,
            stdout=follower,
            stderr=follower,
            start_new_session=True,
        )
        os.close(follower)
        self.text = ""

    def until(self, text: str) -> None:
        """Read until the text appears."""
        deadline = time.monotonic() + 30
        while text not in self.plain:
            assert time.monotonic() < deadline, self.text
            assert self._read(), self.text

    def until_again(self, text: str) -> None:
        """Read until the text appears a second time. The terminal echoes the input, which is the first time."""
        self.until(text)
        while self.plain.count(text) < 2:
            assert self._read(), self.text

    def type(self, line: str) -> None:
        os.write(self._leader, f"{line}\n".encode())

    def end(self) -> int:
        while self._read():
            pass
        os.close(self._leader)
        return self.process.wait(timeout=20)

    def _read(self) -> bool:
        if not select.select([self._leader], [], [], 30)[0]:
            return False
        try:
            chunk = os.read(self._leader, 65536)
        except OSError:  # the other end is closed
            return False
        self.text += chunk.decode(errors="replace")
        return bool(chunk)

    @property
    def plain(self) -> str:
        return COLOR.sub("", self.text)


def test_tables_have_colors_on_a_terminal(server_shell: Shell, notes: Path, name: str) -> None:
    server_shell("apply", str(notes))
    server_shell("run", name, "--detach")
    terminal = Terminal("runs", name, data=server_shell.data)
    assert terminal.end() == 0
    assert COLOR.search(terminal.text)
    assert "in_progress" in terminal.plain
    assert not COLOR.search(server_shell("runs", name).out)


def test_a_followed_run_shows_its_progress(server_shell: Shell) -> None:
    server_shell("apply", "--template", "text-report")
    terminal = Terminal("run", "Text report", data=server_shell.data)
    assert terminal.end() == 6
    assert "cairn approve 'Text report@v" in terminal.plain
    assert "3/4" in terminal.plain


def test_a_form_is_filled_in_field_by_field(server_shell: Shell, notes: Path, name: str, tmp_path: Path) -> None:
    """An invalid answer is asked for again, and the other answers are kept."""
    paper = tmp_path / "paper.txt"
    paper.write_text("On paper.")
    server_shell("apply", str(notes))
    server_shell("run", name, "--detach")
    terminal = Terminal("submit", f"{name}/write", data=server_shell.data)
    terminal.until("What is new?")
    terminal.type("First line")
    terminal.type("Second line")
    terminal.type(".")
    terminal.until("How many?")
    terminal.type("many")
    terminal.until("2.5")  # an example of a number
    terminal.type("7")
    terminal.until("Is it urgent?")
    terminal.type("y")
    terminal.until("A paper")
    terminal.type("not-there.txt")
    terminal.until_again("not-there.txt")
    terminal.type(str(paper))
    assert terminal.end() == 0
    server_shell("watch", name, code=6)
    answers = server_shell.json("forms", "show", f"{name}/write")["values"]
    assert (answers["text"], answers["count"], answers["urgent"]) == ("First line\nSecond line", 7, True)
    assert answers["paper"]


def test_control_characters_are_escaped_on_a_terminal(server_shell: Shell, tmp_path: Path) -> None:
    """Names and contents are untrusted."""
    file = tmp_path / "hostile.yaml"
    file.write_text('pipeline_name: "Red \\e[31m alert"\ncheckpoints:\n  - key: a\n    form: [{ name: text }]\n')
    server_shell("apply", str(file))
    terminal = Terminal("pipelines", data=server_shell.data)
    assert terminal.end() == 0
    assert "\x1b[31m alert" not in terminal.text
    assert "\\x1b[31m alert" in terminal.plain
