"""Local web and mail servers that respond, redirect, hang, disconnect or reject on request."""

from __future__ import annotations

import asyncio
import datetime as dt
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiosmtpd.smtp
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword, Session
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    method: str
    path: str
    headers: Mapping[str, str]  # names in lower case
    body: bytes


Handler = Callable[[ReceivedRequest, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class WebServer:
    port: int = 0
    requests: list[ReceivedRequest] = field(default_factory=list[ReceivedRequest])
    handlers: dict[str, Handler] = field(default_factory=dict[str, Handler])
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    def url(self, path: str = "/", host: str = "127.0.0.1", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"

    def on(self, path: str, handler: Handler) -> None:
        self.handlers[path] = handler

    async def wait_for_requests(self, count: int, seconds: float = 10.0) -> list[ReceivedRequest]:
        """Wait for this many requests in total."""
        async with asyncio.timeout(seconds):
            while len(self.requests) < count:
                self.arrived.clear()
                await self.arrived.wait()
        return self.requests

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await _read(reader)
            self.requests.append(request)
            self.arrived.set()
            await self.handlers.get(request.path.partition("?")[0], answer(404))(request, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


async def _read(reader: asyncio.StreamReader) -> ReceivedRequest:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = head[0].split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    return ReceivedRequest(method, path, headers, await reader.readexactly(int(headers.get("content-length", "0"))))


def answer(status: int = 200, body: bytes = b"", **headers: str) -> Handler:
    async def handle(_request: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
        lines = [f"HTTP/1.1 {status} Status", f"Content-Length: {len(body)}", "Connection: close"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join((*lines, "", "")).encode() + body)
        await writer.drain()

    return handle


def answers(*handlers: Handler) -> Handler:
    """Use the handlers in order, then repeat the last one."""
    remaining = list(handlers)

    async def handle(request: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
        await (remaining.pop(0) if len(remaining) > 1 else remaining[0])(request, writer)

    return handle


async def hang(_request: ReceivedRequest, _writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def break_off(_request: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
    """Disconnect without a response."""
    writer.transport.abort()


async def break_midway(_request: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
    await writer.drain()


async def drip(_request: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
    """Send the body very slowly, byte by byte."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while True:
        writer.write(b".")
        await writer.drain()
        await asyncio.sleep(0.01)


async def send_endlessly(_request: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        writer.write(b"x" * 65536)
        await writer.drain()


@asynccontextmanager
async def web_server(tls: ssl.SSLContext | None = None) -> AsyncGenerator[WebServer]:
    web = WebServer()
    tasks: set[asyncio.Task[None]] = set()

    def handle_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(web.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(handle_connection, "127.0.0.1", 0, ssl=tls)
    web.port = server.sockets[0].getsockname()[1]
    try:
        yield web
    finally:
        server.close()
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def certificate(folder: Path, name: str = "localhost") -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A TLS context for a server, and one for a client that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    signed = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate_file, key_file = folder / "certificate.pem", folder / "key.pem"
    certificate_file.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate_file, key_file)
    return server, ssl.create_default_context(cafile=str(certificate_file))


# ---- mail ------------------------------------------------------------------------------------------------
@dataclass
class MailServer:
    port: int = 0
    mails: list[Envelope] = field(default_factory=list[Envelope])
    rejections: Mapping[str, str] = field(default_factory=dict[str, str])  # responses by recipient
    data_response: str | None = None  # response to DATA; "close" disconnects, "hang" never responds
    users: list[tuple[bytes, bytes]] = field(default_factory=list[tuple[bytes, bytes]])

    async def handle_RCPT(  # noqa: N802 - the name is aiosmtpd's
        self, server: Any, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address in self.rejections:
            return self.rejections[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Session, envelope: Envelope) -> str:  # noqa: N802
        self.mails.append(envelope)
        if self.data_response == "close":
            server.transport.abort()
        elif self.data_response == "hang":
            await asyncio.sleep(3600)
        elif self.data_response is not None:
            self.mails.pop()
            return self.data_response
        return "250 accepted"


@asynccontextmanager
async def mail_server(*, tls: ssl.SSLContext | None = None, **options: Any) -> AsyncGenerator[MailServer]:
    """Run a mail server. With `tls`, it uses TLS from the start."""
    mail = MailServer()
    loop = asyncio.get_running_loop()
    protocols: list[Any] = []

    def authenticate(*arguments: Any) -> AuthResult:
        credentials: LoginPassword = arguments[-1]
        mail.users.append((credentials.login, credentials.password))
        return AuthResult(success=credentials.password == b"right", handled=False)

    def create_protocol() -> Any:
        protocol = aiosmtpd.smtp.SMTP(mail, hostname="127.0.0.1", authenticator=authenticate, loop=loop, **options)
        protocols.append(protocol)
        return protocol

    server = await loop.create_server(create_protocol, "127.0.0.1", 0, ssl=tls)
    mail.port = server.sockets[0].getsockname()[1]
    try:
        yield mail
    finally:
        server.close()
        for protocol in protocols:
            if protocol.transport is not None:
                protocol.transport.abort()
        await asyncio.sleep(0)
