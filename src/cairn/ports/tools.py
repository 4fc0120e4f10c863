"""Tools that other programs offer to agents: what a server offers, what an admin has listed, and calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from cairn.core.states import ActionEffect
from cairn.documents import digest

MCP_PREFIX = "mcp:"  # of the operation `mcp:SERVER/TOOL`


def is_tool_operation(operation: str) -> bool:
    """Whether an operation is the call of a tool."""
    return operation.startswith(MCP_PREFIX)


@dataclass(frozen=True, slots=True)
class ToolPin:
    """Identifies one version of a tool: its server's command or URL, and what the server says about the tool."""

    server: str  # digest
    tool: str  # digest

    @property
    def digest(self) -> str:
        return digest({"server": self.server, "tool": self.tool})


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool as its server offers it."""

    name: str  # mcp:SERVER/TOOL
    server: str  # the command with its arguments, or the URL
    server_digest: str  # of everything in the settings that selects the server
    description: str
    schema: Mapping[str, Any]  # JSON Schema of the arguments
    annotations: Mapping[str, Any] = field(default_factory=dict[str, Any])  # claims of the server; they grant nothing

    @property
    def definition(self) -> dict[str, Any]:
        return {
            "description": self.description,
            "schema": dict(self.schema),
            "annotations": dict(self.annotations),
        }

    @property
    def pin(self) -> ToolPin:
        return ToolPin(self.server_digest, digest({"name": self.name, **self.definition}))


class ErrorOutcome(StrEnum):
    """What an error result of a tool that changes something means."""

    FAILED = "failed"  # nothing was changed
    UNKNOWN = "unknown"  # something may have been changed


@dataclass(frozen=True, slots=True)
class ToolGrant:
    """What an admin allows a tool to do, for one version of it."""

    name: str
    effect: ActionEffect
    pin: ToolPin | None  # None: the tool is part of Cairn
    definition: Mapping[str, Any] = field(default_factory=dict[str, Any])  # as the admin saw it
    hosts: tuple[str, ...] = ()  # where a tool that sends may send its arguments without approval
    url_argument: str | None = None  # of a tool that sends: the argument with the destination
    may_skip_approval: bool = False  # where a checkpoint says `tool_approval: never`
    error_outcome: ErrorOutcome = ErrorOutcome.UNKNOWN
    pipelines: tuple[str, ...] = ()  # ids; only used for the search of model providers


class ToolRegistry(Protocol):
    """The tools that servers offer, and the admins' grants."""

    async def observe(self, offered: Sequence[OfferedTool]) -> None:
        """Record what a server offers now."""
        ...

    async def grants(self, names: Sequence[str]) -> Mapping[str, ToolGrant]:
        """The current grants of these tools, by name."""
        ...


class NoToolGrants:
    """A registry without grants: every tool counts as changing something."""

    async def observe(self, offered: Sequence[OfferedTool]) -> None:
        pass

    async def grants(self, names: Sequence[str]) -> Mapping[str, ToolGrant]:  # noqa: ARG002
        return {}


class CallState(StrEnum):
    DONE = "done"
    FAILED = "failed"  # certainly not executed
    UNKNOWN = "unknown"  # it may or may not have been executed


@dataclass(frozen=True, slots=True)
class ToolCallResult:
    """The outcome of an approved call. `result` has the executed `arguments` and `content` or `error`."""

    state: CallState
    result: dict[str, Any]


class ToolCaller(Protocol):
    def refusal(self, operation: str, pin: ToolPin | None) -> str | None:
        """Why an operation can't be called, as far as the settings say. Doesn't start the server."""
        ...

    async def call(self, operation: str, arguments: dict[str, Any], key: str, pin: ToolPin | None) -> ToolCallResult:
        """Call the tool once in a new session, with exactly these arguments, if it still matches the pin."""
        ...
