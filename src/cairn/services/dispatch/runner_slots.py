"""How many executions are carried out at the same time."""

from __future__ import annotations

import asyncio

from cairn.core.states import Mode


class Places:
    """Scripts and agents have places of their own: what waits for a provider does not hold up the others."""

    def __init__(self, most: int, scripts: int, agents: int) -> None:
        self._of = {Mode.SCRIPT: asyncio.Semaphore(scripts), Mode.AGENTIC: asyncio.Semaphore(agents)}
        self._others = asyncio.Semaphore(most)

    def of(self, mode: Mode) -> asyncio.Semaphore:
        return self._of.get(mode, self._others)
