"""Connections to the MCP servers in the settings. Servers start when one of their tools is needed."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError
from mcp.types import CONNECTION_CLOSED, CallToolResult, PaginatedRequestParams, TextContent

from cairn.documents import encode_json
from cairn.ports.tools import MCP_PREFIX, OfferedTool
from cairn.runners.agents.policy import McpServer
from cairn.runners.agents.tools.code import ToolNotAvailable
from cairn.runners.agents.tools.mcp_process import ProcessReport, connect_process

SECRET_PREFIX = "secret:"  # noqa: S105 - marks a value as the name of a secret
MASKED = "•••"
MIN_SECRET = 4  # characters; masking shorter values would hide other text
START_SECONDS = 15.0
CLOSE_SECONDS = 0.7  # to close a connection before it is cut
MAX_PAGES = 50  # of a list of tools
KEY_META = "cairn/idempotency-key"  # in `_meta` of a call
TOOL_NAME = re.compile(r"[A-Za-z0-9._/-]{1,128}")


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool of a running server."""

    offered: OfferedTool
    connection: McpConnection
    tool_name: str  # on the server

    @property
    def server_name(self) -> str:
        return self.connection.name

    async def call(self, arguments: dict[str, Any], key: str | None = None) -> CallToolResult:
        return await self.connection.call(self.tool_name, arguments, key)


class McpServers:
    """The MCP servers of one execution. Each server starts on first use and ends with the execution."""

    def __init__(
        self,
        servers: Mapping[str, McpServer],
        get_secret: Callable[..., str | None] = lambda *_, **__: None,
        marks: Mapping[str, str] | None = None,
    ) -> None:
        """`get_secret` is called with the name of a secret, the server and its URL.

        `marks` are environment variables that identify the processes, to find leftovers after a crash.
        """
        self._servers = servers
        self._get_secret = get_secret
        self._marks = marks or {}
        self._connections: dict[str, McpConnection] = {}

    async def tools(self, names: Sequence[str]) -> list[McpTool]:
        """The tools a checkpoint allows: `mcp:SERVER` allows all tools of a server, `mcp:SERVER/TOOL` allows one."""
        allowed_tools: dict[str, set[str] | None] = {}  # by server; None: all
        for name in names:
            if name.startswith(MCP_PREFIX):
                server, _, tool = name.removeprefix(MCP_PREFIX).partition("/")
                allowed = allowed_tools.get(server, set[str]())
                allowed_tools[server] = None if not tool or allowed is None else {*allowed, tool}
        tools: list[McpTool] = []
        for server, allowed in allowed_tools.items():
            tools += await self._tools_of(server, allowed)
        return tools

    async def _tools_of(self, server: str, allowed: set[str] | None) -> list[McpTool]:
        connection = self._connections.get(server)
        if connection is None:
            settings = self._servers.get(server)
            if settings is None:
                known = ", ".join(sorted(self._servers)) or "none"
                raise ToolNotAvailable(f"The MCP server {server!r} is not configured. Configured servers: {known}.")
            resolved, secrets = self._resolve_secrets(server, settings)
            connection = self._connections[server] = McpConnection(server, settings, resolved, secrets)
        offered = await connection.tools()
        missing = sorted((allowed or set()) - offered.keys())
        if missing:
            known = ", ".join(sorted(offered)) or "none"
            raise ToolNotAvailable(f"The MCP server {server} has no tool {', '.join(missing)}. Its tools: {known}.")
        return [tool for name, tool in offered.items() if allowed is None or name in allowed]

    def _resolve_secrets(self, name: str, server: McpServer) -> tuple[McpServer, tuple[str, ...]]:
        """The server with the values of its secrets, and the values."""
        secrets: list[str] = []

        def resolve(values: Mapping[str, str]) -> dict[str, str]:
            resolved: dict[str, str] = {}
            for key, value in values.items():
                is_secret = value.startswith(SECRET_PREFIX)
                secret = value.removeprefix(SECRET_PREFIX)
                plain = self._get_secret(secret, server=name, url=server.url) if is_secret else value
                if plain is None:
                    raise ToolNotAvailable(
                        f"The MCP server {name} needs the secret {secret}, which doesn't exist or isn't allowed for"
                        f" mcp:{name} in this pipeline. An admin can allow it with `cairn secrets allow {secret}`."
                    )
                resolved[key] = plain
                if is_secret and len(plain) >= MIN_SECRET:
                    secrets.append(plain)
            return resolved

        with_secrets = replace(server, env={**resolve(server.env), **self._marks}, headers=resolve(server.headers))
        return with_secrets, tuple(secrets)

    async def close(self) -> None:
        await asyncio.gather(*(connection.close() for connection in self._connections.values()), return_exceptions=True)


