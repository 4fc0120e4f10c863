"""The addresses at which this server listens. Actions can't reach them, so no agent approves its own actions."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

from cairn.core.destinations import DEFAULT_PORTS

LOOPBACK_NAMES = ("localhost", "ip6-localhost", "ip6-loopback")


class OwnAddresses:
    def __init__(self, port: int, base_url: str, names: Iterable[str] = ()) -> None:
        """`names` are the host names that the server accepts, in addition to that of its base URL."""
        url = urlsplit(base_url)
        self._port = port
        self._names = frozenset(normalize(name) for name in (url.hostname or "", *names))
        self._ports = frozenset({port, url.port or DEFAULT_PORTS.get(url.scheme, port)})

    def has_name(self, host: str, port: int) -> bool:
        """Whether the host is a name or an address of this server. Asks no resolver."""
        host = normalize(host)
        address = _parse(host)
        if address is not None:
            return self.has_address(address, port)
        if host in LOOPBACK_NAMES or host.endswith(".localhost"):
            return port == self._port
        return host in self._names and (port in self._ports or port in DEFAULT_PORTS.values())

    def has_address(self, address: IPv4Address | IPv6Address, port: int) -> bool:
        """Whether the server listens at this address of the machine."""
        if str(address) in self._names and port in self._ports:
            return True
        return port == self._port and _is_local(address)


def normalize(host: str) -> str:
    return host.strip().strip("[]").rstrip(".").lower()


def _parse(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host.partition("%")[0])
    except ValueError:
        return None


def _is_local(address: IPv4Address | IPv6Address) -> bool:
    """Whether the address belongs to this machine: only such addresses can be bound."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    address = mapped or address
    if address.is_loopback or address.is_unspecified:
        return True
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((str(address), 0))
        except OSError:
            return False
    return True
