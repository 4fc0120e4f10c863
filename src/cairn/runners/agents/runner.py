"""Run agentic checkpoints."""

from __future__ import annotations

import asyncio
import importlib
import sys

from cairn.ports import Outcome, WorkOrder
from cairn.runners.agents.resources import AgentResources

SESSION_MODULE = "cairn.runners.agents.session"


class AgentRunner:
    """Runs a checkpoint with models. Cancellation closes the connection and ends the processes of its tools."""

    def __init__(self, resources: AgentResources) -> None:
        self._resources = resources

    async def run(self, work: WorkOrder) -> Outcome:
        await import_agents()
        from cairn.runners.agents.session import run_session

        return await run_session(work, self._resources)


async def import_agents() -> None:
    """Import the agent library in a thread. It takes a second, which must not block the event loop."""
    if SESSION_MODULE not in sys.modules:
        await asyncio.to_thread(importlib.import_module, SESSION_MODULE)
