"""Execute approved calls of MCP tools, each in a new session of the server that was approved."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.core.states import ActionEffect
from cairn.ports import Sandbox
from cairn.ports.tools import MCP_PREFIX, CallState, ErrorOutcome, ToolCallResult, ToolGrant, ToolPin
from cairn.runners.agents.policy import AgentPolicy
from cairn.runners.agents.toolbox import MAX_RESULT_CHARACTERS
from cairn.runners.agents.tools.code import ToolNotAvailable
from cairn.runners.processes.lifecycle import await_shielded

if TYPE_CHECKING:
    from cairn.runners.agents.tools.mcp import McpServers, McpTool


@dataclass(frozen=True, slots=True)
class McpToolCaller:
    policy: AgentPolicy
    sandbox: Sandbox | None = None

    def refusal(self, operation: str, pin: ToolPin | None) -> str | None:
        """Why an operation can't be called, as far as the settings say. Doesn't start the server."""
        name = operation.removeprefix(MCP_PREFIX).partition("/")[0]
        server = self.policy.mcp_servers.get(name)
        if server is None:
            return f"The MCP server {name!r} is not configured."
        if pin is None:
            return f"{operation} can only be proposed by a call of the tool."
        if server.digest != pin.server:
            return f"The settings of the MCP server {name} have changed since {operation} was proposed."
        if server.is_stateful:
            return f"Calls of the MCP server {name} depend on earlier calls in the same session."
        return None

    async def call(self, operation: str, arguments: dict[str, Any], key: str, pin: ToolPin | None) -> ToolCallResult:
        """Call the tool once in a new session, with exactly these arguments, if it still matches the pin."""
        if (reason := self.refusal(operation, pin)) is not None:
            return _not_called(arguments, reason)
        servers = await self._servers(key)
        try:
            return await self._call(servers, operation, arguments, key, pin)
        finally:
            await await_shielded(servers.close())

    async def _servers(self, key: str) -> McpServers:
        await asyncio.to_thread(importlib.import_module, "cairn.runners.agents.tools.mcp")
        from cairn.runners.agents.tools.mcp import McpServers

        marks = self.sandbox.environment_marks(f"{key}/tools") if self.sandbox is not None else None
        return McpServers(self.policy.mcp_servers, self.policy.get_secret, marks)

    async def _call(
        self, servers: McpServers, operation: str, arguments: dict[str, Any], key: str, pin: ToolPin | None
    ) -> ToolCallResult:
        try:
            (tool,) = await servers.tools([operation])
        except ToolNotAvailable as error:
            return _not_called(arguments, str(error))
        if tool.offered.pin != pin:
            return _not_called(arguments, f"{operation} has changed since it was proposed. Nothing was called.")
        grant = (await self.policy.tools.grants([operation])).get(operation)
        return await _send(tool, arguments, key, grant if grant is not None and grant.pin == pin else None)


async def _send(tool: McpTool, arguments: dict[str, Any], key: str, grant: ToolGrant | None) -> ToolCallResult:
    """Call the tool. Without an answer that is certain, the outcome is unknown."""
    from mcp.shared.exceptions import MCPError
    from mcp.types import INVALID_PARAMS, METHOD_NOT_FOUND

    from cairn.runners.agents.tools.mcp import result_text

    try:
        result = await tool.call(arguments, key)
    except Exception as error:  # noqa: BLE001 - another program may raise anything
        # The protocol defines these as answers to requests that were not executed. The library uses the other codes
        # also for answers that it can't read.
        is_rejected = isinstance(error, MCPError) and error.code in (METHOD_NOT_FOUND, INVALID_PARAMS)
        state = CallState.FAILED if is_rejected else CallState.UNKNOWN
        return ToolCallResult(state, {"arguments": arguments, "error": await tool.connection.explain(error)})
    content = {"arguments": arguments, "content": _cut(result_text(result)), "is_error": bool(result.is_error)}
    return ToolCallResult(_error_state(grant) if result.is_error else CallState.DONE, content)


def _error_state(grant: ToolGrant | None) -> CallState:
    """What an error result means.

    It is the tool's own message: a server also sends it for an error that occurs after the change, like an HTTP status
    of 500. So the outcome is unknown, unless nothing is changed or an admin knows that errors change nothing.
    """
    if grant is not None and grant.effect is not ActionEffect.CHANGES:
        return CallState.FAILED
    is_certain = grant is not None and grant.error_outcome is ErrorOutcome.FAILED
    return CallState.FAILED if is_certain else CallState.UNKNOWN


def _not_called(arguments: Mapping[str, Any], reason: str) -> ToolCallResult:
    return ToolCallResult(CallState.FAILED, {"arguments": dict(arguments), "error": reason, "refused": True})


def _cut(text: str) -> str:
    """The text as a database can store it, not longer than a model is shown."""
    return text[:MAX_RESULT_CHARACTERS].encode(errors="replace").decode().replace("\0", "\ufffd")
