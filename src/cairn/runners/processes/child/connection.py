"""The line to Cairn: each message is a JSON object in one line, then as many bytes as its `size` says."""

from __future__ import annotations

import json
import os
from _thread import allocate_lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

BUFFER = 1 << 16
AT_ONCE = 1 << 20


class ParentConnection:
    def __init__(self, fd: int) -> None:
        os.set_inheritable(fd, False)
        self._fd = fd
        self._incoming = os.fdopen(os.dup(fd), "rb", buffering=BUFFER)
        self._owner = os.getpid()
        self._lock = allocate_lock()

    def send(self, head: dict[str, Any], body: bytes = b"") -> None:
        with self._held():
            self._write_message({**head, "size": len(body)}, (body,))

    def send_chunks(self, head: dict[str, Any], size: int, pieces: Iterable[bytes]) -> None:
        with self._held():
            self._write_message({**head, "size": size}, pieces)

    def request(self, head: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        with self._held():
            self._write_message({**head, "size": 0}, ())
            return self.receive()

    def receive(self) -> tuple[dict[str, Any], bytes]:
        head = self._incoming.readline()
        if not head:
            raise SystemExit("Cairn is gone")
        told: dict[str, Any] = json.loads(head)
        return told, self._incoming.read(told["size"])

    def _held(self) -> Any:
        if os.getpid() != self._owner:
            raise RuntimeError("ctx belongs to the process that the script was called in; hand results back to it")
        return self._lock

    def _write_message(self, head: dict[str, Any], pieces: Iterable[bytes]) -> None:
        self._write(json.dumps(head).encode() + b"\n")
        for piece in pieces:
            self._write(piece)

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[os.write(self._fd, left[:AT_ONCE]) :]
