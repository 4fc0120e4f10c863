"""Start processes without blocking the event loop, and wait for their end."""

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
PIPE_BYTES = 1 * MEGABYTE  # how much a script can print before Cairn reads it
F_SETPIPE_SZ = getattr(fcntl, "F_SETPIPE_SZ", None)

# This thread never ends, because a process that dies with its parent dies with the thread that started it.
_spawner = ThreadPoolExecutor(max_workers=1, thread_name_prefix="cairn-spawner")


def rlimits(limits: ProcessLimits) -> dict[str, int]:
    """The limits that the child sets for itself, by rlimit name."""
    return {
        "AS": limits.memory_mb * MEGABYTE,
        "NPROC": limits.processes,
        "NOFILE": limits.open_files,
        "FSIZE": limits.file_size_mb * MEGABYTE,
        "CORE": 0,
    }


@dataclass(eq=False)
class SpawnedProcess:
    """A process, the connection to it, and how to end its process tree."""

    popen: subprocess.Popen[bytes]
    socket: socket.socket
    output: tuple[FileIO, FileIO]
    end: Callable[[], None]  # blocks until the whole tree has ended
    last_pid: int | None = None  # the process of the tree that ends last, if not `pid`
    _exit_status: asyncio.Future[int] | None = field(default=None, init=False)

    @property
    def pid(self) -> int:
        return self.popen.pid

    async def wait(self) -> int:
        if self._exit_status is None:
            self._exit_status = asyncio.ensure_future(self._wait())
        return await asyncio.shield(self._exit_status)

    async def _wait(self) -> int:
        await _wait_for_exit(self.pid)
        status = self.popen.wait()
        if self.last_pid is not None:
            await _wait_for_exit(self.last_pid)
        return status

    async def kill(self) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self.end)
        await self.wait()

    def close(self) -> None:
        self.socket.close()
        for file in self.output:
            file.close()


async def spawn(
    arguments: Callable[[int], Sequence[str]], mark: tuple[str, str], extra_fds: Sequence[int] = ()
) -> SpawnedProcess:
    """Start a process. `arguments` receives the file descriptor of the child's end of the connection."""
    return await asyncio.get_running_loop().run_in_executor(_spawner, _spawn, arguments, mark, extra_fds)


def _spawn(
    arguments: Callable[[int], Sequence[str]], mark: tuple[str, str], extra_fds: Sequence[int]
) -> SpawnedProcess:
    parent_end, child_end = socket.socketpair()
    out_read, out_write = _pipe()
    err_read, err_write = _pipe()
    child_fds = (child_end.fileno(), out_write, err_write)
    try:
        # No preexec_fn and no user, so that Python can use vfork instead of copying this process.
        popen = subprocess.Popen(
            arguments(child_end.fileno()),
            stdin=subprocess.DEVNULL,
            stdout=out_write,
            stderr=err_write,
            pass_fds=(child_end.fileno(), *extra_fds),
            start_new_session=True,
            cwd="/",
            env={**ENVIRONMENT, mark[0]: mark[1]},
        )
    except BaseException:
        parent_end.close()
        os.close(out_read)
        os.close(err_read)
        raise
    finally:
        child_end.detach()
        for fd in child_fds:
            os.close(fd)
    parent_end.setblocking(False)
    return SpawnedProcess(popen, parent_end, (FileIO(out_read), FileIO(err_read)), lambda: end_group(popen))


ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "USER": "script", "LOGNAME": "script"}


def _pipe() -> tuple[int, int]:
    read_fd, write_fd = os.pipe2(os.O_CLOEXEC) if hasattr(os, "pipe2") else os.pipe()
    os.set_blocking(read_fd, False)
    if F_SETPIPE_SZ is not None:
        with contextlib.suppress(OSError):  # the system does not allow this size
            fcntl.fcntl(read_fd, F_SETPIPE_SZ, PIPE_BYTES)
    return read_fd, write_fd


def end_group(popen: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        if popen.returncode is None:
            os.killpg(popen.pid, signal.SIGKILL)


async def _wait_for_exit(pid: int) -> None:
    """Wait until the process has ended, without reaping it."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()
    if not hasattr(os, "pidfd_open"):
        _wait_in_thread(pid, loop, ended)
        await ended
        return
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    loop.add_reader(fd, lambda: ended.done() or ended.set_result(None))
    try:
        await ended
    finally:
        loop.remove_reader(fd)
        os.close(fd)


def _wait_in_thread(pid: int, loop: asyncio.AbstractEventLoop, ended: asyncio.Future[None]) -> None:
    def wait() -> None:
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(lambda: ended.done() or ended.set_result(None))

    threading.Thread(target=wait, daemon=True).start()


def read_to_end(fd: int) -> Any:
    """Read everything until the other end is closed. Blocks."""
    with os.fdopen(fd, "rb") as file:
        return file.read()
