"""Choose the best sandbox that works on this machine."""

from __future__ import annotations

import asyncio
from functools import cached_property
from pathlib import Path

from cairn.adapters.sandbox.bubblewrap import BubblewrapSandbox
from cairn.adapters.sandbox.plain_process import PlainSandbox
from cairn.ports import Process, ProcessSpec, Sandbox, SandboxLevel, SandboxStatus


class BestSandbox:
    """Bubblewrap if it works, otherwise process limits only. `probe` reports which one."""

    def __init__(self, data_folder: Path) -> None:
        self._bubblewrap = BubblewrapSandbox(data_folder)
        self._plain = PlainSandbox(data_folder)

    @cached_property
    def _best(self) -> tuple[Sandbox, SandboxStatus]:
        status = self._bubblewrap.probe()
        if status.level is SandboxLevel.BUBBLEWRAP:
            return self._bubblewrap, status
        plain = self._plain.probe()
        return self._plain, SandboxStatus(plain.level, f"{plain.reason} {status.reason}.")

    def probe(self) -> SandboxStatus:
        return self._best[1]

    async def start(self, spec: ProcessSpec) -> Process:
        sandbox, _ = self.__dict__.get("_best") or await asyncio.to_thread(lambda: self._best)
        return await sandbox.start(spec)

    def environment_marks(self, name: str) -> dict[str, str]:
        return self._plain.environment_marks(name)

    def kill_orphans(self) -> int:
        return self._plain.kill_orphans()