class McpConnection:
    """The connection to one server. A separate task opens and closes it, because any task can call its tools."""

    def __init__(self, name: str, settings: McpServer, server: McpServer, secrets: Sequence[str] = ()) -> None:
        """`server` has the values of the secrets that `settings` refers to."""
        self.name = name
        self.settings = settings
        self._server = server
        self._secrets = secrets
        self._report = ProcessReport()
        self._closing = asyncio.Event()
        loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[tuple[ClientSession, dict[str, McpTool]]] = loop.create_future()
        self._task = loop.create_task(self._serve())

    async def tools(self) -> dict[str, McpTool]:
        """The tools by their name on the server. Tools whose names can't be written in a definition are left out."""
        try:
            return (await asyncio.wait_for(asyncio.shield(self._ready), START_SECONDS))[1]
        except TimeoutError:
            raise await self._unavailable("it does not respond") from None

    async def call(self, tool: str, arguments: dict[str, Any], key: str | None) -> CallToolResult:
        """Call a tool. Raises MCPError or another exception; `explain` describes it."""
        session, _ = await self._ready
        meta: Any = {KEY_META: key} if key is not None else None
        return await session.call_tool(
            tool, arguments, read_timeout_seconds=self._server.timeout_seconds, meta=meta, allow_input_required=False
        )

    async def explain(self, error: BaseException) -> str:
        """The error in words. If the server has ended, with its stderr."""
        is_closed = not isinstance(error, MCPError) or error.code == CONNECTION_CLOSED
        ending = await self._report.describe() if is_closed else ""
        return self._mask(_describe(error) + (f": {ending}" if ending else ""))

    async def _serve(self) -> None:
        try:
            async with self._streams() as (read, write):
                try:
                    async with _Session(read, write) as session:
                        await session.initialize()
                        self._ready.set_result((session, await self._list_tools(session)))
                        await self._closing.wait()
                except Exception as error:  # noqa: BLE001 - another program may raise anything
                    await self._fail(error)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - another program may raise anything
            await self._fail(error)

    async def _fail(self, error: BaseException) -> None:
        if not self._ready.done():
            self._ready.set_exception(await self._unavailable(_describe(error)))
            self._ready.exception()

    async def _list_tools(self, session: ClientSession) -> dict[str, McpTool]:
        tools: dict[str, McpTool] = {}
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            listed = await session.list_tools(params=PaginatedRequestParams(cursor=cursor))
            for tool in listed.tools:
                if tool.name in tools:
                    raise ValueError(f"it lists two tools with the name {tool.name}")
                if TOOL_NAME.fullmatch(tool.name):
                    tools[tool.name] = self._tool(tool)
            cursor = listed.next_cursor
            if not cursor:
                return tools
        raise ValueError(f"its list of tools has more than {MAX_PAGES} pages")

    def _tool(self, tool: Any) -> McpTool:
        claims = tool.annotations
        annotations: dict[str, Any] = claims.model_dump(exclude_none=True) if claims is not None else {}
        offered = OfferedTool(
            name=f"{MCP_PREFIX}{self.name}/{tool.name}",
            server=self.settings.address,
            server_digest=self.settings.digest,
            description=tool.description or "",
            schema=dict(tool.input_schema),
            annotations=annotations,
        )
        return McpTool(offered, self, tool.name)

    @contextlib.asynccontextmanager
    async def _streams(self) -> AsyncGenerator[tuple[Any, Any]]:
        if self._server.url is None:
            async with connect_process(self._server, self._report) as streams:
                yield streams
            return
        # The transport follows redirects within the origin only: another server is not the listed one.
        client = create_mcp_http_client(headers=dict(self._server.headers))
        async with client, streamable_http_client(self._server.url, http_client=client) as streams:
            yield streams

    async def close(self) -> None:
        self._closing.set()
        _, running = await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)
        if running:
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)
        if not self._ready.done():
            self._ready.cancel()

    async def _unavailable(self, reason: str) -> ToolNotAvailable:
        ending = await self._report.describe()
        message = f"The MCP server {self.name} is not available: {reason}" + (f": {ending}" if ending else ".")
        return ToolNotAvailable(self._mask(message))

    def _mask(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, MASKED)
        return text


class _Session(ClientSession):
    async def validate_tool_result(self, name: str, result: CallToolResult) -> None:
        """Accept any structured content: the call was made, and Cairn doesn't rely on the shape of its result."""


def result_text(result: CallToolResult) -> str:
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
