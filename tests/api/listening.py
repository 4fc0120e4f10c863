"""A client of a stream: httpx's transport would wait for an end that does not come."""

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
class Told:
    """One message of a stream."""

    event: str
    data: Any
    id: str | None = None


class Listener:
    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.sent = 0  # chunks that the server could get rid of
        self.gate = asyncio.Event()
        self.gate.set()
        self._left = asyncio.Event()
        self._begun = asyncio.Event()
        self._text = ""
        self._told: asyncio.Queue[Told | None] = asyncio.Queue()

    async def receive(self) -> dict[str, Any]:
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
            self._begun.set()
            return
        await self.gate.wait()
        self.sent += 1
        self._text += message.get("body", b"").decode()
        while "\n\n" in self._text:
            block, _, self._text = self._text.partition("\n\n")
            fields = dict(line.split(": ", 1) for line in block.split("\n"))
            if "event" in fields:
                self._told.put_nowait(Told(fields["event"], json.loads(fields["data"]), fields.get("id")))
        if not message.get("more_body"):
            self._told.put_nowait(None)

    async def begun(self) -> None:
        await asyncio.wait_for(self._begun.wait(), PATIENCE)

    async def next(self, seconds: float = PATIENCE) -> Told:
        told = await asyncio.wait_for(self._told.get(), seconds)
        assert told is not None, "the stream has ended"
        return told

    async def ended(self) -> None:
        while await asyncio.wait_for(self._told.get(), PATIENCE) is not None:
            pass

    async def until(self, event_type: str) -> list[Told]:
        """Everything up to an event of this type."""
        told = [await self.next()]
        while told[-1].event != "event" or told[-1].data["event_type"] != event_type:
            told.append(await self.next())
        return told

    def leave(self) -> None:
        self._left.set()


@asynccontextmanager
async def listening(
    app: App, path: str, token: str | None = TOKEN, is_shut: bool = False, /, **headers: str
) -> AsyncGenerator[Listener, None]:
    """Listen to a stream; afterwards the client leaves, and the server has to notice. Shut, it takes nothing yet."""
    listener = Listener()
    if is_shut:
        listener.gate.clear()
    address, _, query = path.partition("?")
    told = {
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
        "headers": [(name.lower().encode(), value.encode()) for name, value in told.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8700),
    }
    asgi: Any = app.asgi
    serving = asyncio.get_running_loop().create_task(asgi(scope, listener.receive, listener.send))
    try:
        await listener.begun()
        yield listener
    finally:
        listener.gate.set()
        listener.leave()
        await asyncio.wait_for(serving, PATIENCE)
