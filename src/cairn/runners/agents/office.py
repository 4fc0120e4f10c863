"""What agents have at hand wherever they work."""

from __future__ import annotations

from dataclasses import dataclass

from cairn.ports import Sandbox, Web
from cairn.ports.models import Models
from cairn.runners.agents.rules import AgentRules
from cairn.runners.limits import Limits


@dataclass(frozen=True, slots=True)
class Office:
    models: Models
    limits: Limits
    rules: AgentRules
    sandbox: Sandbox | None = None
    web: Web | None = None
