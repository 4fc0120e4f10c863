"""A client of streams. The transport of httpx would wait for the end of the response."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from tests.api.app import BASE, TOKEN, App
from tests.isolation import PATIENCE


@dataclass(frozen=True)
class StreamMessage:
    """One message of a stream."""

    event: str
    data: Any
    id: str | None = None


class Listener:
    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.sent = 0  # chunks that the client has received
        self.gate = asyncio.Event()
        self.gate.set()
        self._left = asyncio.Event()
        self._started = asyncio.Event()
        self._text = ""
        self._messages: asyncio.Queue[StreamMessage | None] = asyncio.Queue()

    async def receive(self) -> dict[str, Any]:
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
            self._started.set()
            return
        await self.gate.wait()
        self.sent += 1
        self._text += message.get("body", b"").decode()
        while "\n\n" in self._text:
            block, _, self._text = self._text.partition("\n\n")
            fields = dict(line.split(": ", 1) for line in block.split("\n"))
            if "event" in fields:
                self._messages.put_nowait(StreamMessage(fields["event"], json.loads(fields["data"]), fields.get("id")))
        if not message.get("more_body"):
            self._messages.put_nowait(None)

    async def started(self) -> None:
        await asyncio.wait_for(self._started.wait(), PATIENCE)

    async def next(self, seconds: float = PATIENCE) -> StreamMessage:
        message = await asyncio.wait_for(self._messages.get(), seconds)
        assert message is not None, "the stream has ended"
        return message

    async def ended(self) -> None:
        while await asyncio.wait_for(self._messages.get(), PATIENCE) is not None:
            pass

    async def until(self, event_type: str) -> list[StreamMessage]:
        """All messages up to an event of this type."""
        messages = [await self.next()]
        while messages[-1].event != "event" or messages[-1].data["event_type"] != event_type:
            messages.append(await self.next())
        return messages

    def leave(self) -> None:
        self._left.set()


@asynccontextmanager
async def listening(
    app: App, path: str, token: str | None = TOKEN, is_shut: bool = False, /, **headers: str
) -> AsyncGenerator[Listener, None]:
    """Listen to a stream, and disconnect at the end. With `is_shut`, receive nothing until the gate opens."""
    listener = Listener()
    if is_shut:
        listener.gate.clear()
    address, _, query = path.partition("?")
    request_headers = {
        "Host": BASE.removeprefix("http://"),
        **({"Authorization": f"Bearer {token}"} if token is not None else {}),
        "Accept-Encoding": "gzip",
        **headers,
    }
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": address,
        "raw_path": address.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in request_headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8700),
    }
    asgi: Any = app.asgi
    serving = asyncio.get_running_loop().create_task(asgi(scope, listener.receive, listener.send))
    try:
        await listener.started()
        yield listener
    finally:
        listener.gate.set()
        listener.leave()
        await asyncio.wait_for(serving, PATIENCE)
