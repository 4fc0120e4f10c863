"""Send short messages through apprise to services that Cairn does not support itself."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, cast

from cairn.adapters.outbound_guard import OutboundGuard
from cairn.ports.outbound import DeliveryUnknown, NotSent

TIMEOUT_SECONDS = 30.0
# These write to this machine, read files, or are covered by another channel type with stricter checks.
REJECTED_SCHEMAS = frozenset(
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
        if host := _host_in_url(plugin):
            await self._check(host, plugin.port or 443)
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                accepted = await asyncio.to_thread(plugin.notify, body=text, title=title)
        except TimeoutError:
            raise DeliveryUnknown(f"{plugin.service_name} did not answer within {TIMEOUT_SECONDS:g} s.") from None
        except Exception as error:  # a plugin is third-party code
            raise DeliveryUnknown(f"{plugin.service_name} failed: {type(error).__name__}.") from error
        if not accepted:
            raise NotSent(f"{plugin.service_name} did not accept the message.")

    async def _check(self, host: str, port: int) -> None:
        """Raise only if the host is not allowed. Some services use a name here that does not resolve."""
        try:
            await self._guard.addresses(host, port)
        except NotSent as error:
            if error.is_permanent:
                raise


def _plugin(address: str) -> Any:
    import apprise  # slow to import, because it supports a hundred services

    for name in ("apprise", "urllib3", "requests"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # they log messages and addresses, which contain secrets
    schema = address.partition("://")[0].lower()
    if schema in REJECTED_SCHEMAS:
        raise NotSent(f"{schema}:// is not supported. Use a webhook or an email channel.", is_permanent=True)
    # Redirects and local files would bypass the guard.
    asset = apprise.AppriseAsset(async_mode=False, http_redirects=False, allow_templates=False)
    plugin = cast("Any", apprise.Apprise).instantiate(address, asset=asset, suppress_exceptions=True)
    if plugin is None:
        raise NotSent("This is not an address of a service that apprise supports.", is_permanent=True)
    return plugin


def _host_in_url(plugin: Any) -> str | None:
    """The host, if the address contains one. Other services use a fixed host."""
    has_host = any("{host}" in template for template in cast("tuple[str, ...]", plugin.templates))
    return plugin.host if has_host and getattr(plugin, "mode", None) != "cloud" else None
