"""The application as a transport: requests go to it in this process, and answers come back while they are made."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any, cast

from starlette.types import ASGIApp, Message

from cairn.cli.client.http import httpx


class AppTransport(httpx.AsyncBaseTransport):
    """httpx's own waits for the whole answer; a live stream has no end."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        asked = _Exchange(self._app, request)
        status, headers = await asked.begin()
        return httpx.Response(status, headers=headers, stream=asked)


class _Exchange(httpx.AsyncByteStream):
    """One request and its answer; closing it tells the application that nobody listens any more."""

    def __init__(self, app: ASGIApp, request: httpx.Request) -> None:
        self._request = request
        self._incoming = cast("httpx.AsyncByteStream", request.stream).__aiter__()
        self._is_read = False
        self._left = asyncio.Event()
        self._pieces: asyncio.Queue[bytes | None] = asyncio.Queue(16)
        self._begun: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._task = asyncio.get_running_loop().create_task(self._run(app))

    async def begin(self) -> tuple[int, Any]:
        await asyncio.wait([self._begun, self._task], return_when=asyncio.FIRST_COMPLETED)
        if not self._begun.done():
            self._begun.cancel()
            await self._task
            raise httpx.RemoteProtocolError("the application gave no answer")
        message = self._begun.result()
        return message["status"], message["headers"]

    async def _run(self, app: ASGIApp) -> None:
        try:
            await app(_scope(self._request), self._receive, self._send)
        finally:
            if not self._left.is_set():
                await self._pieces.put(None)

    async def _receive(self) -> Message:
        if not self._is_read:
            try:
                return {"type": "http.request", "body": await anext(self._incoming), "more_body": True}
            except StopAsyncIteration:
                self._is_read = True
                return {"type": "http.request", "body": b"", "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._begun.set_result(message)
        elif (body := message.get("body", b"")) and not self._left.is_set():
            await self._pieces.put(body)

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        while (piece := await self._pieces.get()) is not None:
            yield piece
        await self._task

    async def aclose(self) -> None:
        self._left.set()
        while not self._pieces.empty():  # who waits for room goes on
            self._pieces.get_nowait()
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
