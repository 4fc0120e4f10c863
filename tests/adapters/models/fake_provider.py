"""An HTTP server that speaks all three protocols, records requests and disconnects, and sends prepared replies."""

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
from tests.adapters.models.replies import Answer, ClosedConnection, ErrorReply, NoReply, Reply

Json = dict[str, Any]
Event = tuple[str | None, str]
COMPARED_HEADERS = ("authorization", "x-api-key", "content-type", "anthropic-version", "anthropic-beta")


@dataclass(frozen=True, slots=True)
class Protocol:
    name: str
    full_response: Callable[[Answer, Json], Json]
    events: Callable[[Answer, Json], Iterator[Event]]
    error: Callable[[ErrorReply], Json]
    error_event: Callable[[], Event]


PROTOCOLS = {
    "/v1/messages": Protocol(
        "anthropic",
        anthropic_wire.full_response,
        anthropic_wire.events,
        anthropic_wire.error,
        anthropic_wire.error_event,
    ),
    "/v1/chat/completions": Protocol(
        "openai-chat",
        openai_wire.chat_full_response,
        openai_wire.chat_events,
        openai_wire.error,
        openai_wire.chat_error_event,
    ),
    "/v1/responses": Protocol(
        "openai",
        openai_wire.responses_full_response,
        openai_wire.responses_events,
        openai_wire.error,
        openai_wire.responses_error_event,
    ),
}


class _Aborted(Exception):
    """The reply closed the connection on purpose."""


@dataclass(frozen=True, slots=True)
class ProviderRequest:
    path: str
    headers: dict[str, str]  # names in lower case
    body: Json
    at: float = 0.0  # monotonic

    @property
    def comparable(self) -> Json:
        """The parts that snapshots compare."""
        headers = {name: self.headers[name] for name in COMPARED_HEADERS if name in self.headers}
        return {"path": self.path, "headers": headers, "body": self.body}

    @property
    def is_streamed(self) -> bool:
        return bool(self.body.get("stream"))


@dataclass
class FakeProvider:
    port: int = 0
    requests: list[ProviderRequest] = field(default_factory=list[ProviderRequest])
    replies: deque[Reply] = field(default_factory=deque[Reply])  # used in order
    respond: Callable[[ProviderRequest], Reply] = lambda request: Answer("Done.")  # when `replies` is empty
    disconnects: list[float] = field(default_factory=list[float])  # when clients disconnected during a reply
    completed: int = 0  # replies sent completely

    @property
    def url(self) -> str:
        """Base URL for Anthropic's protocol."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def openai_url(self) -> str:
        """Base URL for OpenAI's protocols, which includes the version."""
        return f"{self.url}/v1"

    def enqueue(self, *replies: Reply) -> None:
        self.replies.extend(replies)

    def _next_reply(self, request: ProviderRequest) -> Reply:
        return self.replies.popleft() if self.replies else self.respond(request)

    async def wait_until(self, requests: int = 0, disconnects: int = 0, seconds: float = 10.0) -> None:
        """Wait for this many requests and disconnects in total."""
        async with asyncio.timeout(seconds):
            while len(self.requests) < requests or len(self.disconnects) < disconnects:  # noqa: ASYNC110 - also from a thread
                await asyncio.sleep(0.005)

    # ---- connections ---------------------------------------------------------------------------------
    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        extra = b""
        try:
            while True:
                request = await _read(reader, extra)
                self.requests.append(request)
                replying = asyncio.ensure_future(self._send_reply(request, self._next_reply(request), writer))
                disconnecting = asyncio.ensure_future(reader.read(1))
                try:
                    await asyncio.wait({replying, disconnecting}, return_when=asyncio.FIRST_COMPLETED)
                    if disconnecting.done() and not replying.done() and not disconnecting.result():
                        raise ConnectionResetError
                    await replying
                except ConnectionError:
                    self.disconnects.append(time.monotonic())
                    return
                finally:
                    replying.cancel()
                    disconnecting.cancel()
                    await asyncio.gather(replying, disconnecting, return_exceptions=True)
                extra = disconnecting.result() if disconnecting.done() and not disconnecting.cancelled() else b""
                self.completed += 1
        except (_Aborted, ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _send_reply(self, request: ProviderRequest, reply: Reply, writer: asyncio.StreamWriter) -> None:
        protocol = PROTOCOLS.get(request.path)
        match reply:
            case NoReply():
                await asyncio.Event().wait()
            case ClosedConnection():
                writer.transport.abort()
                raise _Aborted
            case _ if protocol is None:
                await _send(writer, 404, b"{}")
            case ErrorReply():
                headers = dict(reply.headers)
                if reply.retry_after is not None:
                    headers["retry-after"] = reply.retry_after
                body = reply.raw if reply.raw is not None else json.dumps(protocol.error(reply)).encode()
                await _send(writer, reply.status, body, headers)
            case Answer():
                await asyncio.sleep(reply.initial_delay)
                if request.is_streamed:
                    await _stream(writer, protocol, reply, request.body)
                elif reply.disconnect_after is not None:
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
                    await writer.drain()
                    writer.transport.abort()
                    raise _Aborted
                elif reply.invalid_json_after is not None:
                    await _send(writer, 200, b'{"id": "half')
                else:
                    await _send(writer, 200, json.dumps(protocol.full_response(reply, request.body)).encode())


async def _read(reader: asyncio.StreamReader, extra: bytes) -> ProviderRequest:
    head = (extra + await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    _, path, _ = head[0].split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return ProviderRequest(path.partition("?")[0], headers, json.loads(body or b"{}"), time.monotonic())


async def _send(writer: asyncio.StreamWriter, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
    lines = [f"HTTP/1.1 {status} Status", "Content-Type: application/json", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    writer.write("\r\n".join((*lines, "", "")).encode() + body)
    await writer.drain()


async def _stream(writer: asyncio.StreamWriter, protocol: Protocol, answer: Answer, body: Json) -> None:
    """Send a chunked response, so that clients can distinguish the end of a stream from a disconnect."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
    for number, (name, data) in enumerate(protocol.events(answer, body)):
        if number == answer.disconnect_after:
            await writer.drain()
            writer.transport.abort()
            raise _Aborted
        if number == answer.end_after:
            break
        if number == answer.overload_after:
            _event(writer, *protocol.error_event())
            break
        _event(writer, name, '{"half' if number == answer.invalid_json_after else data)
        await writer.drain()
        if answer.chunk_delay:
            await asyncio.sleep(answer.chunk_delay)
    writer.write(b"0\r\n\r\n")
    await writer.drain()


def _event(writer: asyncio.StreamWriter, name: str | None, data: str) -> None:
    text = (f"event: {name}\n" if name else "") + f"data: {data}\n\n"
    encoded = text.encode()
    writer.write(f"{len(encoded):x}\r\n".encode() + encoded + b"\r\n")


# ---- lifecycle -------------------------------------------------------------------------------------------
@asynccontextmanager
async def running_provider() -> AsyncGenerator[FakeProvider]:
    provider = FakeProvider()
    tasks: set[asyncio.Task[None]] = set()

    def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(provider.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
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
    """Run a provider in a thread, for tests without an event loop or that block it."""
    ready: list[FakeProvider] = []
    started, stopping = threading.Event(), threading.Event()

    async def run() -> None:
        async with running_provider() as provider:
            ready.append(provider)
            started.set()
            while not stopping.is_set():  # noqa: ASYNC110 - it is set in another thread
                await asyncio.sleep(0.02)

    thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    assert started.wait(10)
    try:
        yield ready[0]
    finally:
        stopping.set()
        thread.join(10)
