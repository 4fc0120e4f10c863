"""Runs commands in this process or in one of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

from cairn.cli.app import app

CAIRN = str(Path(sys.executable).parent / "cairn")
FOLDER = Path(__file__).parent
ENVIRONMENT = {
    "CAIRN_FUNCTIONS": '["cli_functions"]',
    "PYTHONPATH": os.pathsep.join(filter(None, (str(FOLDER), os.environ.get("PYTHONPATH")))),
    "TZ": "UTC",
}


@dataclass(frozen=True)
class CommandResult:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Shell:
    """Runs commands in this process on one data folder, with a server or without."""

    data: Path

    def __call__(self, *arguments: str, code: int = 0, stdin: str = "") -> CommandResult:
        result = invoke(*arguments, "--data-dir", str(self.data), stdin=stdin)
        assert result.code == code, (
            f"cairn {' '.join(arguments)} exits with {result.code}, not {code}:\n{result.out}{result.err}"
        )
        return result

    def json(self, *arguments: str, code: int = 0, stdin: str = "") -> Any:
        return self(*arguments, "--json", code=code, stdin=stdin).json


def invoke(*arguments: str, stdin: str = "") -> CommandResult:
    """Run a command in this process. The streams stay open, because the job engine's log handlers use them."""
    streams = {name: TextIOWrapper(BytesIO(), encoding="utf-8") for name in ("stdout", "stderr")}
    streams["stdin"] = TextIOWrapper(BytesIO(stdin.encode()), encoding="utf-8")
    original = {name: getattr(sys, name) for name in streams}
    code = 0
    for name, stream in streams.items():
        setattr(sys, name, stream)
    try:
        app(list(arguments), prog_name="cairn")
    except SystemExit as system_exit:
        code = int(system_exit.code or 0)
    finally:
        for name, stream in original.items():
            setattr(sys, name, stream)
    out, err = (_text_of(streams[name]) for name in ("stdout", "stderr"))
    return CommandResult(code, out, err)


def _text_of(stream: TextIOWrapper) -> str:
    stream.flush()
    content = stream.buffer
    assert isinstance(content, BytesIO)
    return content.getvalue().decode()


def spawn(*arguments: str, data: Path, **options: Any) -> subprocess.Popen[str]:
    """Start a command in its own process."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CAIRN_")}
    return subprocess.Popen(
        [CAIRN, *arguments, "--data-dir", str(data)],
        env={**environment, **ENVIRONMENT},
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=options.pop("stderr", subprocess.PIPE),
        text=True,
        start_new_session=True,
        **options,
    )
