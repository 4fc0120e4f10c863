"""Processes in bubblewrap, with an isolated view of files, processes and network, an unprivileged user and limits."""

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
from cairn.adapters.sandbox.plain_process import can_switch_users, make_private, script_user
from cairn.adapters.sandbox.spawn import ENVIRONMENT, SpawnedProcess, read_to_end, rlimits, spawn
from cairn.ports import Process, ProcessSpec, SandboxLevel, SandboxStatus

WORKSPACE, SCRIPTS, CHILD = "/workspace", "/scripts", "/cairn"
TMP_BYTES = 64 * 1024 * 1024  # size of /tmp, which is in memory
SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
ETC_FILES = ("ld.so.cache", "localtime", "alternatives", "mime.types", "ssl", "ca-certificates", "pki")
NETWORK_ETC_FILES = ("resolv.conf", "hosts", "nsswitch.conf", "services", "protocols", "gai.conf")
PROBE_SECONDS = 10.0
HINT = "install bubblewrap (apt-get install bubblewrap)"


class BubblewrapSandbox:
    def __init__(self, data_folder: Path, program: str = "bwrap") -> None:
        self._data_folder = data_folder
        self._program = program
        self._prefixes: dict[str, tuple[str, ...]] = {sys.executable: (sys.prefix, sys.base_prefix)}

    # What this machine supports
    def probe(self) -> SandboxStatus:
        return (
            SandboxStatus(SandboxLevel.BUBBLEWRAP, self._setup[1])
            if self._setup[0] is not None
            else SandboxStatus(SandboxLevel.PROCESS, self._setup[1])
        )

    @cached_property
    def _setup(self) -> tuple[tuple[str, ...] | None, str]:
        """The options that make bubblewrap work on this machine, and a description for the user. Determined once."""
        program = shutil.which(self._program)
        if program is None:
            return None, f"bubblewrap is not installed: {HINT}"
        error_text = ""
        for options, description in self._variants():
            sandbox = [program, *options, *self._base_arguments(sys.executable)]
            command = [*sandbox, sys.executable, "-I", "-c", "pass"]
            try:
                completed = subprocess.run(
                    command, capture_output=True, timeout=PROBE_SECONDS, check=False, env=ENVIRONMENT
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                error_text = str(error)
                continue
            if completed.returncode == 0:
                return options, description
            error_text = completed.stderr.decode(errors="replace").strip()
        return None, f"bubblewrap does not work on this machine: {error_text or 'no error message'}"

    def _variants(self) -> Iterator[tuple[tuple[str, ...], str]]:
        restrictions = (
            "Scripts see only their workspace and readable files, no other process, and no network unless allowed"
        )
        if self._can_switch_users:
            capabilities = ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
            yield capabilities, f"{restrictions}. Each script runs as its own user."
        if os.geteuid() == 0:
            yield ("--unshare-user",), f"{restrictions}. The process limit has no effect because Cairn runs as root."
        else:
            yield ("--unshare-user",), f"{restrictions}."

    @cached_property
    def _can_switch_users(self) -> bool:
        return can_switch_users()

    # One process
    async def start(self, spec: ProcessSpec) -> Process:
        options = self._setup[0]
        if options is None:
            raise OSError(self._setup[1])
        switches_user = self._can_switch_users and "--cap-add" in options
        user = script_user(self._data_folder, spec.name) if switches_user else None
        if user is not None:
            make_private(spec.workspace, user)
        if spec.python not in self._prefixes:
            self._prefixes[spec.python] = await asyncio.to_thread(_interpreter_prefixes, spec.python)
        child_setup = {
            "limits": rlimits(spec.limits),
            "user": user,
            "is_supervised": False,
            "workspace": WORKSPACE,
            "scripts": SCRIPTS,
        }
        mark = leftover_processes.mark(self._data_folder, spec.name)
        info_read, info_write = os.pipe()
        try:
            process = await spawn(
                lambda socket_fd: [
                    self._program,
                    *options,
                    *self._base_arguments(spec.python, network=spec.limits.network),
                    *self._bind_arguments(spec),
                    *("--setenv", leftover_processes.MARK, mark, "--info-fd", str(info_write)),
                    *(spec.python, "-I", f"{CHILD}/{spec.child.parent.name}/{spec.child.name}"),
                    *(str(socket_fd), json.dumps(child_setup)),
                ],
                (leftover_processes.MARK, mark),
                (info_write,),
            )
        except BaseException:
            os.close(info_read)
            raise
        finally:
            os.close(info_write)
        return await self._with_last_pid(process, info_read, mark)

    async def _with_last_pid(self, process: SpawnedProcess, info_read: int, mark: str) -> SpawnedProcess:
        """Record the first process inside the sandbox, because it ends after all others."""
        info = await asyncio.to_thread(read_to_end, info_read)
        with contextlib.suppress(ValueError, KeyError):
            process.last_pid = json.loads(info)["child-pid"]
        process.end = partial(_kill_tree, process, mark)
        return process

    def environment_marks(self, name: str) -> dict[str, str]:
        return {leftover_processes.MARK: leftover_processes.mark(self._data_folder, name)}

    def kill_orphans(self) -> int:
        return leftover_processes.kill_orphans(self._data_folder)

    # What a process sees
    def _base_arguments(self, python: str, *, network: bool = False) -> list[str]:
        arguments = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
        arguments += [] if network else ["--unshare-net"]
        arguments += ["--die-with-parent", "--new-session", "--clearenv", "--hostname", "script"]
        for name, value in ENVIRONMENT.items():
            arguments += ["--setenv", name, value]
        arguments += ["--setenv", "HOME", WORKSPACE, "--setenv", "TMPDIR", "/tmp"]  # noqa: S108 - private to the script
        # Mounted first, because the interpreter may be in /tmp, or the data folder inside a visible folder.
        arguments += ["--proc", "/proc", "--dev", "/dev"]
        arguments += ["--perms", "1777", "--size", str(TMP_BYTES), "--tmpfs", "/tmp"]  # noqa: S108
        visible: list[str] = []
        for path in SYSTEM_FOLDERS:
            if Path(path).is_symlink():
                arguments += ["--symlink", str(Path(path).readlink()), path]
            elif Path(path).is_dir():
                visible.append(path)
        visible += [path for path in self._prefixes[python] if not _is_inside(path, visible)]
        # The user that runs the script needs access to the parent folders.
        for folder in dict.fromkeys(str(parent) for path in visible for parent in reversed(Path(path).parents[:-1])):
            if folder != "/tmp":  # noqa: S108
                arguments += ["--perms", "0755", "--dir", folder]
        for folder in ("/etc", CHILD):
            arguments += ["--perms", "0755", "--dir", folder]
        for path in visible:
            arguments += ["--ro-bind", path, path]
        for name in (*ETC_FILES, *(NETWORK_ETC_FILES if network else ())):
            arguments += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
        if _is_inside(str(self._data_folder.resolve()), visible):
            arguments += ["--tmpfs", str(self._data_folder.resolve())]
        return arguments

    def _bind_arguments(self, spec: ProcessSpec) -> Sequence[str]:
        child = spec.child.parent
        return (
            *("--ro-bind", str(child), f"{CHILD}/{child.name}"),
            *("--ro-bind", str(spec.scripts), SCRIPTS),
            *("--bind", str(spec.workspace), WORKSPACE),
            *("--remount-ro", "/", "--chdir", WORKSPACE),
        )


def _interpreter_prefixes(python: str) -> tuple[str, ...]:
    """The installation folders of an interpreter."""
    command = [python, "-I", "-c", "import json, sys; print(json.dumps([sys.prefix, sys.base_prefix]))"]
    completed = subprocess.run(command, capture_output=True, timeout=PROBE_SECONDS, check=True, env=ENVIRONMENT)
    return tuple(json.loads(completed.stdout))


def _is_inside(path: str, folders: Sequence[str]) -> bool:
    return any(Path(path).is_relative_to(folder) for folder in folders)


def _kill_tree(process: SpawnedProcess, mark: str) -> None:
    for pid in (process.last_pid, process.pid):
        if pid is not None and (pid != process.pid or process.popen.returncode is None):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
    if process.last_pid is None:
        leftover_processes.kill_marked(mark)
