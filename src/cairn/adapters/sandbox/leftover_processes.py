"""Processes that bear a server's mark: found by walking /proc, so that none outlives what it belongs to."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

MARK = "CAIRN_SANDBOX"
PROC = Path("/proc")
PATIENCE = 5.0  # seconds until what was killed has to be gone


def mark(house: Path, name: str) -> str:
    """Whose a process is: of this folder, of this very server, of one piece of work."""
    return f"{_house(house)}:{os.getpid()}:{_started(os.getpid())}:{name}"


def end_marked(mark: str) -> int:
    """End every process that bears this mark; the answer is how many there were."""
    return _end(lambda: [pid for pid, found in _marked() if found == mark])


def end_left_behind(house: Path) -> int:
    """End every process of this folder's whose server lives no more."""
    own = f"{_house(house)}:"

    def left() -> list[int]:
        return [pid for pid, found in _marked() if found.startswith(own) and not _lives(found)]

    return _end(left)


def _end(find: Callable[[], list[int]]) -> int:
    """Kill what is found until nothing is: what is being started meanwhile is found the next time."""
    killed = set[int]()
    deadline = time.monotonic() + PATIENCE
    while (found := find()) and time.monotonic() < deadline:
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        killed.update(found)
        time.sleep(0.002)
    return len(killed)


def _marked() -> Iterator[tuple[int, str]]:
    """Living processes with a mark, and the mark."""
    wanted = f"{MARK}=".encode()
    for folder in PROC.iterdir() if PROC.is_dir() else ():
        if not folder.name.isdigit():
            continue
        try:
            environment = (folder / "environ").read_bytes()
        except OSError:
            continue  # gone, or somebody else's
        for entry in environment.split(b"\0"):
            if entry.startswith(wanted):
                yield int(folder.name), entry[len(wanted) :].decode(errors="replace")


def _lives(found: str) -> bool:
    """Whether the server that a mark names is still the process that has its number."""
    _, pid, started, *_ = (*found.split(":"), "", "", "")
    return pid.isdecimal() and started != "" and _started(int(pid)) == started


def _started(pid: int) -> str:
    """When a process began, in the system's ticks; empty if there is none."""
    try:
        state, *fields = (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if state == "Z" else fields[18]


def _house(folder: Path) -> str:
    return hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]
