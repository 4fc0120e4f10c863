"""The line to a script's process, from this side: what comes is not trusted."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from cairn.documents import DocumentError, decode_json, encode_json
from cairn.ports import Process

HEAD = 256 * 1024  # bytes of a message's first line
PIECE = 1024 * 1024


class ProtocolError(Exception):
    """What has come is no message."""


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
            raise ProtocolError(f"{name} is no text")
        return value


class ScriptConnection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, process: Process) -> ScriptConnection:
        return cls(*await asyncio.open_connection(sock=process.socket, limit=HEAD))

    async def receive(self) -> ProtocolMessage | None:
        """The next message; None when the line is closed."""
        try:
            line = await self._reader.readline()
        except ConnectionError:
            return None
        except ValueError:
            raise ProtocolError("a message has no end") from None
        if not line.endswith(b"\n"):
            return None
        head = _decoded(line[:-1])
        size = cast("dict[str, Any]", head).get("size") if isinstance(head, dict) else None
        if not isinstance(size, int) or isinstance(size, bool) or size < 0:
            raise ProtocolError("a message has no size")
        return ProtocolMessage(cast("dict[str, Any]", head), size)

    async def read_body(self, message: ProtocolMessage, most: int) -> bytes:
        if message.size > most:
            raise ProtocolError(f"a message of the kind {message.kind!r} has {message.size:,} bytes")
        try:
            return await self._reader.readexactly(message.size)
        except asyncio.IncompleteReadError:
            raise ProtocolError("a message breaks off") from None

    async def read_value(self, message: ProtocolMessage, most: int = PIECE) -> Any:
        return _decoded(await self.read_body(message, most))

    async def skip_body(self, message: ProtocolMessage) -> None:
        left = message.size
        while left and (piece := await self._reader.read(min(left, PIECE))):
            left -= len(piece)

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
