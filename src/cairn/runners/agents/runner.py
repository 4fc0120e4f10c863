"""Agents carry out a checkpoint."""

from __future__ import annotations

import asyncio
import importlib
import sys

from cairn.ports import Outcome, WorkOrder
from cairn.runners.agents.resources import AgentResources

WORKING = "cairn.runners.agents.session"


class AgentRunner:
    """Has models work on it. Cancelled, it hangs up and ends what its tools have started."""

    def __init__(self, office: AgentResources) -> None:
        self._office = office

    async def run(self, work: WorkOrder) -> Outcome:
        await import_agents()
        from cairn.runners.agents.session import run_session

        return await run_session(work, self._office)


async def import_agents() -> None:
    """The agent library takes a second to import, which nobody else has to wait for."""
    if WORKING not in sys.modules:
        await asyncio.to_thread(importlib.import_module, WORKING)
