"""Sandboxed processes for scripts and tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from io import FileIO
from pathlib import Path
from typing import Any, Protocol


class SandboxLevel(StrEnum):
    """Isolation levels, weakest first."""

    PROCESS = "process"  # resource limits, and the whole process tree can be killed
    BUBBLEWRAP = "bubblewrap"  # also an isolated view of files, processes and network

    def is_weaker(self, other: SandboxLevel) -> bool:
        order = list(SandboxLevel)
        return order.index(self) < order.index(other)


@dataclass(frozen=True, slots=True)
class SandboxStatus:
    """The level that works on this machine, and why."""

    level: SandboxLevel
    reason: str


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """Resource limits of a process and its children."""

    memory_mb: int = 1024  # per process
    processes: int = 64
    open_files: int = 256
    file_size_mb: int = 100  # per file
    network: bool = False


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """A Python process to start, with the folders that it can access.

    `child` receives two arguments: the file descriptor of its end of the connection, and a JSON object with its
    `limits` by rlimit name, the `user` id to switch to or null, `is_supervised` if it has to kill its process tree
    itself, and the paths `workspace` and `scripts`. It applies them before anything else.
    """

    name: str  # identifies the owner; the same for all dispatches of an execution
    python: str  # the interpreter
    child: Path  # the Python file to run
    workspace: Path  # the only writable folder
    scripts: Path  # readable
    limits: ProcessLimits


class Process(Protocol):
    """A running process with its children."""

    @property
    def pid(self) -> int: ...

    @property
    def socket(self) -> Any:
        """This end of the connection."""
        ...

    @property
    def output(self) -> tuple[FileIO, FileIO]:
        """The read ends of stdout and stderr."""
        ...

    async def wait(self) -> int:
        """Wait for the exit and return the status, negative for a signal."""
        ...

    async def kill(self) -> None:
        """Kill the whole process tree and wait until it has ended."""
        ...

    def close(self) -> None:
        """Close this end of the connection and the output."""
        ...


class Sandbox(Protocol):
    """Starts isolated processes."""

    def probe(self) -> SandboxStatus:
        """Determine the isolation level. The result is cached."""
        ...

    async def start(self, spec: ProcessSpec) -> Process: ...

    def environment_marks(self, name: str) -> Mapping[str, str]:
        """Environment variables for processes outside the sandbox, so that `kill_orphans` finds them."""
        ...

    def kill_orphans(self) -> int:
        """Kill processes of an earlier server process, and return how many there were."""
        ...
