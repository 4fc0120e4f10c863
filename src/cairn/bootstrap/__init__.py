"""The only room that chooses adapters and wires services together."""

from cairn.bootstrap.adapters import LOOPBACK
from cairn.bootstrap.services import AppServices, build

__all__ = ["LOOPBACK", "AppServices", "build"]
