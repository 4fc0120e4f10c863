"""What agents have at hand wherever they work."""

from __future__ import annotations

from dataclasses import dataclass, field

from cairn.ports import Sandbox, Web
from cairn.ports.models import Models
from cairn.runners.agents.rules import AgentRules
from cairn.runners.limits import Limits


@dataclass(frozen=True, slots=True)
class Office:
    models: Models
    limits: Limits = field(default_factory=Limits)
    rules: AgentRules = field(default_factory=AgentRules)
    sandbox: Sandbox | None = None
    web: Web | None = None
