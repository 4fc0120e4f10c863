"""Start `cairn` as a fork of a process that has imported everything already: importing takes most of its start.

Otherwise it is a process like any other, with its own environment, session and exit code.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import reduction
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import IO, Any

# One for all tests of a pytest process: the first that starts a process decides what is imported.
CONTEXT: ForkServerContext = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["__main__", "tests.preloaded"])


def start(words: Sequence[str], environment: Mapping[str, str], folder: str, *files: int) -> ForkServerProcess:
    """`cairn` in a process of its own; the files are its standard input, output and errors."""
    opened = tuple(_Descriptor(number) for number in files)
    process = CONTEXT.Process(target=_become, args=(tuple(words), dict(environment), folder, opened), daemon=True)
    process.start()
    return process


class CairnProcess:
    """`cairn` with these words, as far as tests use `subprocess.Popen`."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str], *, stderr: IO[str]) -> None:
        """What it prints is read from `stdout`."""
        reading, writing = os.pipe()
        with open(os.devnull) as nothing:  # noqa: PTH123 - no path of a test
            self._process = start(words, environment, str(Path.cwd()), nothing.fileno(), writing, stderr.fileno())
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


@contextmanager
def shell_command() -> Generator[dict[str, str]]:
    """The variables of a shell in which `cairn` is started as a fork."""
    script = Path(__file__).with_name("forked_command.py")
    with tempfile.TemporaryDirectory(prefix="forks-") as folder, socket.socket(socket.AF_UNIX) as listening:
        command, address = Path(folder, "cairn"), f"{folder}/asked"
        command.write_text(f'#!/bin/sh\nexec {sys.executable} -SEs {script} "$@"\n')
        command.chmod(0o755)
        listening.bind(address)
        listening.listen()
        threading.Thread(target=_answer_all, args=(listening,), daemon=True).start()
        path = os.pathsep.join([folder, str(Path(sys.executable).parent), os.environ["PATH"]])
        yield {"CAIRN_FORKS": address, "PATH": path}
        listening.shutdown(socket.SHUT_RDWR)


def _answer_all(listening: socket.socket) -> None:
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:  # it is over
            return
        threading.Thread(target=_answer, args=(connection,), daemon=True).start()


def _answer(connection: socket.socket) -> None:
    with connection:
        size, files, _, _ = socket.recv_fds(connection, 8, 3)
        with connection.makefile("rb") as reading:
            asked = json.loads(reading.read(int.from_bytes(size, "big")))
        process = start(asked["words"], asked["environment"], asked["folder"], *files)
        for number in files:
            os.close(number)
        with suppress(BrokenPipeError):
            connection.sendall(f"{process.pid}\n".encode())
            process.join()
            connection.sendall(f"{process.exitcode}\n".encode())


class _Descriptor:
    """An open file that the new process has as well."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __reduce__(self) -> tuple[Callable[[Any], int], tuple[Any]]:
        return _received, (reduction.DupFd(self._number),)


def _received(sent: Any) -> int:
    return sent.detach()


def _become(words: tuple[str, ...], environment: dict[str, str], folder: str, files: tuple[int, ...]) -> None:
    """In the new process: what a shell and the start of Python do before `main`."""
    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    os.chdir(folder)
    for number, opened in enumerate(files):
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
    sys.path[:0] = [folder for folder in environment.get("PYTHONPATH", "").split(os.pathsep) if folder]
    sys.argv = ["cairn", *words]
    signal.signal(signal.SIGINT, signal.default_int_handler)

    from cairn.cli.main import main

    main()
