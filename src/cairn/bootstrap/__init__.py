"""The only room that chooses adapters and wires services together."""

from cairn.bootstrap.adapters import LOOPBACK
from cairn.bootstrap.services import Cairn, build

__all__ = ["LOOPBACK", "Cairn", "build"]
