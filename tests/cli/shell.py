"""Commands as a person or a script gives them."""

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
HERE = Path(__file__).parent
ENVIRONMENT = {
    "CAIRN_FUNCTIONS": '["cli_functions"]',
    "PYTHONPATH": os.pathsep.join(filter(None, (str(HERE), os.environ.get("PYTHONPATH")))),
    "TZ": "UTC",
}


@dataclass(frozen=True)
class Said:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Shell:
    """Commands in this process, on one data folder, with its server or without."""

    data: Path

    def __call__(self, *words: str, code: int = 0, given: str = "") -> Said:
        said = invoke(*words, "--data-dir", str(self.data), given=given)
        assert said.code == code, f"cairn {' '.join(words)} ends with {said.code}, not {code}:\n{said.out}{said.err}"
        return said

    def json(self, *words: str, code: int = 0, given: str = "") -> Any:
        return self(*words, "--json", code=code, given=given).json


def invoke(*words: str, given: str = "") -> Said:
    """In this process. The streams stay open: the job engine's log keeps them."""
    streams = {name: TextIOWrapper(BytesIO(), encoding="utf-8") for name in ("stdout", "stderr")}
    streams["stdin"] = TextIOWrapper(BytesIO(given.encode()), encoding="utf-8")
    before = {name: getattr(sys, name) for name in streams}
    code = 0
    for name, stream in streams.items():
        setattr(sys, name, stream)
    try:
        app(list(words), prog_name="cairn")
    except SystemExit as ended:
        code = int(ended.code or 0)
    finally:
        for name, stream in before.items():
            setattr(sys, name, stream)
    out, err = (_written(streams[name]) for name in ("stdout", "stderr"))
    return Said(code, out, err)


def _written(stream: TextIOWrapper) -> str:
    stream.flush()
    content = stream.buffer
    assert isinstance(content, BytesIO)
    return content.getvalue().decode()


def spawn(*words: str, data: Path, **options: Any) -> subprocess.Popen[str]:
    """The command as a process of its own."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CAIRN_")}
    return subprocess.Popen(
        [CAIRN, *words, "--data-dir", str(data)],
        env={**environment, **ENVIRONMENT},
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=options.pop("stderr", subprocess.PIPE),
        text=True,
        start_new_session=True,
        **options,
    )
