"""Sends requests, reads pages and streams, and turns error responses into exceptions."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeAlias, cast
from uuid import uuid4

from cairn.cli.client.http import httpx
from cairn.cli.client.responses import JsonObject, ProblemResponse, ServerUnreachable, StreamMessage
from cairn.cli.exit_codes import CommandFailed, ExitCode

Query: TypeAlias = Mapping[str, Any]

JSON = {"Content-Type": "application/json"}
MAX_PAGE_SIZE = 500
STREAM_TIMEOUT_SECONDS = 45.0  # the server sends a ping more often than this


class HttpCalls:
    def __init__(self, http: httpx.AsyncClient, server_name: str) -> None:
        """`server_name` appears in error messages."""
        self._http = http
        self._server_name = server_name

    # ---- requests ------------------------------------------------------------------------------------
    async def _get(self, path: str, query: Query | None = None) -> Any:
        return _decoded(await self._request("GET", path, query=query))

    async def _send(
        self, method: str, path: str, body: Any = None, *, query: Query | None = None, if_match: int | None = None
    ) -> Any:
        """Send a change. The idempotency key makes it safe to repeat when the connection breaks."""
        headers = {"Idempotency-Key": str(uuid4()), **({"If-Match": f'"{if_match}"'} if if_match is not None else {})}
        content = None
        if body is not None:
            content, headers = _encoded(body), {**headers, **JSON}
        return _decoded(await self._request(method, path, query=query, content=content, headers=headers))

    async def _send_document(
        self, method: str, path: str, text: bytes, media_type: str, *, query: Query | None = None
    ) -> Any:
        headers = {"Content-Type": media_type, "Idempotency-Key": str(uuid4())}
        return _decoded(await self._request(method, path, query=query, content=text, headers=headers))

    async def _request(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        content: Any = None,
        headers: Mapping[str, str] | None = None,
        files: Any = None,
    ) -> httpx.Response:
        arguments: dict[str, Any] = {
            "params": _query_parameters(query),
            "content": content,
            "headers": headers,
            "files": files,
        }
        try:
            response = await self._http.request(method, path, **arguments)
        except (httpx.ReadError, httpx.RemoteProtocolError):
            if files is not None:
                raise self._unreachable("the connection was lost") from None
            response = await self._repeat(method, path, arguments)
        except httpx.TransportError as error:
            raise self._unreachable(_reason(error)) from None
        except httpx.InvalidURL:
            raise CommandFailed(ExitCode.USAGE, f"{self._server_name} is not a valid server address.") from None
        if response.status_code >= 400:
            raise self._problem(response)
        return response

    async def _repeat(self, method: str, path: str, arguments: dict[str, Any]) -> httpx.Response:
        try:
            return await self._http.request(method, path, **arguments)
        except httpx.TransportError as error:
            raise self._unreachable(_reason(error)) from None

    async def _pages(self, path: str, query: Query | None = None, limit: int | None = None) -> JsonObject:
        """All items of a list, or the first `limit` of them."""
        items: list[Any] = []
        cursor: str | None = None
        while True:
            size = MAX_PAGE_SIZE if limit is None else min(MAX_PAGE_SIZE, limit - len(items))
            page = await self._get(path, {**(query or {}), "limit": size, "cursor": cursor})
            items += page["items"]
            cursor = page["next_cursor"]
            if cursor is None or (limit is not None and len(items) >= limit):
                return {**page, "items": items}

    # ---- streams -------------------------------------------------------------------------------------
    async def _content(self, path: str) -> AsyncGenerator[bytes]:
        """The body of a response in chunks."""
        async with self._streamed(path, {}, None) as response:
            async for chunk in response.aiter_bytes():
                yield chunk

    async def _stream(self, path: str, last_id: str = "") -> AsyncGenerator[StreamMessage]:
        """Server-sent events until the server ends the stream."""
        headers = {"Last-Event-ID": last_id} if last_id else {}
        async with self._streamed(path, headers, STREAM_TIMEOUT_SECONDS) as response:
            async for message in _messages(response.aiter_lines()):
                yield message

    @asynccontextmanager
    async def _streamed(
        self, path: str, headers: Mapping[str, str], read_timeout: float | None
    ) -> AsyncGenerator[httpx.Response]:
        timeout = httpx.Timeout(self._http.timeout.connect, read=read_timeout or self._http.timeout.read)
        try:
            async with self._http.stream("GET", path, headers=dict(headers), timeout=timeout) as response:
                if response.status_code >= 400:
                    await response.aread()
                    raise self._problem(response)
                yield response
        except httpx.TransportError as error:
            raise self._unreachable(_reason(error)) from None

    # ---- errors --------------------------------------------------------------------------------------
    def _problem(self, response: httpx.Response) -> CommandFailed:
        try:
            problem: Any = json.loads(response.content)
        except ValueError:
            problem = None
        if not isinstance(problem, dict) or "detail" not in problem:
            return ServerUnreachable(f"{self._server_name} is not a Cairn server (HTTP {response.status_code}).")
        return ProblemResponse(response.status_code, cast("JsonObject", problem))

    def _unreachable(self, reason: str) -> ServerUnreachable:
        return ServerUnreachable(
            f"Can't reach the server at {self._server_name}: {reason}. Check that it is running, or choose another "
            "with --server."
        )


def _decoded(response: httpx.Response) -> Any:
    if not response.content:
        return None
    try:
        return json.loads(response.content)
    except ValueError:
        raise ServerUnreachable(f"{response.url.host} is not a Cairn server.") from None


def _encoded(body: Any) -> bytes:
    from cairn.documents import encode_json  # keeps every digit of numbers

    return encode_json(body)


def _query_parameters(query: Query | None) -> dict[str, Any]:
    """Leave out empty parameters and write booleans as the API expects them."""
    filled = {name: value for name, value in (query or {}).items() if value not in (None, "", [], ())}
    return {name: str(value).lower() if isinstance(value, bool) else value for name, value in filled.items()}


def _reason(error: Exception) -> str:
    reason = str(error).strip().rstrip(".")
    if isinstance(error, httpx.TimeoutException):
        return "the request timed out"
    if isinstance(error, httpx.ConnectError):
        return "connection failed" if "attempts failed" in reason else reason
    return reason.lower() if reason else type(error).__name__


async def _messages(lines: AsyncIterator[str]) -> AsyncGenerator[StreamMessage]:
    fields: dict[str, str] = {}
    async for line in lines:
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
        else:
            has_data = "data" in fields and fields.get("event") != "ping"
            if has_data or "id" in fields:  # an id alone is the position at which the stream starts
                data = json.loads(fields["data"]) if has_data else None
                yield StreamMessage(fields.get("event", "") if has_data else "start", data, fields.get("id", ""))
            fields = {}
