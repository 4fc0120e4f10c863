"""Requests and answers, problems and streams: what every operation is made of."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeAlias, cast
from uuid import uuid4

from cairn.cli.client.http import httpx
from cairn.cli.client.responses import Answer, ProblemResponse, ServerUnreachable, StreamMessage
from cairn.cli.exit_codes import CommandFailed, ExitCode

Query: TypeAlias = Mapping[str, Any]

JSON = {"Content-Type": "application/json"}
WHOLE = 500  # the longest page that may be asked for
QUIET_SECONDS = 45.0  # a stream that is alive says so more often


class HttpCalls:
    def __init__(self, http: httpx.AsyncClient, shown: str) -> None:
        """`shown`: how the server is called in messages."""
        self._http = http
        self._shown = shown

    # ---- requests ------------------------------------------------------------------------------------
    async def _get(self, path: str, query: Query | None = None) -> Any:
        return _decoded(await self._request("GET", path, query=query))

    async def _send(
        self, method: str, path: str, body: Any = None, *, query: Query | None = None, if_match: int | None = None
    ) -> Any:
        """Ask for a change. The key makes it safe to ask again when the connection breaks."""
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
        asked: dict[str, Any] = {"params": _plain(query), "content": content, "headers": headers, "files": files}
        try:
            response = await self._http.request(method, path, **asked)
        except (httpx.ReadError, httpx.RemoteProtocolError):
            if files is not None:
                raise self._unreachable("the connection broke") from None
            response = await self._again(method, path, asked)
        except httpx.TransportError as error:
            raise self._unreachable(_reason(error)) from None
        except httpx.InvalidURL:
            raise CommandFailed(ExitCode.USAGE, f"{self._shown} is not an address of a server.") from None
        if response.status_code >= 400:
            raise self._problem(response)
        return response

    async def _again(self, method: str, path: str, asked: dict[str, Any]) -> httpx.Response:
        try:
            return await self._http.request(method, path, **asked)
        except httpx.TransportError as error:
            raise self._unreachable(_reason(error)) from None

    async def _pages(self, path: str, query: Query | None = None, most: int | None = None) -> Answer:
        """A list to its end, or as many as are wanted."""
        items: list[Any] = []
        cursor: str | None = None
        while True:
            limit = WHOLE if most is None else min(WHOLE, most - len(items))
            page = await self._get(path, {**(query or {}), "limit": limit, "cursor": cursor})
            items += page["items"]
            cursor = page["next_cursor"]
            if cursor is None or (most is not None and len(items) >= most):
                return {**page, "items": items}

    # ---- streams -------------------------------------------------------------------------------------
    async def _content(self, path: str) -> AsyncGenerator[bytes]:
        """A content in pieces."""
        async with self._streamed(path, {}, None) as response:
            async for piece in response.aiter_bytes():
                yield piece

    async def _stream(self, path: str, last_id: str = "") -> AsyncGenerator[StreamMessage]:
        """Server-sent events until the server ends them."""
        headers = {"Last-Event-ID": last_id} if last_id else {}
        async with self._streamed(path, headers, QUIET_SECONDS) as response:
            async for message in _messages(response.aiter_lines()):
                yield message

    @asynccontextmanager
    async def _streamed(
        self, path: str, headers: Mapping[str, str], quiet: float | None
    ) -> AsyncGenerator[httpx.Response]:
        timeout = httpx.Timeout(self._http.timeout.connect, read=quiet or self._http.timeout.read)
        try:
            async with self._http.stream("GET", path, headers=dict(headers), timeout=timeout) as response:
                if response.status_code >= 400:
                    await response.aread()
                    raise self._problem(response)
                yield response
        except httpx.TransportError as error:
            raise self._unreachable(_reason(error)) from None

    # ---- what goes wrong -----------------------------------------------------------------------------
    def _problem(self, response: httpx.Response) -> CommandFailed:
        try:
            told: Any = json.loads(response.content)
        except ValueError:
            told = None
        if not isinstance(told, dict) or "detail" not in told:
            return ServerUnreachable(f"{self._shown} does not answer as Cairn does (HTTP {response.status_code}).")
        return ProblemResponse(response.status_code, cast("Answer", told))

    def _unreachable(self, reason: str) -> ServerUnreachable:
        return ServerUnreachable(f"The server at {self._shown} cannot be reached: {reason}.")


def _decoded(response: httpx.Response) -> Any:
    if not response.content:
        return None
    try:
        return json.loads(response.content)
    except ValueError:
        raise ServerUnreachable(f"{response.url.host} does not answer as Cairn does.") from None


def _encoded(body: Any) -> bytes:
    from cairn.documents import encode_json  # keeps every digit of what a user gives

    return encode_json(body)


def _plain(query: Query | None) -> dict[str, Any]:
    """Without what is not asked for; truth as the API writes it."""
    words = {True: "true", False: "false"}
    given = {name: value for name, value in (query or {}).items() if value not in (None, "", [], ())}
    return {name: words[value] if isinstance(value, bool) else value for name, value in given.items()}


def _reason(error: Exception) -> str:
    told = str(error).strip().rstrip(".")
    if isinstance(error, httpx.TimeoutException):
        return "it does not answer in time"
    if isinstance(error, httpx.ConnectError):
        return "nobody answers there" if "attempts failed" in told else told
    return told.lower() if told else type(error).__name__


async def _messages(lines: AsyncIterator[str]) -> AsyncGenerator[StreamMessage]:
    fields: dict[str, str] = {}
    async for line in lines:
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
        else:
            is_news = "data" in fields and fields.get("event") != "ping"
            if is_news or "id" in fields:  # an id alone says where the stream begins
                data = json.loads(fields["data"]) if is_news else None
                yield StreamMessage(fields.get("event", "") if is_news else "begin", data, fields.get("id", ""))
            fields = {}
