"""A registry of tools for tests, with grants by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cairn.core.states import ActionEffect
from cairn.ports.tools import OfferedTool, ToolGrant


@dataclass
class FakeToolGrants:
    """Lists tools when they are first offered, if `default` says so. The grants can be changed at any time."""

    default: ActionEffect | None = None
    effects: Mapping[str, ActionEffect] = field(default_factory=dict[str, ActionEffect])
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    offered: dict[str, OfferedTool] = field(default_factory=dict[str, OfferedTool])
    granted: dict[str, ToolGrant] = field(default_factory=dict[str, ToolGrant])

    async def observe(self, offered: Sequence[OfferedTool]) -> None:
        for tool in offered:
            effect = self.effects.get(tool.name, self.default)
            if tool.name not in self.offered and effect is not None:
                self.granted[tool.name] = ToolGrant(tool.name, effect, tool.pin, tool.definition, **self.options)
            self.offered[tool.name] = tool

    async def grants(self, names: Sequence[str]) -> Mapping[str, ToolGrant]:
        return {name: self.granted[name] for name in names if name in self.granted}


def reading() -> FakeToolGrants:
    """Every tool only reads."""
    return FakeToolGrants(ActionEffect.READS)
