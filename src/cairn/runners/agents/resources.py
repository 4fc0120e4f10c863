"""What agents have at hand wherever they work."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field

from cairn.ports import Sandbox, Web
from cairn.ports.models import Models
from cairn.runners.agents.policy import AgentRules
from cairn.runners.limits import Limits


def _places() -> asyncio.Semaphore:
    return asyncio.Semaphore(os.cpu_count() or 1)


@dataclass(frozen=True, slots=True)
class Office:
    models: Models
    limits: Limits = field(default_factory=Limits)
    rules: AgentRules = field(default_factory=AgentRules)
    sandbox: Sandbox | None = None
    web: Web | None = None
    code_places: asyncio.Semaphore = field(default_factory=_places)  # programs of agents that run at the same time
