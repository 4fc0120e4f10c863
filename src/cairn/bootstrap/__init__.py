"""The only room that chooses adapters and wires services together."""

from cairn.bootstrap.choosing import LOOPBACK
from cairn.bootstrap.wiring import Cairn, build

__all__ = ["LOOPBACK", "Cairn", "build"]
