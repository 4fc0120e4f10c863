"""What agents have at hand wherever they work."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field

from cairn.ports import HttpClient, Sandbox
from cairn.ports.models import ModelCatalogue
from cairn.runners.agents.policy import AgentPolicy
from cairn.runners.limits import RunnerLimits


def _places() -> asyncio.Semaphore:
    return asyncio.Semaphore(os.cpu_count() or 1)


@dataclass(frozen=True, slots=True)
class AgentResources:
    models: ModelCatalogue
    limits: RunnerLimits = field(default_factory=RunnerLimits)
    rules: AgentPolicy = field(default_factory=AgentPolicy)
    sandbox: Sandbox | None = None
    web: HttpClient | None = None
    code_places: asyncio.Semaphore = field(default_factory=_places)  # programs of agents that run at the same time
