"""MCP tools as agents see them. A tool runs directly, or its call is held until it is approved."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from cairn.core.states import ActionEffect
from cairn.ports import WorkOrder
from cairn.ports.tools import ToolGrant, ToolRegistry
from cairn.runners.agents.toolbox import Tool, ToolError, as_data
from cairn.runners.agents.tools.held_calls import test_answer
from cairn.runners.agents.tools.mcp import McpTool, result_text
from cairn.runners.agents.tools.tool_effects import closed, effect_of, model_definition, needs_approval

MAX_MODEL_NAME = 64  # characters
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


async def mcp_tools(found: Sequence[McpTool], registry: ToolRegistry, work: WorkOrder) -> list[Tool]:
    """Tools for the model. What their servers offer is recorded, so that admins can list them."""
    await registry.observe([tool.offered for tool in found])
    grants = await registry.grants([tool.offered.name for tool in found])
    return [McpToolUse(tool, registry, work).for_model(grants.get(tool.offered.name)) for tool in found]


class McpToolUse:
    """One tool in one dispatch. The admin's entry is read again at each call."""

    def __init__(self, tool: McpTool, registry: ToolRegistry, work: WorkOrder) -> None:
        self._tool = tool
        self._registry = registry
        self._work = work

    def for_model(self, grant: ToolGrant | None) -> Tool:
        offered = self._tool.offered
        description, schema = model_definition(offered, grant)
        return Tool(
            _NOT_IN_NAMES.sub("_", f"{self._tool.server_name}_{self._tool.tool_name}")[:MAX_MODEL_NAME],
            description,
            closed(schema),
            self.use,
            waits_for="action",
            offered=offered,
            is_held=self.is_held,
        )

    async def is_held(self, arguments: dict[str, Any]) -> bool:
        """Whether a call has to be approved first. Raises ToolError if it can't wait for that."""
        if self._work.is_test:
            return False
        offered = self._tool.offered
        if not needs_approval(offered, await self._grant(), arguments):
            return False
        if self._tool.connection.settings.is_stateful:
            raise ToolError(
                f"{offered.name} needs approval, but calls of this server depend on earlier calls in the same session,"
                " so they can't wait for it. Continue without this tool."
            )
        return True

    async def use(self, arguments: dict[str, Any]) -> str:
        """Call the tool in the session of this dispatch."""
        tool, server = self._tool, self._tool.server_name
        if self._work.is_test and effect_of(tool.offered, await self._grant()) is not ActionEffect.READS:
            return test_answer(tool.offered.name)
        try:
            result = await tool.call(arguments)
        except Exception as error:  # noqa: BLE001 - another program may raise anything
            raise ToolError(as_data(f"Error from {server}", await tool.connection.explain(error))) from None
        content = as_data(f"Result from {server}", result_text(result))
        if result.is_error:
            raise ToolError(content)
        return content

    async def _grant(self) -> ToolGrant | None:
        name = self._tool.offered.name
        return (await self._registry.grants([name])).get(name)
