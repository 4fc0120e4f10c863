"""Confine this process before it runs any code of the user. The process can't undo this."""

from __future__ import annotations

import os
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
MAX_KILL_ROUNDS = 10_000
COUNT_INTERVAL = 0.05  # seconds


def confine(setup: dict[str, Any]) -> None:
    """Set resource limits, switch to the unprivileged user, optionally fork a supervisor, and enter the workspace."""
    import resource

    for name, value in setup["limits"].items():
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (bound, bound))
    user = setup["user"]
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    os.umask(0o077)
    if setup["is_supervised"]:
        _supervise(has_own_user=user is not None, max_processes=setup["limits"]["NPROC"])
    os.chdir(setup["workspace"])


def _supervise(*, has_own_user: bool, max_processes: int) -> None:
    """Fork. The child runs the script. This process supervises it and kills all descendants at the end.

    `has_own_user`: no other process runs as this user. Root ignores NPROC, so the supervisor counts its processes.
    """
    server = os.getppid()
    _become_subreaper()
    status = 128 + signal.SIGKILL

    def end(*_: object) -> None:
        kill_descendants(has_own_user=has_own_user)
        os._exit(status)

    signal.signal(signal.SIGTERM, end)
    worker = os.fork()
    if worker == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        return
    _release_files()
    if os.getppid() != server:
        end()
    status = _wait(worker, None if has_own_user or os.getuid() != 0 else max_processes)
    end()


def _become_subreaper() -> None:
    """Adopt orphaned descendants, and receive SIGTERM when the server dies."""
    import ctypes

    libc: Any = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "linux":
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _release_files() -> None:
    """Close the pipes and the connection, so that only the script holds them open."""
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(int(sys.argv[1]))


def _wait(worker: int, max_processes: int | None) -> int:
    """Wait until the worker exits or exceeds its number of processes. Returns the exit status."""
    while True:
        try:
            pid, wait_status = os.waitpid(-1, 0 if max_processes is None else os.WNOHANG)
        except ChildProcessError:
            return 0
        if pid == worker:
            status = os.waitstatus_to_exitcode(wait_status)
            return status if status >= 0 else 128 - status
        if max_processes is not None and pid == 0:
            if len(_descendants(os.getpid())) > max_processes:
                return 128 + signal.SIGKILL
            time.sleep(COUNT_INTERVAL)


def kill_descendants(*, has_own_user: bool) -> None:
    """Kill all descendants of this process, even while they start new ones."""
    own = os.getpid()
    for _ in range(MAX_KILL_ROUNDS):
        if has_own_user:
            _send(-1, signal.SIGKILL)
        descendants = _descendants(own)
        for sent in (signal.SIGSTOP, signal.SIGKILL):  # a stopped process starts no others
            for pid in descendants:
                _send(pid, sent)
        if not _reap() and not descendants:
            return


def _send(pid: int, sent: signal.Signals) -> None:
    try:
        os.kill(pid, sent)
    except OSError:
        return


def _reap() -> bool:
    """Reap exited children. Returns whether others are still running."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            continue
    except ChildProcessError:
        return False
    return True


def _descendants(own: int) -> set[int]:
    parents: dict[int, int] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    state, parent = file.read().rpartition(b")")[2].split()[:2]
            except OSError:
                continue
            if state != b"Z":
                parents[int(name)] = int(parent)
    found, before = {own}, 0
    while len(found) > before:
        before = len(found)
        found |= {pid for pid, parent in parents.items() if parent in found}
    return found - {own}
