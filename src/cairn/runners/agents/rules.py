"""What agents may do here: the settings' word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cairn.ports import Bounds, Level


@dataclass(frozen=True, slots=True)
class AgentRules:
    """As an admin has set them."""

    code_level: Level = Level.BUBBLEWRAP  # weaker is refused
    code_seconds: float = 60.0  # of one piece of code
    code_bounds: Bounds = field(default_factory=Bounds)
    mcp_servers: Mapping[str, object] = field(default_factory=dict[str, object])
