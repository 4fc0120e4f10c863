"""Answers leave at once, also on a connection that stays open."""

from __future__ import annotations

import socket
from pathlib import Path

from cairn.cli.server import _listen  # pyright: ignore[reportPrivateUsage]
from cairn.config import Settings


def test_no_answer_waits_for_the_clients_acknowledgement(tmp_path: Path) -> None:
    """The event loop sends small pieces at once only where the protocol is named: else each answer takes 40 ms."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    listener = _listen(Settings(data_dir=tmp_path, port=port))
    try:
        assert listener.proto == socket.IPPROTO_TCP
    finally:
        listener.close()
