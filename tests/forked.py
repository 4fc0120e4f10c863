"""Start `cairn` as a fork of a process that has imported everything already: importing takes most of its start.

Otherwise it is a process like any other, with its own environment, session and exit code.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from multiprocessing import reduction
from multiprocessing.context import ForkServerContext
from typing import IO, Any

# One for all tests of a pytest process: the first that starts a process decides what is imported.
CONTEXT: ForkServerContext = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["__main__", "tests.preloaded"])


class CairnProcess:
    """`cairn` with these words, as far as tests use `subprocess.Popen`."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str], *, stderr: IO[str]) -> None:
        """What it prints is read from `stdout`."""
        reading, writing = os.pipe()
        outputs = (_Descriptor(writing), _Descriptor(stderr.fileno()))
        self._process = CONTEXT.Process(target=_become, args=(tuple(words), dict(environment), *outputs), daemon=True)
        self._process.start()
        os.close(writing)
        self.stdout = open(reading)  # noqa: PTH123, SIM115 - a descriptor, closed by `close`
        assert self._process.pid is not None
        self.pid = self._process.pid

    def poll(self) -> int | None:
        """The exit code once it has ended; of a signal, its number below zero."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if (code := self.poll()) is None:
            raise subprocess.TimeoutExpired("cairn", timeout or 0.0)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def close(self) -> None:
        self.stdout.close()
        self._process.close()


def cairn(*words: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    with tempfile.TemporaryFile("w+") as stderr:
        process = CairnProcess(words, environment, stderr=stderr)
        stdout = process.stdout.read()
        code = process.wait()
        process.close()
        stderr.seek(0)
        return subprocess.CompletedProcess(words, code, stdout, stderr.read())


class _Descriptor:
    """An open file that the new process has as well."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __reduce__(self) -> tuple[Callable[[Any], int], tuple[Any]]:
        return _received, (reduction.DupFd(self._number),)


def _received(sent: Any) -> int:
    return sent.detach()


def _become(words: tuple[str, ...], environment: dict[str, str], stdout: int, stderr: int) -> None:
    """In the new process: what a shell and the start of Python do before `main`."""
    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    for number, opened in ((1, stdout), (2, stderr)):
        os.dup2(opened, number)
        os.close(opened)
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
    sys.path[:0] = [folder for folder in environment.get("PYTHONPATH", "").split(os.pathsep) if folder]
    sys.argv = ["cairn", *words]
    signal.signal(signal.SIGINT, signal.default_int_handler)

    from cairn.cli.main import main

    main()
