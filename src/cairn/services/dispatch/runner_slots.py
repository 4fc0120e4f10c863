"""How many executions are carried out at the same time."""

from __future__ import annotations

import asyncio

from cairn.core.states import ExecutionMode


class RunnerSlots:
    """Scripts and agents have places of their own: what waits for a provider does not hold up the others."""

    def __init__(self, most: int, scripts: int, agents: int) -> None:
        self._of = {ExecutionMode.SCRIPT: asyncio.Semaphore(scripts), ExecutionMode.AGENTIC: asyncio.Semaphore(agents)}
        self._others = asyncio.Semaphore(most)

    def for_mode(self, mode: ExecutionMode) -> asyncio.Semaphore:
        return self._of.get(mode, self._others)
