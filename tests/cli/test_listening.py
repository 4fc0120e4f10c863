"""The server's listening socket."""

from __future__ import annotations

import socket
from pathlib import Path

from cairn.cli.server import _listen  # pyright: ignore[reportPrivateUsage]
from cairn.config import Settings


def test_responses_are_sent_without_waiting_for_an_acknowledgement(tmp_path: Path) -> None:
    """asyncio sets TCP_NODELAY only if the socket names its protocol. Otherwise each response takes 40 ms longer."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    listener = _listen(Settings(data_dir=tmp_path, port=port))
    try:
        assert listener.proto == socket.IPPROTO_TCP
    finally:
        listener.close()
