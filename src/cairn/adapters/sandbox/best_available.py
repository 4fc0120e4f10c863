"""The best sandbox that this machine has."""

from __future__ import annotations

import asyncio
from functools import cached_property
from pathlib import Path

from cairn.adapters.sandbox.bubblewrap import BubblewrapSandbox
from cairn.adapters.sandbox.plain_process import PlainSandbox
from cairn.ports import Process, ProcessSpec, Sandbox, SandboxLevel, SandboxStatus


class BestSandbox:
    """Bubblewrap where it works, else limits alone; which one is a value that callers look at."""

    def __init__(self, house: Path) -> None:
        self._bubblewrap = BubblewrapSandbox(house)
        self._plain = PlainSandbox(house)

    @cached_property
    def _best(self) -> tuple[Sandbox, SandboxStatus]:
        reached = self._bubblewrap.probe()
        if reached.level is SandboxLevel.BUBBLEWRAP:
            return self._bubblewrap, reached
        plain = self._plain.probe()
        return self._plain, SandboxStatus(plain.level, f"{plain.reason} {reached.reason}.")

    def probe(self) -> SandboxStatus:
        return self._best[1]

    async def start(self, job: ProcessSpec) -> Process:
        sandbox, _ = self.__dict__.get("_best") or await asyncio.to_thread(lambda: self._best)
        return await sandbox.start(job)

    def marks(self, name: str) -> dict[str, str]:
        return self._plain.marks(name)

    def end_leftovers(self) -> int:
        return self._plain.end_leftovers()
