"""Find processes by the mark in their environment and kill those that outlived their server or execution."""

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
KILL_SECONDS = 5.0  # how long to wait for killed processes to end


def mark(data_folder: Path, name: str) -> str:
    """The mark of a process: the data folder, this server process and the name of the work."""
    return f"{_folder_hash(data_folder)}:{os.getpid()}:{_start_time(os.getpid())}:{name}"


def kill_marked(mark: str) -> int:
    """Kill all processes with this mark and return how many there were."""
    return _kill_all(lambda: [pid for pid, value in _marked_processes() if value == mark])


def kill_orphans(data_folder: Path) -> int:
    """Kill all processes of this data folder whose server has ended and return how many there were."""
    prefix = f"{_folder_hash(data_folder)}:"

    def find_orphaned() -> list[int]:
        return [pid for pid, value in _marked_processes() if value.startswith(prefix) and not _server_is_alive(value)]

    return _kill_all(find_orphaned)


def _kill_all(find: Callable[[], list[int]]) -> int:
    """Repeat until nothing is found, because a process may have started another just before it was killed."""
    killed = set[int]()
    deadline = time.monotonic() + KILL_SECONDS
    while (pids := find()) and time.monotonic() < deadline:
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        killed.update(pids)
        time.sleep(0.002)
    return len(killed)


def _marked_processes() -> Iterator[tuple[int, str]]:
    """Running processes that have a mark, each with its mark."""
    prefix = f"{MARK}=".encode()
    for folder in PROC.iterdir() if PROC.is_dir() else ():
        if not folder.name.isdigit():
            continue
        try:
            environment = (folder / "environ").read_bytes()
        except OSError:
            continue  # it has ended, or belongs to another user
        for entry in environment.split(b"\0"):
            if entry.startswith(prefix):
                yield int(folder.name), entry[len(prefix) :].decode(errors="replace")


def _server_is_alive(mark: str) -> bool:
    """Whether the process with the server's id is still that server."""
    _, pid, start_time, *_ = (*mark.split(":"), "", "", "")
    return pid.isdecimal() and start_time != "" and _start_time(int(pid)) == start_time


def _start_time(pid: int) -> str:
    """The start time of a process in clock ticks; empty if it has ended."""
    try:
        state, *fields = (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if state == "Z" else fields[18]


def _folder_hash(folder: Path) -> str:
    return hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]
