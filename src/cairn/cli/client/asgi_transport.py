"""An httpx transport that calls the application in this process and streams the response."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any, cast

from starlette.types import ASGIApp, Message

from cairn.cli.client.http import httpx


class AppTransport(httpx.AsyncBaseTransport):
    """Streams the response. `httpx.ASGITransport` buffers it, and an event stream never ends."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        exchange = _Exchange(self._app, request)
        status, headers = await exchange.start()
        return httpx.Response(status, headers=headers, stream=exchange)


class _Exchange(httpx.AsyncByteStream):
    """One request and its response. Closing it disconnects from the application."""

    def __init__(self, app: ASGIApp, request: httpx.Request) -> None:
        self._request = request
        self._request_body = cast("httpx.AsyncByteStream", request.stream).__aiter__()
        self._is_request_read = False
        self._disconnected = asyncio.Event()
        self._chunks: asyncio.Queue[bytes | None] = asyncio.Queue(16)
        self._response_start: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._task = asyncio.get_running_loop().create_task(self._run(app))

    async def start(self) -> tuple[int, Any]:
        await asyncio.wait([self._response_start, self._task], return_when=asyncio.FIRST_COMPLETED)
        if not self._response_start.done():
            self._response_start.cancel()
            await self._task
            raise httpx.RemoteProtocolError("the application sent no response")
        message = self._response_start.result()
        return message["status"], message["headers"]

    async def _run(self, app: ASGIApp) -> None:
        try:
            await app(_scope(self._request), self._receive, self._send)
        finally:
            if not self._disconnected.is_set():
                await self._chunks.put(None)

    async def _receive(self) -> Message:
        if not self._is_request_read:
            try:
                return {"type": "http.request", "body": await anext(self._request_body), "more_body": True}
            except StopAsyncIteration:
                self._is_request_read = True
                return {"type": "http.request", "body": b"", "more_body": False}
        await self._disconnected.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._response_start.set_result(message)
        elif (body := message.get("body", b"")) and not self._disconnected.is_set():
            await self._chunks.put(body)

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        while (chunk := await self._chunks.get()) is not None:
            yield chunk
        await self._task

    async def aclose(self) -> None:
        self._disconnected.set()
        while not self._chunks.empty():  # unblocks a sender that waits for a free slot
            self._chunks.get_nowait()
        if not self._task.done():
            self._task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await self._task


def _scope(request: httpx.Request) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.url.scheme,
        "path": request.url.path,
        "raw_path": request.url.raw_path.partition(b"?")[0],
        "query_string": request.url.query,
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "server": (request.url.host, request.url.port),
        "client": ("127.0.0.1", 0),
    }
