"""The process's end of the connection to the server.

A message is a JSON object on one line, followed by `size` bytes.
"""

from __future__ import annotations

import json
import os
from _thread import allocate_lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

BUFFER_BYTES = 1 << 16
MAX_WRITE = 1 << 20


class ParentConnection:
    def __init__(self, fd: int) -> None:
        os.set_inheritable(fd, False)
        self._fd = fd
        self._incoming = os.fdopen(os.dup(fd), "rb", buffering=BUFFER_BYTES)
        self._owner = os.getpid()
        self._lock = allocate_lock()

    def send(self, head: dict[str, Any], body: bytes = b"") -> None:
        with self._locked():
            self._write_message({**head, "size": len(body)}, (body,))

    def send_chunks(self, head: dict[str, Any], size: int, chunks: Iterable[bytes]) -> None:
        with self._locked():
            self._write_message({**head, "size": size}, chunks)

    def request(self, head: dict[str, Any], body: bytes = b"") -> tuple[dict[str, Any], bytes]:
        """Send a message and wait for the reply."""
        with self._locked():
            self._write_message({**head, "size": len(body)}, (body,))
            return self.receive()

    def receive(self) -> tuple[dict[str, Any], bytes]:
        line = self._incoming.readline()
        if not line:
            raise SystemExit("The server has closed the connection.")
        head: dict[str, Any] = json.loads(line)
        return head, self._incoming.read(head["size"])

    def _locked(self) -> Any:
        if os.getpid() != self._owner:
            raise RuntimeError("You can't use ctx in a forked process. Return results to the original process instead.")
        return self._lock

    def _write_message(self, head: dict[str, Any], chunks: Iterable[bytes]) -> None:
        self._write(json.dumps(head).encode() + b"\n")
        for chunk in chunks:
            self._write(chunk)

    def _write(self, data: bytes) -> None:
        remaining = memoryview(data)
        while remaining:
            remaining = remaining[os.write(self._fd, remaining[:MAX_WRITE]) :]
