"""A client of the HTTP API. Its methods have the names of the operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.cli.client.responses import JsonObject, ProblemResponse, ServerUnreachable, StreamMessage

if TYPE_CHECKING:
    from cairn.cli.client.client import Client
else:

    def __getattr__(name: str) -> object:
        """Import the client on first use, because httpx takes a tenth of a second to import."""
        if name != "Client":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from cairn.cli.client.client import Client

        return Client


__all__ = ["Client", "JsonObject", "ProblemResponse", "ServerUnreachable", "StreamMessage"]
