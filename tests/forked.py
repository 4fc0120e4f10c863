"""Start `cairn` as a fork of a process that has already imported everything, because imports dominate its start.

Apart from that, it is a normal process with its own environment, session and exit code.
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

# Shared by all tests of a pytest process. The imports happen when the first process starts.
CONTEXT: ForkServerContext = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["__main__", "tests.preloaded"])


def start(arguments: Sequence[str], environment: Mapping[str, str], folder: str, *files: int) -> ForkServerProcess:
    """Start `cairn` in its own process. `files` are its standard input, output and error."""
    opened = tuple(_Descriptor(number) for number in files)
    process = CONTEXT.Process(
        target=_run_command, args=(tuple(arguments), dict(environment), folder, opened), daemon=True
    )
    process.start()
    return process


class CairnProcess:
    """A running `cairn` command, with the part of the `subprocess.Popen` interface that tests use."""

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str], *, stderr: IO[str]) -> None:
        """Start the command. Its output is read from `stdout`."""
        read_end, write_end = os.pipe()
        with open(os.devnull) as devnull:  # noqa: PTH123 - a device
            self._process = start(arguments, environment, str(Path.cwd()), devnull.fileno(), write_end, stderr.fileno())
        os.close(write_end)
        self.stdout = open(read_end)  # noqa: PTH123, SIM115 - a descriptor, closed by `close`
        assert self._process.pid is not None
        self.pid = self._process.pid

    def poll(self) -> int | None:
        """Return the exit code, the negative signal number if a signal ended it, or None while it runs."""
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


def cairn(*arguments: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command and wait until it exits."""
    with tempfile.TemporaryFile("w+") as stderr:
        process = CairnProcess(arguments, environment, stderr=stderr)
        stdout = process.stdout.read()
        code = process.wait()
        process.close()
        stderr.seek(0)
        return subprocess.CompletedProcess(arguments, code, stdout, stderr.read())


@contextmanager
def shell_command() -> Generator[dict[str, str]]:
    """Return the environment variables of a shell that starts `cairn` as a fork."""
    script = Path(__file__).with_name("forked_command.py")
    with tempfile.TemporaryDirectory(prefix="forks-") as folder, socket.socket(socket.AF_UNIX) as listener:
        command, address = Path(folder, "cairn"), f"{folder}/requests"
        command.write_text(f'#!/bin/sh\nexec {sys.executable} -SEs {script} "$@"\n')
        command.chmod(0o755)
        listener.bind(address)
        listener.listen()
        threading.Thread(target=_serve, args=(listener,), daemon=True).start()
        path = os.pathsep.join([folder, str(Path(sys.executable).parent), os.environ["PATH"]])
        yield {"CAIRN_FORKS": address, "PATH": path}
        listener.shutdown(socket.SHUT_RDWR)


def _serve(listener: socket.socket) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:  # the listener was closed
            return
        threading.Thread(target=_start_requested, args=(connection,), daemon=True).start()


def _start_requested(connection: socket.socket) -> None:
    with connection:
        size, files, _, _ = socket.recv_fds(connection, 8, 3)
        with connection.makefile("rb") as stream:
            request = json.loads(stream.read(int.from_bytes(size, "big")))
        process = start(request["arguments"], request["environment"], request["folder"], *files)
        for number in files:
            os.close(number)
        with suppress(BrokenPipeError):
            connection.sendall(f"{process.pid}\n".encode())
            process.join()
            connection.sendall(f"{process.exitcode}\n".encode())


class _Descriptor:
    """An open file that is passed on to the new process."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __reduce__(self) -> tuple[Callable[[Any], int], tuple[Any]]:
        return _receive, (reduction.DupFd(self._number),)


def _receive(duplicate: Any) -> int:
    return duplicate.detach()


def _run_command(arguments: tuple[str, ...], environment: dict[str, str], folder: str, files: tuple[int, ...]) -> None:
    """Prepare the new process as a shell and Python would, then run the command."""
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
    sys.argv = ["cairn", *arguments]
    signal.signal(signal.SIGINT, signal.default_int_handler)

    from cairn.cli.main import main

    main()
