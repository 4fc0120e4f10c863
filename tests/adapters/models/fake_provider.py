"""The server: takes requests of all three protocols, keeps them whole, answers as it is told, notices who hangs up."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.adapters.models import anthropic_wire, openai_wire
from tests.adapters.models.replies import Fails, Gone, Hangs, Reply, Says

Json = dict[str, Any]
Event = tuple[str | None, str]
MATTER = ("authorization", "x-api-key", "content-type", "anthropic-version", "anthropic-beta")


@dataclass(frozen=True, slots=True)
class Protocol:
    name: str
    whole: Callable[[Says, Json], Json]
    events: Callable[[Says, Json], Iterator[Event]]
    error: Callable[[Fails], Json]
    error_event: Callable[[], Event]


PROTOCOLS = {
    "/v1/messages": Protocol(
        "anthropic",
        anthropic_wire.whole,
        anthropic_wire.events,
        anthropic_wire.error,
        anthropic_wire.error_event,
    ),
    "/v1/chat/completions": Protocol(
        "openai-chat",
        openai_wire.chat_whole,
        openai_wire.chat_events,
        openai_wire.error,
        openai_wire.chat_error_event,
    ),
    "/v1/responses": Protocol(
        "openai",
        openai_wire.responses_whole,
        openai_wire.responses_events,
        openai_wire.error,
        openai_wire.responses_error_event,
    ),
}


class _Aborted(Exception):
    """The connection is gone, as it was wanted."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came in."""

    path: str
    headers: dict[str, str]  # names in lower case
    body: Json
    at: float = 0.0  # monotonic

    @property
    def told(self) -> Json:
        """All that matters of it, to be compared whole."""
        headers = {name: self.headers[name] for name in MATTER if name in self.headers}
        return {"path": self.path, "headers": headers, "body": self.body}

    @property
    def is_streamed(self) -> bool:
        return bool(self.body.get("stream"))


@dataclass
class FakeProvider:
    port: int = 0
    asked: list[Asked] = field(default_factory=list[Asked])
    replies: deque[Reply] = field(default_factory=deque[Reply])  # one after the other
    answer: Callable[[Asked], Reply] = lambda asked: Says("Done.")  # when none is left
    hung_up: list[float] = field(default_factory=list[float])  # when clients went before the end of an answer
    answered: int = 0  # to their end

    @property
    def url(self) -> str:
        """Where Anthropic's protocol is spoken."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def openai_url(self) -> str:
        """Where OpenAI's are: theirs begins with the version."""
        return f"{self.url}/v1"

    def will(self, *replies: Reply) -> None:
        self.replies.extend(replies)

    def _next(self, asked: Asked) -> Reply:
        return self.replies.popleft() if self.replies else self.answer(asked)

    async def until(self, asked: int = 0, hung_up: int = 0, seconds: float = 10.0) -> None:
        """Wait until so many have asked, and so many gone."""
        async with asyncio.timeout(seconds):
            while len(self.asked) < asked or len(self.hung_up) < hung_up:  # noqa: ASYNC110 - also from a thread
                await asyncio.sleep(0.005)

    # ---- connections ---------------------------------------------------------------------------------
    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        early = b""
        try:
            while True:
                asked = await _read(reader, early)
                self.asked.append(asked)
                answering = asyncio.ensure_future(self._respond(asked, self._next(asked), writer))
                watching = asyncio.ensure_future(reader.read(1))
                try:
                    await asyncio.wait({answering, watching}, return_when=asyncio.FIRST_COMPLETED)
                    if watching.done() and not answering.done() and not watching.result():
                        raise ConnectionResetError
                    await answering
                except ConnectionError:
                    self.hung_up.append(time.monotonic())
                    return
                finally:
                    answering.cancel()
                    watching.cancel()
                    await asyncio.gather(answering, watching, return_exceptions=True)
                early = watching.result() if watching.done() and not watching.cancelled() else b""
                self.answered += 1
        except (_Aborted, ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _respond(self, asked: Asked, reply: Reply, writer: asyncio.StreamWriter) -> None:
        protocol = PROTOCOLS.get(asked.path)
        match reply:
            case Hangs():
                await asyncio.Event().wait()
            case Gone():
                writer.transport.abort()
                raise _Aborted
            case _ if protocol is None:
                await _send(writer, 404, b"{}")
            case Fails():
                headers = dict(reply.headers)
                if reply.retry_after is not None:
                    headers["retry-after"] = reply.retry_after
                body = reply.raw if reply.raw is not None else json.dumps(protocol.error(reply)).encode()
                await _send(writer, reply.status, body, headers)
            case Says():
                await asyncio.sleep(reply.first_byte_after)
                if asked.is_streamed:
                    await _stream(writer, protocol, reply, asked.body)
                elif reply.cut_after is not None:
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
                    await writer.drain()
                    writer.transport.abort()
                    raise _Aborted
                elif reply.garbled_after is not None:
                    await _send(writer, 200, b'{"id": "half')
                else:
                    await _send(writer, 200, json.dumps(protocol.whole(reply, asked.body)).encode())


async def _read(reader: asyncio.StreamReader, early: bytes) -> Asked:
    head = (early + await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    _, path, _ = head[0].split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(path.partition("?")[0], headers, json.loads(body or b"{}"), time.monotonic())


async def _send(writer: asyncio.StreamWriter, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
    lines = [f"HTTP/1.1 {status} Said", "Content-Type: application/json", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    writer.write("\r\n".join((*lines, "", "")).encode() + body)
    await writer.drain()


async def _stream(writer: asyncio.StreamWriter, protocol: Protocol, says: Says, body: Json) -> None:
    """Chunked, so that a client can tell an end from a breaking off."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
    for number, (name, data) in enumerate(protocol.events(says, body)):
        if number == says.cut_after:
            await writer.drain()
            writer.transport.abort()
            raise _Aborted
        if number == says.ends_after:
            break
        if number == says.error_after:
            _event(writer, *protocol.error_event())
            break
        _event(writer, name, '{"half' if number == says.garbled_after else data)
        await writer.drain()
        if says.between:
            await asyncio.sleep(says.between)
    writer.write(b"0\r\n\r\n")
    await writer.drain()


def _event(writer: asyncio.StreamWriter, name: str | None, data: str) -> None:
    text = (f"event: {name}\n" if name else "") + f"data: {data}\n\n"
    encoded = text.encode()
    writer.write(f"{len(encoded):x}\r\n".encode() + encoded + b"\r\n")


# ---- its life --------------------------------------------------------------------------------------------
@asynccontextmanager
async def running_provider() -> AsyncGenerator[FakeProvider]:
    provider = FakeProvider()
    tasks: set[asyncio.Task[None]] = set()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(provider.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(begin, "127.0.0.1", 0)
    provider.port = server.sockets[0].getsockname()[1]
    try:
        yield provider
    finally:
        server.close()
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def provider_in_a_thread() -> Generator[FakeProvider]:
    """For tests whose own loop is busy, or that have none."""
    ready: list[FakeProvider] = []
    begun, stopping = threading.Event(), threading.Event()

    async def live() -> None:
        async with running_provider() as provider:
            ready.append(provider)
            begun.set()
            while not stopping.is_set():  # noqa: ASYNC110 - it is set in another thread
                await asyncio.sleep(0.02)

    thread = threading.Thread(target=lambda: asyncio.run(live()), daemon=True)
    thread.start()
    assert begun.wait(10)
    try:
        yield ready[0]
    finally:
        stopping.set()
        thread.join(10)
