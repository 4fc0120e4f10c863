"""The HTTP API as calls: one for each operation, named as the operation is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.cli.client.responses import Answer, ProblemResponse, ServerUnreachable, StreamMessage

if TYPE_CHECKING:
    from cairn.cli.client.client import Client
else:

    def __getattr__(name: str) -> object:
        """The client is imported when it is first asked for: its library takes a tenth of a second."""
        if name != "Client":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from cairn.cli.client.client import Client

        return Client


__all__ = ["Answer", "Client", "ProblemResponse", "ServerUnreachable", "StreamMessage"]
