"""Processes in bubblewrap: their own view of files, processes and network, an unprivileged user, limits."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path

from cairn.adapters.sandbox import leftover_processes
from cairn.adapters.sandbox.plain_process import can_become_others, give, user_of
from cairn.adapters.sandbox.spawn import ENVIRONMENT, SpawnedProcess, limits, read_small, spawn
from cairn.ports import Process, ProcessSpec, SandboxLevel, SandboxStatus

WORKSPACE, SCRIPTS, CHILD = "/workspace", "/scripts", "/cairn"
TEMPORARY = 64 * 1024 * 1024  # bytes in /tmp, which is memory
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
READABLE = ("ld.so.cache", "localtime", "alternatives", "mime.types", "ssl", "ca-certificates", "pki")
FOR_NETWORK = ("resolv.conf", "hosts", "nsswitch.conf", "services", "protocols", "gai.conf")
PROBING = 10.0  # seconds
HINT = "install bubblewrap (apt-get install bubblewrap)"


class BubblewrapSandbox:
    def __init__(self, house: Path, program: str = "bwrap") -> None:
        self._house = house
        self._program = program
        self._prefixes: dict[str, tuple[str, ...]] = {sys.executable: (sys.prefix, sys.base_prefix)}

    # ---- what this machine can -------------------------------------------------------------------------
    def probe(self) -> SandboxStatus:
        return (
            SandboxStatus(SandboxLevel.BUBBLEWRAP, self._way[1])
            if self._way[0] is not None
            else SandboxStatus(SandboxLevel.PROCESS, self._way[1])
        )

    @cached_property
    def _way(self) -> tuple[tuple[str, ...] | None, str]:
        """How bubblewrap has to be called here, and what is reached; tried once."""
        program = shutil.which(self._program)
        if program is None:
            return None, f"bubblewrap is not there: {HINT}"
        told = ""
        for way, reached in self._ways():
            command = [program, *way, *self._around(sys.executable), sys.executable, "-I", "-c", "pass"]
            try:
                done = subprocess.run(command, capture_output=True, timeout=PROBING, check=False, env=ENVIRONMENT)
            except (OSError, subprocess.TimeoutExpired) as error:
                told = str(error)
                continue
            if done.returncode == 0:
                return way, reached
            told = done.stderr.decode(errors="replace").strip()
        return None, f"bubblewrap does not work on this machine: {told or 'it says nothing'}"

    def _ways(self) -> Iterator[tuple[tuple[str, ...], str]]:
        seen = "Scripts see only their workspace and what they may read, no other process, no network unless allowed"
        if self._becomes_others:
            caps = ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
            yield caps, f"{seen}; each is a user of its own."
        if os.geteuid() == 0:
            yield ("--unshare-user",), f"{seen}. The limit on processes does not hold: Cairn runs as root here."
        else:
            yield ("--unshare-user",), f"{seen}."

    @cached_property
    def _becomes_others(self) -> bool:
        return can_become_others()

    # ---- one process -----------------------------------------------------------------------------------
    async def start(self, job: ProcessSpec) -> Process:
        way = self._way[0]
        if way is None:
            raise OSError(self._way[1])
        user = user_of(self._house, job.name) if self._becomes_others and "--cap-add" in way else None
        if user is not None:
            give(job.workspace, user)
        if job.python not in self._prefixes:
            self._prefixes[job.python] = await asyncio.to_thread(_prefixes_of, job.python)
        setup = {
            "limits": limits(job.bounds),
            "user": user,
            "watches": False,
            "workspace": WORKSPACE,
            "scripts": SCRIPTS,
        }
        mark = leftover_processes.mark(self._house, job.name)
        reading, writing = os.pipe()
        try:
            started = await spawn(
                lambda line: [
                    self._program,
                    *way,
                    *self._around(job.python, network=job.bounds.network),
                    *self._rooms(job),
                    *("--setenv", leftover_processes.MARK, mark, "--info-fd", str(writing)),
                    *(job.python, "-I", f"{CHILD}/{job.child.parent.name}/{job.child.name}"),
                    *(str(line), json.dumps(setup)),
                ],
                (leftover_processes.MARK, mark),
                (writing,),
            )
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        return await self._followed(started, reading, mark)

    async def _followed(self, started: SpawnedProcess, reading: int, mark: str) -> SpawnedProcess:
        """The first process inside is the last of its tree: when that is over, all are."""
        told = await asyncio.to_thread(read_small, reading)
        with contextlib.suppress(ValueError, KeyError):
            started.watched = json.loads(told)["child-pid"]
        started.end = partial(_end, started, mark)
        return started

    def marks(self, name: str) -> dict[str, str]:
        return {leftover_processes.MARK: leftover_processes.mark(self._house, name)}

    def end_leftovers(self) -> int:
        return leftover_processes.end_left_behind(self._house)

    # ---- what it sees ----------------------------------------------------------------------------------
    def _around(self, python: str, *, network: bool = False) -> list[str]:
        arguments = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
        arguments += [] if network else ["--unshare-net"]
        arguments += ["--die-with-parent", "--new-session", "--clearenv", "--hostname", "script"]
        for name, value in ENVIRONMENT.items():
            arguments += ["--setenv", name, value]
        arguments += ["--setenv", "HOME", WORKSPACE, "--setenv", "TMPDIR", "/tmp"]  # noqa: S108 - its own
        # First of all: the interpreter may lie in /tmp, or the house in what is shown of it.
        arguments += ["--proc", "/proc", "--dev", "/dev"]
        arguments += ["--perms", "1777", "--size", str(TEMPORARY), "--tmpfs", "/tmp"]  # noqa: S108
        shown: list[str] = []
        for path in SYSTEM:
            if Path(path).is_symlink():
                arguments += ["--symlink", str(Path(path).readlink()), path]
            elif Path(path).is_dir():
                shown.append(path)
        shown += [path for path in self._prefixes[python] if not _is_below(path, shown)]
        # Folders on the way are open to the user that the script becomes.
        for folder in dict.fromkeys(str(parent) for path in shown for parent in reversed(Path(path).parents[:-1])):
            if folder != "/tmp":  # noqa: S108
                arguments += ["--perms", "0755", "--dir", folder]
        for folder in ("/etc", CHILD):
            arguments += ["--perms", "0755", "--dir", folder]
        for path in shown:
            arguments += ["--ro-bind", path, path]
        for name in (*READABLE, *(FOR_NETWORK if network else ())):
            arguments += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
        if _is_below(str(self._house.resolve()), shown):
            arguments += ["--tmpfs", str(self._house.resolve())]
        return arguments

    def _rooms(self, job: ProcessSpec) -> Sequence[str]:
        child = job.child.parent
        return (
            *("--ro-bind", str(child), f"{CHILD}/{child.name}"),
            *("--ro-bind", str(job.scripts), SCRIPTS),
            *("--bind", str(job.workspace), WORKSPACE),
            *("--remount-ro", "/", "--chdir", WORKSPACE),
        )


def _prefixes_of(python: str) -> tuple[str, ...]:
    """The folders that an interpreter is made of."""
    asked = [python, "-I", "-c", "import json, sys; print(json.dumps([sys.prefix, sys.base_prefix]))"]
    done = subprocess.run(asked, capture_output=True, timeout=PROBING, check=True, env=ENVIRONMENT)
    return tuple(json.loads(done.stdout))


def _is_below(path: str, folders: Sequence[str]) -> bool:
    return any(Path(path).is_relative_to(folder) for folder in folders)


def _end(started: SpawnedProcess, mark: str) -> None:
    for pid in (started.watched, started.pid):
        if pid is not None and (pid != started.pid or started.popen.returncode is None):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
    if started.watched is None:
        leftover_processes.end_marked(mark)
