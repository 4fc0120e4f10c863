"""Limits on the number of executions that run at the same time."""

from __future__ import annotations

import asyncio

from cairn.core.states import ExecutionMode


class RunnerSlots:
    """Scripts and agents have separate limits, so that waiting for a model provider blocks nothing else."""

    def __init__(self, max_executions: int, max_scripts: int, max_agents: int) -> None:
        self._by_mode = {
            ExecutionMode.SCRIPT: asyncio.Semaphore(max_scripts),
            ExecutionMode.AGENTIC: asyncio.Semaphore(max_agents),
        }
        self._default = asyncio.Semaphore(max_executions)

    def for_mode(self, mode: ExecutionMode) -> asyncio.Semaphore:
        return self._by_mode.get(mode, self._default)
