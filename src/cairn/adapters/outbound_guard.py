"""Restrict outgoing requests to public addresses and those that an admin has allowed."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from cairn.ports.outbound import NotSent
from cairn.ports.own_addresses import OwnAddresses, normalize

Address = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

NAT64 = IPv6Network("64:ff9b::/96")
HINT = "An admin can allow it with CAIRN_OUTBOUND_ALLOWED."


async def resolve(host: str, port: int) -> Sequence[str]:
    """Resolve with the system's resolver and keep its order."""
    addresses = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(address[0]) for *_, address in addresses))


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """Hosts and networks that requests may reach although they are not public."""

    hosts: frozenset[str] = frozenset()
    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def of(cls, names: Sequence[str]) -> AllowedHosts:
        hosts: set[str] = set()
        networks: list[IPv4Network | IPv6Network] = []
        for name in names:
            try:
                networks.append(ip_network(name.strip(), strict=False))
            except ValueError:
                hosts.add(normalize(name))
        return cls(frozenset(hosts), tuple(networks))

    def covers(self, address: Address) -> bool:
        return any(address in network for network in self.networks)


class OutboundGuard:
    def __init__(
        self, allowed: AllowedHosts, resolve: Resolve = resolve, *, own_addresses: OwnAddresses | None = None
    ) -> None:
        """Requests can't reach `own_addresses`, even if they are allowed."""
        self._allowed = allowed
        self._resolve = resolve
        self._own_addresses = own_addresses

    async def addresses(self, host: str, port: int) -> tuple[str, ...]:
        """The addresses to connect to. The name is resolved once, so that a later DNS answer can't point elsewhere."""
        if self._own_addresses is not None and self._own_addresses.has_name(host, port):
            raise _own_address(host, port)
        try:
            addresses = await self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise NotSent(f"Couldn't resolve the host {host}: {error}") from None
        if not addresses:
            raise NotSent(f"The host {host} has no address.")
        for text in addresses:
            self._check_own(host, port, text)
            if normalize(host) not in self._allowed.hosts:
                self._check(host, text)
        return tuple(addresses)

    def _check_own(self, host: str, port: int, text: str) -> None:
        if self._own_addresses is None:
            return
        address = ip_address(text.partition("%")[0])
        if any(self._own_addresses.has_address(a, port) for a in (address, _embedded_ipv4(address))):
            raise _own_address(host, port)

    def _check(self, host: str, text: str) -> None:
        """Raise if this address is neither public nor allowed. One such address rejects the host."""
        address = ip_address(text.partition("%")[0])
        embedded = _embedded_ipv4(address)
        is_allowed = self._allowed.covers(address) or self._allowed.covers(embedded)
        if not is_allowed and not (_is_public(address) and _is_public(embedded)):
            target = host if host.strip("[]") == text else f"{host} ({text})"
            raise NotSent(f"{target} is not a public address. {HINT}", is_permanent=True)


def _embedded_ipv4(address: Address) -> Address:
    """The IPv4 address that an IPv6 address embeds, otherwise the address itself."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address.sixtofour is not None:
            return address.sixtofour
        if address.teredo is not None:
            return address.teredo[1]
        if address in NAT64 or (int(address) >> 32 == 0 and int(address) > 1):  # the latter: IPv4-compatible addresses
            return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return True  # the embedded address is checked
    site_local = isinstance(address, IPv6Address) and address.is_site_local
    return address.is_global and not address.is_multicast and not site_local


def _own_address(host: str, port: int) -> NotSent:
    return NotSent(f"{host}:{port} is an address of Cairn itself.", is_permanent=True)
