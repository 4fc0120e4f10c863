"""The tools of one execution. MCP servers start when an agent first needs them and end with the execution."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from cairn.ports import ResolvedInputs, WorkOrder
from cairn.ports.models import ChosenModel
from cairn.ports.tools import MCP_PREFIX
from cairn.runners.agents.prompts import FILE_OPERATIONS
from cairn.runners.agents.resources import AgentResources
from cairn.runners.agents.result_formats import STAGING
from cairn.runners.agents.staged_files import WORKSPACE
from cairn.runners.agents.toolbox import Tool, Toolbox
from cairn.runners.agents.tools.actions import AgentActions
from cairn.runners.agents.tools.code import ToolNotAvailable, code_tool
from cairn.runners.agents.tools.deferred import deferred_tools
from cairn.runners.agents.tools.files import file_tools
from cairn.runners.agents.tools.jail import Jail
from cairn.runners.agents.tools.web_search import native_search, search_tool

if TYPE_CHECKING:
    from pydantic_ai.native_tools import AbstractNativeTool

    from cairn.runners.agents.tools.mcp import McpServers

CODE_EXECUTION, WEB_SEARCH = "code_execution", "web_search"


class ToolSession:
    def __init__(self, work: WorkOrder, resources: AgentResources, jail: Jail, actions: AgentActions) -> None:
        self._work = work
        self._resources = resources
        self._jail = jail
        self._actions = actions
        self._servers: McpServers | None = None

    async def toolbox(self, names: Sequence[str], chosen: ChosenModel, inputs: ResolvedInputs) -> Toolbox:
        """The tools with these names. Raises ToolNotAvailable if this server lacks one."""
        resources, tools = self._resources, list[Tool]()
        if FILE_OPERATIONS in names:
            tools += file_tools(self._jail, (WORKSPACE, STAGING), resources.limits.max_file_bytes)
        if CODE_EXECUTION in names:
            status = await asyncio.to_thread(resources.sandbox.probe) if resources.sandbox is not None else None
            tools.append(code_tool(self._work, resources.policy, resources.sandbox, status, resources.code_slots))
        if any(name.startswith(MCP_PREFIX) for name in names):
            tools += await self._mcp_tools(names)
        tools += [*deferred_tools(names, self._work, inputs), *self._actions.report_tools(names)]
        native: tuple[AbstractNativeTool, ...] = ()
        match resources.policy.search.mode if WEB_SEARCH in names else "":
            case "off":
                raise ToolNotAvailable("web_search is turned off. Ask an admin to set web_search to native or backend.")
            case "backend":
                tools.append(search_tool(resources.policy.search, resources.http, is_test=self._work.is_test))
            case "native":
                native = await self._native_search(chosen)
            case _:
                pass
        try:
            return Toolbox.of(tools, native)
        except ValueError as error:
            raise ToolNotAvailable(str(error)) from None

    async def _mcp_tools(self, names: Sequence[str]) -> list[Tool]:
        found = await (await self._mcp_servers()).tools(names)
        from cairn.runners.agents.tools.mcp_tools import mcp_tools

        return await mcp_tools(found, self._resources.policy.tools, self._work)

    async def _native_search(self, chosen: ChosenModel) -> tuple[AbstractNativeTool, ...]:
        """The provider's own search. Cairn sees none of its requests, so an admin allows it for each pipeline."""
        grant = (await self._resources.policy.tools.grants([WEB_SEARCH])).get(WEB_SEARCH)
        if grant is None or self._work.pipeline_id not in grant.pipelines:
            raise ToolNotAvailable(
                "web_search is not allowed for this pipeline, because the model provider searches by itself and Cairn"
                " can't see what it sends. Ask an admin to allow it for the pipeline under Tools, or to set web_search"
                " to backend."
            )
        if self._work.is_test:
            self._work.log("info", "web_search is left out, because nothing leaves Cairn in a test run.", None)
            return ()
        return (native_search(chosen.model),)

    async def _mcp_servers(self) -> McpServers:
        """Import the MCP library on first use, because it takes about a second and few checkpoints need it."""
        await asyncio.to_thread(importlib.import_module, "cairn.runners.agents.tools.mcp")
        from cairn.runners.agents.tools.mcp import McpServers

        if self._servers is None:
            policy, sandbox = self._resources.policy, self._resources.sandbox
            get_secret = partial(policy.get_secret, pipeline_id=self._work.pipeline_id)
            marks = sandbox.environment_marks(f"{self._work.execution_id}/tools") if sandbox is not None else None
            self._servers = McpServers(policy.mcp_servers, get_secret, marks)
        return self._servers

    async def close(self) -> None:
        """Stop the MCP servers."""
        if self._servers is not None:
            await self._servers.close()
