"""Tools of other programs that agents can use, and what admins allow them to do without approval."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.concurrency import run_in_threadpool

from cairn.api.dependencies import CurrentActor, Services
from cairn.api.examples import tools as examples
from cairn.api.operations import ADMIN, operation, operation_router
from cairn.api.parameters import Paging, ToolName
from cairn.api.requests.tools import PutToolRequest
from cairn.services.tools.views import Tool, ToolDiscovery, ToolPage, ToolState

router = operation_router("/api/tools", "Tools")
State = Annotated[ToolState | None, Query(description="Only tools in this state.")]


@router.get("")
@operation(ADMIN, response_example=examples.tools)
def list_tools(services: Services, paging: Paging, state: State = None) -> ToolPage:
    """List the tools that servers offer and that definitions use, by name."""
    return services.tool_queries.list_tools(state, paging.limit, paging.cursor)


@router.post("/discover")
@operation(ADMIN, idempotent=False, response_example=examples.discovery)
async def discover_tools(services: Services) -> ToolDiscovery:
    """Start every MCP server in the settings and record the tools that it offers."""
    return await services.tools.discover()


@router.get("/{name:path}")
@operation(ADMIN, response_example=examples.tool)
def get_tool(name: ToolName, services: Services) -> Tool:
    """Get a tool, with what has changed since an admin listed it."""
    return services.tool_queries.get_tool(name)


@router.put("/{name:path}")
@operation(
    ADMIN,
    errors=(412,),
    request_example=examples.put_tool_request,
    response_example=examples.tool,
)
async def put_tool(name: ToolName, body: PutToolRequest, services: Services, actor: CurrentActor) -> Tool:
    """List a tool with its effect, for the version that you have seen. If the tool changes, its calls need approval."""
    await services.tools.list_tool(name, body.spec, actor)
    return await run_in_threadpool(services.tool_queries.get_tool, name)


@router.delete("/{name:path}", status_code=204)
@operation(ADMIN)
async def remove_tool(name: ToolName, services: Services, actor: CurrentActor) -> None:
    """Remove a tool from the list. Its calls need approval from now on."""
    await services.tools.unlist(name, actor)
