"""Where requests may go: nothing inside the network is reached unless an admin has named it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from cairn.ports.outbound import NotSent

Address = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

NAT64 = IPv6Network("64:ff9b::/96")
HOW = "an admin may allow it with CAIRN_OUTBOUND_ALLOWED"


async def resolve(host: str, port: int) -> Sequence[str]:
    """By the system's resolver, in its order."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """Hosts and networks that may be reached although they are not public."""

    hosts: frozenset[str] = frozenset()
    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def of(cls, named: Sequence[str]) -> AllowedHosts:
        hosts: set[str] = set()
        networks: list[IPv4Network | IPv6Network] = []
        for name in named:
            try:
                networks.append(ip_network(name.strip(), strict=False))
            except ValueError:
                hosts.add(_plain(name))
        return cls(frozenset(hosts), tuple(networks))

    def covers(self, address: Address) -> bool:
        return any(address in network for network in self.networks)


class OutboundGuard:
    def __init__(self, allowed: AllowedHosts, resolve: Resolve = resolve) -> None:
        self._allowed = allowed
        self._resolve = resolve

    async def addresses(self, host: str, port: int) -> tuple[str, ...]:
        """Where to connect to: resolved here, once, so that a second answer of the name's cannot lead elsewhere."""
        try:
            found = await self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise NotSent(f"The host {host} is not known: {error}") from None
        if not found:
            raise NotSent(f"The host {host} has no address.")
        if _plain(host) not in self._allowed.hosts:
            for text in found:
                self._check(host, text)
        return tuple(found)

    def _check(self, host: str, text: str) -> None:
        """One address that is not public is enough: which one is used is not left to chance."""
        address = ip_address(text.partition("%")[0])
        inner = _inner(address)
        named = self._allowed.covers(address) or self._allowed.covers(inner)
        if not named and not (_is_public(address) and _is_public(inner)):
            where = host if host.strip("[]") == text else f"{host} ({text})"
            raise NotSent(f"{where} is not a public address: {HOW}.", lasting=True)


def _inner(address: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address.sixtofour is not None:
            return address.sixtofour
        if address.teredo is not None:
            return address.teredo[1]
        if address in NAT64 or (int(address) >> 32 == 0 and int(address) > 1):  # the latter: an old way to write it
            return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return True  # what it stands for is looked at
    site_local = isinstance(address, IPv6Address) and address.is_site_local
    return address.is_global and not address.is_multicast and not site_local


def _plain(host: str) -> str:
    return host.strip().strip("[]").rstrip(".").lower()
