"""On a terminal there are colours and questions, in a pipe there are none."""

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
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class Terminal:
    """A command that believes that a person sits before it."""

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

    def until(self, wanted: str) -> None:
        """Read on until it is there."""
        deadline = time.monotonic() + 30
        while wanted not in self.plain:
            assert time.monotonic() < deadline, self.text
            assert self._read(), self.text

    def until_again(self, wanted: str) -> None:
        """Read on until it is there once more: what is typed is shown as well."""
        self.until(wanted)
        while self.plain.count(wanted) < 2:
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
            piece = os.read(self._leader, 65536)
        except OSError:  # the other end is closed
            return False
        self.text += piece.decode(errors="replace")
        return bool(piece)

    @property
    def plain(self) -> str:
        return COLOUR.sub("", self.text)


def test_tables_have_colours(served: Shell, notes: Path, name: str) -> None:
    served("apply", str(notes))
    served("run", name, "--detach")
    shown = Terminal("runs", name, data=served.data)
    assert shown.end() == 0
    assert COLOUR.search(shown.text)
    assert "in_progress" in shown.plain
    assert not COLOUR.search(served("runs", name).out)


def test_a_followed_run_shows_how_far_it_is(served: Shell) -> None:
    served("apply", "--template", "text-report")
    followed = Terminal("run", "Text report", data=served.data)
    assert followed.end() == 6
    assert "cairn approve 'Text report@v" in followed.plain
    assert "3/4" in followed.plain


def test_a_form_is_asked_field_by_field(served: Shell, notes: Path, name: str, tmp_path: Path) -> None:
    """An invalid answer is asked for again, and nothing that was entered is lost."""
    paper = tmp_path / "paper.txt"
    paper.write_text("On paper.")
    served("apply", str(notes))
    served("run", name, "--detach")
    asked = Terminal("submit", f"{name}/write", data=served.data)
    asked.until("What is new?")
    asked.type("First line")
    asked.type("Second line")
    asked.type(".")
    asked.until("How many?")
    asked.type("many")
    asked.until("2.5")  # an example of a number
    asked.type("7")
    asked.until("Is it urgent?")
    asked.type("y")
    asked.until("A paper")
    asked.type("not-there.txt")
    asked.until_again("not-there.txt")
    asked.type(str(paper))
    assert asked.end() == 0
    served("watch", name, code=6)
    answers = served.json("forms", "show", f"{name}/write")["values"]
    assert (answers["text"], answers["count"], answers["urgent"]) == ("First line\nSecond line", 7, True)
    assert answers["paper"]


def test_what_would_steer_a_terminal_is_made_plain(served: Shell, tmp_path: Path) -> None:
    """Names and contents come from anywhere."""
    file = tmp_path / "hostile.yaml"
    file.write_text('pipeline_name: "Red \\e[31m alert"\ncheckpoints:\n  - key: a\n    form: [{ name: text }]\n')
    served("apply", str(file))
    shown = Terminal("pipelines", data=served.data)
    assert shown.end() == 0
    assert "\x1b[31m alert" not in shown.text
    assert "\\x1b[31m alert" in shown.plain
