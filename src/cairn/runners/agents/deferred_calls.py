"""Tool calls whose results come from outside this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic_ai.messages import ModelMessage, ModelRequest

from cairn.runners.agents.toolbox import Tool, ToolAnswer


@dataclass(frozen=True, slots=True)
class PendingToolCall:
    """A tool call whose result comes from outside this process."""

    turn: str
    tool: Tool
    arguments: dict[str, Any]
    call_site: Mapping[str, str]  # identifies the call after a restart


class TurnPaused(Exception):
    """The turn can't continue until a tool call has its result."""

    def __init__(self, call: PendingToolCall, *, is_held: bool = False) -> None:
        super().__init__(f"{call.turn} waits for {call.tool.name}")
        self.call = call
        self.is_held = is_held  # the action is already recorded, but can't start now


class DeferredCalls(Protocol):
    """Answers the calls whose results come from outside this process."""

    async def answers(self, calls: Sequence[PendingToolCall]) -> Sequence[ToolAnswer]:
        """The results of the calls. Raises TurnPaused if one has none yet."""
        ...

    async def update(self, messages: Sequence[ModelMessage]) -> ModelRequest | None:
        """A message about calls whose results have changed since the turn was interrupted. Raises TurnPaused."""
        ...


class NoDeferredCalls:
    """For turns without deferred tools."""

    async def answers(self, calls: Sequence[PendingToolCall]) -> Sequence[ToolAnswer]:
        raise TurnPaused(calls[0])

    async def update(self, messages: Sequence[ModelMessage]) -> ModelRequest | None:  # noqa: ARG002 - of the protocol
        return None
