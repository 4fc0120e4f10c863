"""Processes with limits but no isolation, for machines without bubblewrap where an admin allows it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import stat
import subprocess
from functools import partial
from pathlib import Path

from cairn.adapters.sandbox import leftover_processes
from cairn.adapters.sandbox.spawn import SpawnedProcess, rlimits, spawn
from cairn.ports import Process, ProcessSpec, SandboxLevel, SandboxStatus

FIRST_USER = 1_000_000_000
USER_COUNT = 1_000_000_000
GRACE_SECONDS = 2.0  # how long the watcher process has to end the tree by itself


class PlainSandbox:
    """Starts processes with a separate session, limits, and a watcher that ends all processes they started."""

    def __init__(self, data_folder: Path) -> None:
        self._data_folder = data_folder

    def probe(self) -> SandboxStatus:
        return SandboxStatus(
            SandboxLevel.PROCESS,
            "Scripts have limits and end with all their processes, but they see all files, processes and the"
            " network of the machine.",
        )

    async def start(self, spec: ProcessSpec) -> Process:
        user = script_user(self._data_folder, spec.name) if _can_switch_user(spec) else None
        if user is not None:
            make_private(spec.workspace, user)
        child_limits = rlimits(spec.limits)
        if user is None:
            child_limits["NPROC"] += _count_threads(os.getuid())  # the limit counts all threads of the user
        setup = {
            "limits": child_limits,
            "user": user,
            "is_supervised": True,
            "workspace": str(spec.workspace),
            "scripts": str(spec.scripts),
        }
        mark = leftover_processes.mark(self._data_folder, spec.name)
        process = await spawn(
            lambda socket_fd: [spec.python, "-I", str(spec.child), str(socket_fd), json.dumps(setup)],
            (leftover_processes.MARK, mark),
        )
        process.end = partial(_kill_tree, process, mark)
        return process

    def environment_marks(self, name: str) -> dict[str, str]:
        return {leftover_processes.MARK: leftover_processes.mark(self._data_folder, name)}

    def kill_orphans(self) -> int:
        return leftover_processes.kill_orphans(self._data_folder)


def script_user(data_folder: Path, name: str) -> int:
    """An unused user id. The same name always gets the same id, so that it keeps access to its files."""
    digest = hashlib.sha256(f"{data_folder.resolve()}\0{name}".encode(errors="replace")).digest()
    number = int.from_bytes(digest[:8], "big")
    return FIRST_USER + number % USER_COUNT


def can_switch_users() -> bool:
    """Whether this process runs as root and can switch to any of these users."""
    if os.geteuid() != 0:
        return False
    try:
        rows = [row.split() for row in Path("/proc/self/uid_map").read_text().splitlines()]
    except OSError:
        return False
    return any(int(first) == 0 and int(count) >= FIRST_USER + USER_COUNT for first, _, count in rows)


def make_private(folder: Path, user: int) -> None:
    """Make the user the owner of the folder and the only one with access."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        os.fchown(fd, user, user)
        os.fchmod(fd, 0o700)
    finally:
        os.close(fd)


def _can_switch_user(spec: ProcessSpec) -> bool:
    """Whether another user can reach the folders and the interpreter."""
    paths = (spec.workspace, spec.scripts, spec.child, Path(spec.python), Path(spec.python).resolve())
    return can_switch_users() and all(_is_traversable(parent) for path in paths for parent in path.parents)


def _is_traversable(folder: Path) -> bool:
    return bool(folder.stat().st_mode & stat.S_IXOTH)


def _count_threads(user: int) -> int:
    """Count all current threads of the user."""
    count = 0
    for folder in Path("/proc").iterdir() if Path("/proc").is_dir() else ():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                if folder.stat().st_uid == user:
                    count += len(list((folder / "task").iterdir()))
    return count


def _kill_tree(process: SpawnedProcess, mark: str) -> None:
    """Let the watcher end the tree, then kill processes that escaped it by their mark."""
    with contextlib.suppress(OSError):
        if process.popen.returncode is None:
            os.kill(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                _wait(process, GRACE_SECONDS)
            os.killpg(process.pid, signal.SIGKILL)
    leftover_processes.kill_marked(mark)


def _wait(process: SpawnedProcess, seconds: float) -> None:
    """Wait until the process has ended without reaping it, because `SpawnedProcess` collects its status."""
    import select

    if not hasattr(os, "pidfd_open"):
        return
    try:
        fd = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return
    try:
        select.select([fd], [], [], seconds)
    finally:
        os.close(fd)
