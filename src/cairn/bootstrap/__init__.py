"""Choose the adapters and build the services. No other package does either."""

from cairn.bootstrap.adapters import LOOPBACK
from cairn.bootstrap.services import AppServices, build

__all__ = ["LOOPBACK", "AppServices", "build"]
