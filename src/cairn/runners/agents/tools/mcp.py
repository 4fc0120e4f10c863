"""Tools of MCP servers that the settings name: started for an execution, allowed one by one by a checkpoint."""

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
from cairn.runners.agents.tools.mcp_process import spoken_to

PREFIX = "mcp:"
BY_NAME = "secret:"  # begins a value that is the name of a secret
STARTING = 15.0  # seconds
ENDING = 0.7  # seconds after which its connection is cut
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


class McpServers:
    """The servers of one execution; each is started when it is first wanted, and ends with the execution."""

    def __init__(
        self,
        servers: Mapping[str, McpServer],
        secret: Callable[[str], str | None] = lambda _: None,
        marks: Mapping[str, str] | None = None,
    ) -> None:
        """`marks`: variables by which a program is found that outlives this process."""
        self._servers = servers
        self._secret = secret
        self._marks = marks or {}
        self._links: dict[str, McpConnection] = {}

    async def tools(self, names: Sequence[str]) -> list[Tool]:
        """Those that a checkpoint allows: `mcp:SERVER` is all of a server, `mcp:SERVER/TOOL` is one."""
        wanted: dict[str, set[str] | None] = {}
        for name in names:
            if name.startswith(PREFIX):
                server, _, tool = name.removeprefix(PREFIX).partition("/")
                allowed = wanted.get(server, set[str]())
                wanted[server] = None if not tool or allowed is None else {*allowed, tool}
        found: list[Tool] = []
        for server, allowed in wanted.items():
            found += await self._of(server, allowed)
        return found

    async def _of(self, server: str, allowed: set[str] | None) -> list[Tool]:
        link = self._links.get(server)
        if link is None:
            settings = self._servers.get(server)
            if settings is None:
                known = ", ".join(sorted(self._servers)) or "none"
                raise ToolNotAvailable(f"The settings name no MCP server {server!r}. They name: {known}.")
            link = self._links[server] = McpConnection(server, self._with_secrets(server, settings))
        offered = await link.tools()
        missing = sorted((allowed or set()) - offered.keys())
        if missing:
            known = ", ".join(sorted(offered)) or "none"
            raise ToolNotAvailable(f"The MCP server {server} has no tool {', '.join(missing)}. It has: {known}.")
        return [tool for name, tool in offered.items() if allowed is None or name in allowed]

    def _with_secrets(self, name: str, server: McpServer) -> McpServer:
        def open_all(values: Mapping[str, str]) -> dict[str, str]:
            found: dict[str, str] = {}
            for key, value in values.items():
                opened = self._secret(value.removeprefix(BY_NAME)) if value.startswith(BY_NAME) else value
                if opened is None:
                    raise ToolNotAvailable(f"The MCP server {name} needs {value}, which the secret store has not got.")
                found[key] = opened
            return found

        return replace(server, env={**open_all(server.env), **self._marks}, headers=open_all(server.headers))

    async def close(self) -> None:
        await asyncio.gather(*(link.close() for link in self._links.values()), return_exceptions=True)


class McpConnection:
    """One server, held by a task of its own: whoever calls may come from any."""

    def __init__(self, name: str, server: McpServer) -> None:
        self._name = name
        self._server = server
        self._is_over = asyncio.Event()
        loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[tuple[ClientSession, dict[str, Tool]]] = loop.create_future()
        self._holder = loop.create_task(self._hold())

    async def tools(self) -> dict[str, Tool]:
        try:
            return (await asyncio.wait_for(asyncio.shield(self._ready), STARTING))[1]
        except TimeoutError:
            raise self._unavailable("it does not answer") from None

    async def _hold(self) -> None:
        try:
            async with self._connected() as (hearing, saying), ClientSession(hearing, saying) as session:
                await session.initialize()
                listed = await session.list_tools()
                tools = {one.name: self._tool(session, one) for one in listed.tools}
                if not self._ready.done():
                    self._ready.set_result((session, tools))
                await self._is_over.wait()
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever another program does, it is told
            if not self._ready.done():
                self._ready.set_exception(self._unavailable(_told(error)))
                self._ready.exception()

    @contextlib.asynccontextmanager
    async def _connected(self) -> AsyncGenerator[tuple[Any, Any]]:
        if self._server.url is None:
            async with spoken_to(self._server) as streams:
                yield streams
            return
        client = create_mcp_http_client(headers=dict(self._server.headers))
        async with client, streamable_http_client(self._server.url, http_client=client) as streams:
            yield streams

    def _tool(self, session: ClientSession, offered: Any) -> Tool:
        async def use(given: dict[str, Any]) -> str:
            try:
                result = await session.call_tool(offered.name, given, read_timeout_seconds=self._server.seconds)
            except Exception as error:  # noqa: BLE001 - whatever another program does, it is told
                raise ToolError(as_data(f"{self._name} did not do it", _told(error))) from None
            told = as_data(f"{self._name} answers", _content(result))
            if result.is_error:
                raise ToolError(told)
            return told

        name = _NOT_IN_NAMES.sub("_", f"{self._name}_{offered.name}")[:64]
        return Tool(name, offered.description or offered.name, dict(offered.input_schema), use)

    async def close(self) -> None:
        self._is_over.set()
        _, left = await asyncio.wait({self._holder}, timeout=ENDING)
        if left:
            self._holder.cancel()
            await asyncio.wait({self._holder}, timeout=ENDING)
        if not self._ready.done():
            self._ready.cancel()

    def _unavailable(self, why: str) -> ToolNotAvailable:
        return ToolNotAvailable(f"The MCP server {self._name} cannot be used: {why}.")


def _content(result: CallToolResult) -> str:
    texts = [one.text for one in result.content if isinstance(one, TextContent)]
    others = len(result.content) - len(texts)
    if not texts and result.structured_content is not None:
        texts = [encode_json(result.structured_content, indent=True).decode()]
    if others:
        texts.append(f"({others} more that are no text)")
    return "\n".join(texts)


def _told(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        inner = cast("BaseExceptionGroup[BaseException]", error).exceptions
        return "; ".join(_told(one) for one in inner)
    return str(error) or type(error).__name__
