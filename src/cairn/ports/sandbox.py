"""Processes that are let loose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from io import FileIO
from pathlib import Path
from typing import Any, Protocol


class SandboxLevel(StrEnum):
    """How far a process is shut in, the weakest first."""

    PROCESS = "process"  # limits, a session of its own, stopped with all that it starts
    BUBBLEWRAP = "bubblewrap"  # also: its own view of files, processes and network

    def is_weaker(self, other: SandboxLevel) -> bool:
        order = list(SandboxLevel)
        return order.index(self) < order.index(other)


@dataclass(frozen=True, slots=True)
class SandboxStatus:
    """The level that this machine reaches, and why."""

    level: SandboxLevel
    reason: str


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """What one process, and all that it starts, may use."""

    memory_mb: int = 1024  # of each process
    processes: int = 64
    open_files: int = 256
    file_size_mb: int = 100  # of each file that it writes
    network: bool = False


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """A process to be started: a file of Python's, with the rooms that it may see.

    The file is called with the number of its end of the line, and with a JSON object: `limits` by the names of
    rlimits, `user` that it becomes or null, `watches` if it has to end with all that it starts by itself, and where
    it finds `workspace` and `scripts`. It carries that out before anything else.
    """

    name: str  # of whose it is; equal for each dispatch of one execution
    python: str  # the interpreter
    child: Path  # the file that is run
    workspace: Path  # the one folder that it may write
    scripts: Path  # that it may read
    limits: ProcessLimits


class Process(Protocol):
    """A process tree that was started."""

    @property
    def pid(self) -> int: ...

    @property
    def socket(self) -> Any:
        """This side of the line to it."""
        ...

    @property
    def output(self) -> tuple[FileIO, FileIO]:
        """What it prints: the reading ends of stdout and stderr."""
        ...

    async def wait(self) -> int:
        """Until it has ended: its status, negative for a signal."""
        ...

    async def kill(self) -> None:
        """End it with everything that it has started; afterwards none of it lives."""
        ...

    def close(self) -> None:
        """Close this side of the line and of what it prints."""
        ...


class Sandbox(Protocol):
    """Starts processes that may do no harm."""

    def probe(self) -> SandboxStatus:
        """Tried once, then known."""
        ...

    async def start(self, job: ProcessSpec) -> Process: ...

    def marks(self, name: str) -> Mapping[str, str]:
        """Variables for what runs outside of it, by which it is found if this process leaves it behind."""
        ...

    def end_leftovers(self) -> int:
        """End what an earlier process of this server has left behind; the answer is how many there were."""
        ...
