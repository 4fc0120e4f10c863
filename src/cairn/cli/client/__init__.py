"""The HTTP API as calls: one for each operation, named as the operation is."""

from cairn.cli.client.calls import Answer, Message, Unreachable
from cairn.cli.client.operations import Client

__all__ = ["Answer", "Client", "Message", "Unreachable"]
