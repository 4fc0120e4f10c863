"""Resources that all agents on this server share: models, limits, policy, sandbox and HTTP client."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field

from cairn.ports import HttpClient, Sandbox
from cairn.ports.models import ModelCatalogue
from cairn.runners.agents.policy import AgentPolicy
from cairn.runners.limits import RunnerLimits


def _code_slots() -> asyncio.Semaphore:
    return asyncio.Semaphore(os.cpu_count() or 1)


@dataclass(frozen=True, slots=True)
class AgentResources:
    models: ModelCatalogue
    limits: RunnerLimits = field(default_factory=RunnerLimits)
    policy: AgentPolicy = field(default_factory=AgentPolicy)
    sandbox: Sandbox | None = None
    http: HttpClient | None = None
    code_slots: asyncio.Semaphore = field(
        default_factory=_code_slots
    )  # limits the number of programs that run at the same time
