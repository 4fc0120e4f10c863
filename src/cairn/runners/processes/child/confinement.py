"""Shut in before anything of the user's is run; what is set here cannot be taken back."""

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
MANY_TIMES = 10_000
COUNTING = 0.05  # seconds between two counts


def confine(setup: dict[str, Any]) -> None:
    """Limits first, then the user that it becomes."""
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
    if setup["watches"]:
        _watch(is_alone=user is not None, most=setup["limits"]["NPROC"])
    os.chdir(setup["workspace"])


def _watch(*, is_alone: bool, most: int) -> None:
    """Fork, and stay behind: whatever the script starts belongs to this process, and ends with it.

    `is_alone`: no other process has its user. The system's own limit on processes does not hold for root.
    """
    server = os.getppid()
    _belong()
    status = 128 + signal.SIGKILL

    def end(*_: object) -> None:
        sweep(is_alone=is_alone)
        os._exit(status)

    signal.signal(signal.SIGTERM, end)
    worker = os.fork()
    if worker == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        return
    _let_go()
    if os.getppid() != server:
        end()
    status = _wait(worker, None if is_alone or os.getuid() != 0 else most)
    end()


def _belong() -> None:
    """Orphans become children of this process, and it is told when the server dies."""
    import ctypes

    libc: Any = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "linux":
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _let_go() -> None:
    """What the script holds open is its own."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    os.close(int(sys.argv[1]))


def _wait(worker: int, most: int | None) -> int:
    """Until the worker is over, or more processes live than it may have."""
    while True:
        try:
            ended, how = os.waitpid(-1, 0 if most is None else os.WNOHANG)
        except ChildProcessError:
            return 0
        if ended == worker:
            status = os.waitstatus_to_exitcode(how)
            return status if status >= 0 else 128 - status
        if most is not None and ended == 0:
            if len(_below(os.getpid())) > most:
                return 128 + signal.SIGKILL
            time.sleep(COUNTING)


def sweep(*, is_alone: bool) -> None:
    """Kill everything below this process, however fast it grows."""
    own = os.getpid()
    for _ in range(MANY_TIMES):
        if is_alone:
            _send(-1, signal.SIGKILL)
        below = _below(own)
        for sent in (signal.SIGSTOP, signal.SIGKILL):  # what is stopped starts nothing new
            for pid in below:
                _send(pid, sent)
        if not _reap() and not below:
            return


def _send(pid: int, sent: signal.Signals) -> None:
    try:
        os.kill(pid, sent)
    except OSError:
        return


def _reap() -> bool:
    """Whether children are left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            continue
    except ChildProcessError:
        return False
    return True


def _below(own: int) -> set[int]:
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
