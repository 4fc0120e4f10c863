"""Processes with limits and nothing around them: for machines without bubblewrap, where an admin allows it."""

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
from cairn.adapters.sandbox.spawn import SpawnedProcess, limits, spawn
from cairn.ports import Process, ProcessSpec, SandboxLevel, SandboxStatus

FIRST_USER = 1_000_000_000
USERS = 1_000_000_000
GRACE = 2.0  # seconds in which the one who watches ends everything by itself


class PlainSandbox:
    """A session of its own, limits, and one who watches: what the script starts ends with it."""

    def __init__(self, house: Path) -> None:
        self._house = house

    def probe(self) -> SandboxStatus:
        return SandboxStatus(
            SandboxLevel.PROCESS,
            "Scripts have limits and end with all that they start, but see the machine's files, processes and network.",
        )

    async def start(self, job: ProcessSpec) -> Process:
        user = user_of(self._house, job.name) if _can_become_other(job) else None
        if user is not None:
            give(job.workspace, user)
        bounds = limits(job.bounds)
        if user is None:
            bounds["NPROC"] += _processes_of(os.getuid())  # the limit counts all that the user has
        setup = {
            "limits": bounds,
            "user": user,
            "watches": True,
            "workspace": str(job.workspace),
            "scripts": str(job.scripts),
        }
        mark = leftover_processes.mark(self._house, job.name)
        started = await spawn(
            lambda line: [job.python, "-I", str(job.child), str(line), json.dumps(setup)],
            (leftover_processes.MARK, mark),
        )
        started.end = partial(_end, started, mark)
        return started

    def marks(self, name: str) -> dict[str, str]:
        return {leftover_processes.MARK: leftover_processes.mark(self._house, name)}

    def end_leftovers(self) -> int:
        return leftover_processes.end_left_behind(self._house)


def user_of(house: Path, name: str) -> int:
    """A user that nobody else has, always the same one for the same work: its files stay its own."""
    number = int.from_bytes(hashlib.sha256(f"{house.resolve()}\0{name}".encode(errors="replace")).digest()[:8], "big")
    return FIRST_USER + number % USERS


def can_become_others() -> bool:
    """Whether this process may give up being root for any user."""
    if os.geteuid() != 0:
        return False
    try:
        rows = [row.split() for row in Path("/proc/self/uid_map").read_text().splitlines()]
    except OSError:
        return False
    return any(int(first) == 0 and int(count) >= FIRST_USER + USERS for first, _, count in rows)


def give(folder: Path, user: int) -> None:
    """The folder becomes the user's; nobody else's are let in."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        os.fchown(fd, user, user)
        os.fchmod(fd, 0o700)
    finally:
        os.close(fd)


def _can_become_other(job: ProcessSpec) -> bool:
    """Only where it can reach its rooms and its interpreter as somebody else."""
    needed = (job.workspace, job.scripts, job.child, Path(job.python), Path(job.python).resolve())
    return can_become_others() and all(_is_open(parent) for path in needed for parent in path.parents)


def _is_open(folder: Path) -> bool:
    return bool(folder.stat().st_mode & stat.S_IXOTH)


def _processes_of(user: int) -> int:
    """Threads that the user has now."""
    found = 0
    for folder in Path("/proc").iterdir() if Path("/proc").is_dir() else ():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                if folder.stat().st_uid == user:
                    found += len(list((folder / "task").iterdir()))
    return found


def _end(started: SpawnedProcess, mark: str) -> None:
    """The one who watches ends the tree; what got away from it is found by its mark."""
    with contextlib.suppress(OSError):
        if started.popen.returncode is None:
            os.kill(started.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                _wait(started, GRACE)
            os.killpg(started.pid, signal.SIGKILL)
    leftover_processes.end_marked(mark)


def _wait(started: SpawnedProcess, seconds: float) -> None:
    """Until it is over, without taking its status from whoever waits for it."""
    import select

    if not hasattr(os, "pidfd_open"):
        return
    try:
        fd = os.pidfd_open(started.pid)
    except ProcessLookupError:
        return
    try:
        select.select([fd], [], [], seconds)
    finally:
        os.close(fd)
