"""The tools of one execution, as its agents are allowed them."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cairn.ports import ResolvedInputs, WorkOrder
from cairn.ports.models import ChosenModel
from cairn.runners.agents.prompts import FILES
from cairn.runners.agents.resources import AgentResources
from cairn.runners.agents.result_formats import STAGING
from cairn.runners.agents.staged_files import WORKSPACE
from cairn.runners.agents.toolbox import Tool, Toolbox
from cairn.runners.agents.tools.code import ToolNotAvailable, code_tool
from cairn.runners.agents.tools.deferred import pausing_tools
from cairn.runners.agents.tools.files import file_tools
from cairn.runners.agents.tools.jail import Jail
from cairn.runners.agents.tools.web_search import native_search, search_tool

if TYPE_CHECKING:
    from cairn.runners.agents.tools.mcp import McpServers

CODE, SEARCH, MCP = "code_execution", "web_search", "mcp:"


class ToolSession:
    def __init__(self, work: WorkOrder, office: AgentResources, jail: Jail) -> None:
        self._work = work
        self._office = office
        self._jail = jail
        self._servers: McpServers | None = None

    async def toolbox(self, names: Sequence[str], chosen: ChosenModel, found: ResolvedInputs) -> Toolbox:
        """ToolNotAvailable for one that cannot be had here."""
        office, tools = self._office, list[Tool]()
        if FILES in names:
            tools += file_tools(self._jail, (WORKSPACE, STAGING), office.limits.max_file_bytes)
        if CODE in names:
            reached = await asyncio.to_thread(office.sandbox.probe) if office.sandbox is not None else None
            tools.append(code_tool(self._work, office.rules, office.sandbox, reached, office.code_places))
        if any(name.startswith(MCP) for name in names):
            tools += await (await self._mcp()).tools(names)
        tools += pausing_tools(names, self._work, found)
        search = office.rules.search.way if SEARCH in names else ""
        if search == "off":
            raise ToolNotAvailable("web_search is off: let an admin set web_search to native or backend.")
        if search == "backend":
            tools.append(search_tool(office.rules.search, office.web))
        native = (native_search(chosen.model),) if search == "native" else ()
        return Toolbox({tool.name: tool for tool in tools}, native)

    async def _mcp(self) -> McpServers:
        """Its library takes as long to import as that of agents, and few need it."""
        await asyncio.to_thread(importlib.import_module, "cairn.runners.agents.tools.mcp")
        from cairn.runners.agents.tools.mcp import McpServers

        if self._servers is None:
            rules, sandbox = self._office.rules, self._office.sandbox
            marks = sandbox.marks(f"{self._work.execution_id}/tools") if sandbox is not None else None
            self._servers = McpServers(rules.mcp_servers, rules.secret, marks)
        return self._servers

    async def close(self) -> None:
        """End what tools have started."""
        if self._servers is not None:
            await self._servers.close()
