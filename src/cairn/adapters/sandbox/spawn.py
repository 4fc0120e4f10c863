"""Starting processes without holding up the event loop, and watching them to their end."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from io import FileIO
from typing import Any

from cairn.ports import ProcessLimits

MEGABYTE = 1024 * 1024
PIPE = 1 * MEGABYTE  # what may be printed before anybody has read it
F_SETPIPE_SZ = getattr(fcntl, "F_SETPIPE_SZ", None)

# One thread for ever: a process that dies with its parent dies with the thread that has started it.
_spawner = ThreadPoolExecutor(max_workers=1, thread_name_prefix="cairn-spawner")


def limits(bounds: ProcessLimits) -> dict[str, int]:
    """As the child sets them for itself, by the names of rlimits."""
    return {
        "AS": bounds.memory_mb * MEGABYTE,
        "NPROC": bounds.processes,
        "NOFILE": bounds.open_files,
        "FSIZE": bounds.file_size_mb * MEGABYTE,
        "CORE": 0,
    }


@dataclass(eq=False)
class SpawnedProcess:
    """A process with its line, and how its tree ends."""

    popen: subprocess.Popen[bytes]
    socket: socket.socket
    output: tuple[FileIO, FileIO]
    end: Callable[[], None]  # ends the tree, in a thread; afterwards none of it lives
    watched: int | None = None  # a process that has to be over as well: the last of its tree
    _over: asyncio.Future[int] | None = field(default=None, init=False)

    @property
    def pid(self) -> int:
        return self.popen.pid

    async def wait(self) -> int:
        if self._over is None:
            self._over = asyncio.ensure_future(self._wait())
        return await asyncio.shield(self._over)

    async def _wait(self) -> int:
        await _ended(self.pid)
        status = self.popen.wait()
        if self.watched is not None:
            await _ended(self.watched)
        return status

    async def kill(self) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self.end)
        await self.wait()

    def close(self) -> None:
        self.socket.close()
        for file in self.output:
            file.close()


async def spawn(
    arguments: Callable[[int], Sequence[str]], mark: tuple[str, str], more: Sequence[int] = ()
) -> SpawnedProcess:
    """Start what `arguments` say for the number of the child's end of the line."""
    return await asyncio.get_running_loop().run_in_executor(_spawner, _spawn, arguments, mark, more)


def _spawn(arguments: Callable[[int], Sequence[str]], mark: tuple[str, str], more: Sequence[int]) -> SpawnedProcess:
    own, theirs = socket.socketpair()
    out, out_end = _pipe()
    err, err_end = _pipe()
    ends = (theirs.fileno(), out_end, err_end)
    try:
        # No preexec_fn and no user: then Python need not copy this process to start another.
        popen = subprocess.Popen(
            arguments(theirs.fileno()),
            stdin=subprocess.DEVNULL,
            stdout=out_end,
            stderr=err_end,
            pass_fds=(theirs.fileno(), *more),
            start_new_session=True,
            cwd="/",
            env={**ENVIRONMENT, mark[0]: mark[1]},
        )
    except BaseException:
        own.close()
        os.close(out)
        os.close(err)
        raise
    finally:
        theirs.detach()
        for fd in ends:
            os.close(fd)
    own.setblocking(False)
    return SpawnedProcess(popen, own, (FileIO(out), FileIO(err)), lambda: end_group(popen))


ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "USER": "script", "LOGNAME": "script"}


def _pipe() -> tuple[int, int]:
    reading, writing = os.pipe2(os.O_CLOEXEC) if hasattr(os, "pipe2") else os.pipe()
    os.set_blocking(reading, False)
    if F_SETPIPE_SZ is not None:
        with contextlib.suppress(OSError):  # the system allows no more
            fcntl.fcntl(reading, F_SETPIPE_SZ, PIPE)
    return reading, writing


def end_group(popen: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        if popen.returncode is None:
            os.killpg(popen.pid, signal.SIGKILL)


async def _ended(pid: int) -> None:
    """Until the process is over; it is not reaped."""
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()
    if not hasattr(os, "pidfd_open"):
        _wait_in_thread(pid, loop, over)
        await over
        return
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    loop.add_reader(fd, lambda: over.done() or over.set_result(None))
    try:
        await over
    finally:
        loop.remove_reader(fd)
        os.close(fd)


def _wait_in_thread(pid: int, loop: asyncio.AbstractEventLoop, over: asyncio.Future[None]) -> None:
    def wait() -> None:
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(lambda: over.done() or over.set_result(None))

    threading.Thread(target=wait, daemon=True).start()


def read_small(fd: int) -> Any:
    """Everything that is written there, until it is closed; in a thread."""
    with os.fdopen(fd, "rb") as file:
        return file.read()
