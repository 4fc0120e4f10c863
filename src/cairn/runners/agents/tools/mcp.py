"""Tools of the MCP servers in the settings. Servers start for an execution when one of their tools is needed."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.types import CallToolResult, TextContent

from cairn.documents import encode_json
from cairn.runners.agents.policy import McpServer
from cairn.runners.agents.toolbox import Tool, ToolError, as_data
from cairn.runners.agents.tools.code import ToolNotAvailable
from cairn.runners.agents.tools.mcp_process import connect_process

PREFIX = "mcp:"
SECRET_PREFIX = "secret:"  # noqa: S105 - marks a value as the name of a secret
START_SECONDS = 15.0
CLOSE_SECONDS = 0.7  # to close a connection before it is cut
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


class McpServers:
    """The MCP servers of one execution. Each server starts on first use and ends with the execution."""

    def __init__(
        self,
        servers: Mapping[str, McpServer],
        get_secret: Callable[[str], str | None] = lambda _: None,
        marks: Mapping[str, str] | None = None,
    ) -> None:
        """`marks` are environment variables that identify the processes, to find leftovers after a crash."""
        self._servers = servers
        self._get_secret = get_secret
        self._marks = marks or {}
        self._connections: dict[str, McpConnection] = {}

    async def tools(self, names: Sequence[str]) -> list[Tool]:
        """The tools a checkpoint allows: `mcp:SERVER` allows all tools of a server, `mcp:SERVER/TOOL` allows one."""
        allowed_tools: dict[str, set[str] | None] = {}  # by server; None: all
        for name in names:
            if name.startswith(PREFIX):
                server, _, tool = name.removeprefix(PREFIX).partition("/")
                allowed = allowed_tools.get(server, set[str]())
                allowed_tools[server] = None if not tool or allowed is None else {*allowed, tool}
        tools: list[Tool] = []
        for server, allowed in allowed_tools.items():
            tools += await self._tools_of(server, allowed)
        return tools

    async def _tools_of(self, server: str, allowed: set[str] | None) -> list[Tool]:
        connection = self._connections.get(server)
        if connection is None:
            settings = self._servers.get(server)
            if settings is None:
                known = ", ".join(sorted(self._servers)) or "none"
                raise ToolNotAvailable(f"The MCP server {server!r} is not configured. Configured servers: {known}.")
            connection = self._connections[server] = McpConnection(server, self._resolve_secrets(server, settings))
        offered = await connection.tools()
        missing = sorted((allowed or set()) - offered.keys())
        if missing:
            known = ", ".join(sorted(offered)) or "none"
            raise ToolNotAvailable(f"The MCP server {server} has no tool {', '.join(missing)}. Its tools: {known}.")
        return [tool for name, tool in offered.items() if allowed is None or name in allowed]

    def _resolve_secrets(self, name: str, server: McpServer) -> McpServer:
        def resolve(values: Mapping[str, str]) -> dict[str, str]:
            resolved: dict[str, str] = {}
            for key, value in values.items():
                is_secret = value.startswith(SECRET_PREFIX)
                plain = self._get_secret(value.removeprefix(SECRET_PREFIX)) if is_secret else value
                if plain is None:
                    raise ToolNotAvailable(f"The MCP server {name} needs {value}, but this secret does not exist.")
                resolved[key] = plain
            return resolved

        return replace(server, env={**resolve(server.env), **self._marks}, headers=resolve(server.headers))

    async def close(self) -> None:
        await asyncio.gather(*(connection.close() for connection in self._connections.values()), return_exceptions=True)


class McpConnection:
    """The connection to one server. A separate task opens and closes it, because any task can call its tools."""

    def __init__(self, name: str, server: McpServer) -> None:
        self._name = name
        self._server = server
        self._closing = asyncio.Event()
        loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[tuple[ClientSession, dict[str, Tool]]] = loop.create_future()
        self._task = loop.create_task(self._serve())

    async def tools(self) -> dict[str, Tool]:
        try:
            return (await asyncio.wait_for(asyncio.shield(self._ready), START_SECONDS))[1]
        except TimeoutError:
            raise self._unavailable("it does not respond") from None

    async def _serve(self) -> None:
        try:
            async with self._streams() as (read, write), ClientSession(read, write) as session:
                await session.initialize()
                listed = await session.list_tools()
                tools = {tool.name: self._tool(session, tool) for tool in listed.tools}
                if not self._ready.done():
                    self._ready.set_result((session, tools))
                await self._closing.wait()
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - another program may raise anything
            if not self._ready.done():
                self._ready.set_exception(self._unavailable(_describe(error)))
                self._ready.exception()

    @contextlib.asynccontextmanager
    async def _streams(self) -> AsyncGenerator[tuple[Any, Any]]:
        if self._server.url is None:
            async with connect_process(self._server) as streams:
                yield streams
            return
        client = create_mcp_http_client(headers=dict(self._server.headers))
        async with client, streamable_http_client(self._server.url, http_client=client) as streams:
            yield streams

    def _tool(self, session: ClientSession, offered: Any) -> Tool:
        async def use(arguments: dict[str, Any]) -> str:
            try:
                result = await session.call_tool(
                    offered.name, arguments, read_timeout_seconds=self._server.timeout_seconds
                )
            except Exception as error:  # noqa: BLE001 - another program may raise anything
                raise ToolError(as_data(f"Error from {self._name}", _describe(error))) from None
            content = as_data(f"Result from {self._name}", _content(result))
            if result.is_error:
                raise ToolError(content)
            return content

        name = _NOT_IN_NAMES.sub("_", f"{self._name}_{offered.name}")[:64]
        return Tool(name, offered.description or offered.name, dict(offered.input_schema), use)

    async def close(self) -> None:
        self._closing.set()
        _, running = await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)
        if running:
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)
        if not self._ready.done():
            self._ready.cancel()

    def _unavailable(self, reason: str) -> ToolNotAvailable:
        return ToolNotAvailable(f"The MCP server {self._name} is not available: {reason}.")


def _content(result: CallToolResult) -> str:
    texts = [content.text for content in result.content if isinstance(content, TextContent)]
    other_items = len(result.content) - len(texts)
    if not texts and result.structured_content is not None:
        texts = [encode_json(result.structured_content, indent=True).decode()]
    if other_items:
        texts.append(f"({other_items} more items that are not text)")
    return "\n".join(texts)


def _describe(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        inner = cast("BaseExceptionGroup[BaseException]", error).exceptions
        return "; ".join(_describe(exception) for exception in inner)
    return str(error) or type(error).__name__
