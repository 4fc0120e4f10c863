"""Servers on loopback that do what servers do: answer, redirect, hang, break off, drip, refuse."""

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
class Asked:
    """A request as it came in."""

    method: str
    path: str
    headers: Mapping[str, str]  # names in lower case
    body: bytes


Behave = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class WebServer:
    port: int = 0
    asked: list[Asked] = field(default_factory=list[Asked])
    pages: dict[str, Behave] = field(default_factory=dict[str, Behave])
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    def url(self, path: str = "/", host: str = "127.0.0.1", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"

    def on(self, path: str, behave: Behave) -> None:
        self.pages[path] = behave

    async def until(self, count: int, seconds: float = 10.0) -> list[Asked]:
        """Wait until so many requests have come."""
        async with asyncio.timeout(seconds):
            while len(self.asked) < count:
                self.arrived.clear()
                await self.arrived.wait()
        return self.asked

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked = await _read(reader)
            self.asked.append(asked)
            self.arrived.set()
            await self.pages.get(asked.path.partition("?")[0], answer(404))(asked, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


async def _read(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = head[0].split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    return Asked(method, path, headers, await reader.readexactly(int(headers.get("content-length", "0"))))


def answer(status: int = 200, body: bytes = b"", **headers: str) -> Behave:
    async def behave(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        lines = [f"HTTP/1.1 {status} Said", f"Content-Length: {len(body)}", "Connection: close"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join((*lines, "", "")).encode() + body)
        await writer.drain()

    return behave


def answers(*behaviours: Behave) -> Behave:
    """One after the other; the last one stays."""
    left = list(behaviours)

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await (left.pop(0) if len(left) > 1 else left[0])(asked, writer)

    return behave


async def hang(_asked: Asked, _writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def break_off(_asked: Asked, writer: asyncio.StreamWriter) -> None:
    """Gone before a word."""
    writer.transport.abort()


async def break_midway(_asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
    await writer.drain()


async def drip(_asked: Asked, writer: asyncio.StreamWriter) -> None:
    """Always a little more: no single wait is long."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while True:
        writer.write(b".")
        await writer.drain()
        await asyncio.sleep(0.01)


async def pour(_asked: Asked, writer: asyncio.StreamWriter) -> None:
    """Without end."""
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        writer.write(b"x" * 65536)
        await writer.drain()


@asynccontextmanager
async def web_server(tls: ssl.SSLContext | None = None) -> AsyncGenerator[WebServer]:
    web = WebServer()
    tasks: set[asyncio.Task[None]] = set()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(web.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(begin, "127.0.0.1", 0, ssl=tls)
    web.port = server.sockets[0].getsockname()[1]
    try:
        yield web
    finally:
        server.close()
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def certificate(folder: Path, name: str = "localhost") -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """What a server shows, and what a client trusts."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    shown, secret = folder / "certificate.pem", folder / "key.pem"
    shown.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(shown, secret)
    return server, ssl.create_default_context(cafile=str(shown))


# ---- mail ------------------------------------------------------------------------------------------------
@dataclass
class MailServer:
    port: int = 0
    mails: list[Envelope] = field(default_factory=list[Envelope])
    refused: Mapping[str, str] = field(default_factory=dict[str, str])  # what a recipient is answered with
    data: str | None = None  # what DATA is answered with; "close" breaks off, "hang" says nothing
    users: list[tuple[bytes, bytes]] = field(default_factory=list[tuple[bytes, bytes]])

    async def handle_RCPT(  # noqa: N802 - the name is aiosmtpd's
        self, server: Any, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address in self.refused:
            return self.refused[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Session, envelope: Envelope) -> str:  # noqa: N802
        self.mails.append(envelope)
        if self.data == "close":
            server.transport.abort()
        elif self.data == "hang":
            await asyncio.sleep(3600)
        elif self.data is not None:
            self.mails.pop()
            return self.data
        return "250 taken"


@asynccontextmanager
async def mail_server(*, sealed: ssl.SSLContext | None = None, **options: Any) -> AsyncGenerator[MailServer]:
    """`sealed`: encrypted from the start."""
    mail = MailServer()
    loop = asyncio.get_running_loop()
    protocols: list[Any] = []

    def authenticate(*arguments: Any) -> AuthResult:
        given: LoginPassword = arguments[-1]
        mail.users.append((given.login, given.password))
        return AuthResult(success=given.password == b"right", handled=False)

    def begin() -> Any:
        protocol = aiosmtpd.smtp.SMTP(mail, hostname="127.0.0.1", authenticator=authenticate, loop=loop, **options)
        protocols.append(protocol)
        return protocol

    server = await loop.create_server(begin, "127.0.0.1", 0, ssl=sealed)
    mail.port = server.sockets[0].getsockname()[1]
    try:
        yield mail
    finally:
        server.close()
        for protocol in protocols:
            if protocol.transport is not None:
                protocol.transport.abort()
        await asyncio.sleep(0)
