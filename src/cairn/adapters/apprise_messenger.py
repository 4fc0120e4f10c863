"""Short texts through apprise, for services that Cairn does not know itself."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, cast

from cairn.adapters.outbound_guard import OutboundGuard
from cairn.ports.outbound import DeliveryUnknown, NotSent

SECONDS = 30.0
# What stays on this machine, reads files, or has a channel of its own with more care taken.
REFUSED = frozenset(
    {"syslog", "rsyslog", "dbus", "kde", "qt", "glib", "gnome", "windows", "macosx", "file", "mailto", "mailtos"}
    | {"json", "jsons", "xml", "xmls", "form", "forms", "apprise", "apprises", "irc", "ircs", "amqp", "amqps"}
)


class AppriseMessenger:
    def __init__(self, guard: OutboundGuard) -> None:
        self._guard = guard

    def check(self, address: str) -> str:
        plugin = _plugin(address)
        return str(plugin.service_name)

    async def send(self, address: str, title: str, text: str) -> None:
        plugin = await asyncio.to_thread(_plugin, address)
        if host := _host(plugin):
            await self._check(host, plugin.port or 443)
        try:
            async with asyncio.timeout(SECONDS):
                taken = await asyncio.to_thread(plugin.notify, body=text, title=title)
        except TimeoutError:
            raise DeliveryUnknown(f"{plugin.service_name} did not answer within {SECONDS:g} s.") from None
        except Exception as error:  # a plugin is code of anybody's
            raise DeliveryUnknown(f"{plugin.service_name} broke off: {type(error).__name__}.") from error
        if not taken:
            raise NotSent(f"{plugin.service_name} did not take it.")

    async def _check(self, host: str, port: int) -> None:
        """Some services call a domain a host that nothing is sent to: it need not be there."""
        try:
            await self._guard.addresses(host, port)
        except NotSent as fault:
            if fault.lasting:
                raise


def _plugin(address: str) -> Any:
    import apprise  # knows a hundred services

    for name in ("apprise", "urllib3", "requests"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # they log what is sent, and where to
    schema = address.partition("://")[0].lower()
    if schema in REFUSED:
        raise NotSent(f"{schema}:// cannot be used here: take a webhook or an e-mail channel.", lasting=True)
    # Neither redirects nor files of the machine's lead round the guard.
    asset = apprise.AppriseAsset(async_mode=False, http_redirects=False, allow_templates=False)
    plugin = cast("Any", apprise.Apprise).instantiate(address, asset=asset, suppress_exceptions=True)
    if plugin is None:
        raise NotSent("This is no address of a service that apprise knows.", lasting=True)
    return plugin


def _host(plugin: Any) -> str | None:
    """Where the address itself names a host; other services have theirs built in."""
    names = any("{host}" in template for template in cast("tuple[str, ...]", plugin.templates))
    return plugin.host if names and getattr(plugin, "mode", None) != "cloud" else None
