"""The server's end of the connection to a child process. Nothing that arrives is trusted."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from cairn.documents import DocumentError, decode_json, encode_json
from cairn.ports import Process

MAX_HEAD = 256 * 1024  # bytes of a message's first line
MAX_VALUE = 1024 * 1024  # bytes of a JSON body


class ProtocolError(Exception):
    """The process sent something that is not a valid message."""


@dataclass(frozen=True, slots=True)
class ProtocolMessage:
    head: Mapping[str, Any]
    size: int

    @property
    def kind(self) -> str:
        return self.text("kind")

    def text(self, name: str) -> str:
        value = self.head.get(name, "")
        if not isinstance(value, str):
            raise ProtocolError(f"{name} is not a string")
        return value


class ScriptConnection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, process: Process) -> ScriptConnection:
        return cls(*await asyncio.open_connection(sock=process.socket, limit=MAX_HEAD))

    async def receive(self) -> ProtocolMessage | None:
        """The next message, or None once the connection is closed."""
        try:
            line = await self._reader.readline()
        except ConnectionError:
            return None
        except ValueError:
            raise ProtocolError("the head of a message is too long") from None
        if not line.endswith(b"\n"):
            return None
        head = _decoded(line[:-1])
        size = cast("dict[str, Any]", head).get("size") if isinstance(head, dict) else None
        if not isinstance(size, int) or isinstance(size, bool) or size < 0:
            raise ProtocolError("a message has no valid size")
        return ProtocolMessage(cast("dict[str, Any]", head), size)

    async def read_body(self, message: ProtocolMessage, max_bytes: int) -> bytes:
        if message.size > max_bytes:
            raise ProtocolError(f"a {message.kind!r} message has {message.size:,} bytes; the limit is {max_bytes:,}")
        try:
            return await self._reader.readexactly(message.size)
        except asyncio.IncompleteReadError:
            raise ProtocolError("a message is incomplete") from None

    async def read_value(self, message: ProtocolMessage, max_bytes: int = MAX_VALUE) -> Any:
        return _decoded(await self.read_body(message, max_bytes))

    async def skip_body(self, message: ProtocolMessage) -> None:
        remaining = message.size
        while remaining and (chunk := await self._reader.read(min(remaining, MAX_VALUE))):
            remaining -= len(chunk)

    async def send(self, head: Mapping[str, Any], body: bytes = b"") -> None:
        self._writer.write(encode_json({**head, "size": len(body)}) + b"\n")
        self._writer.write(body)
        await self._writer.drain()

    def close(self) -> None:
        self._writer.close()


def _decoded(data: bytes) -> Any:
    try:
        return decode_json(data, max_bytes=max(len(data), 1))
    except DocumentError as error:
        raise ProtocolError(str(error)) from None
