"""HTTP requests with httpx to allowed addresses. A redirect is checked like the original request, or not followed."""

from __future__ import annotations

import asyncio
import logging
import re
import ssl
from collections.abc import Mapping
from typing import Any

import httpx

from cairn.adapters.outbound_guard import OutboundGuard
from cairn.ports.outbound import DeliveryUnknown, HttpResponse, NotSent, OutboundError

for _name in ("httpx", "httpcore"):
    logging.getLogger(_name).setLevel(logging.WARNING)  # they log full URLs, which contain secrets

MAX_REDIRECTS = 5
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
RESERVED_HEADERS = frozenset({"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer"})
# Headers that a redirect to another host may carry.
CROSS_ORIGIN_HEADERS = frozenset({"accept", "accept-encoding", "content-type", "content-length", "user-agent", "host"})


class HttpxClient:
    def __init__(
        self,
        guard: OutboundGuard,
        *,
        agent: str = "Cairn",
        tls: ssl.SSLContext | None = None,
        follow_redirects: bool = True,
    ) -> None:
        """Without `follow_redirects`, a redirect is returned like any other response."""
        self._guard = guard
        self._follow_redirects = follow_redirects
        self._agent = agent
        self._tls = tls

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        timeout: float = 10.0,  # noqa: ASYNC109
        limit: int = 1_000_000,
    ) -> HttpResponse:
        request = _build_request(method, url, headers or {}, body)
        request.headers.setdefault("User-Agent", self._agent)
        request.extensions["seconds"] = timeout
        try:
            transport = _PinnedTransport(self._guard, await self._context())
            # Proxies and credentials from the environment would bypass the guard.
            async with httpx.AsyncClient(transport=transport, trust_env=False) as client:
                async with asyncio.timeout(timeout):
                    return await self._follow(client, request, limit)
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, OSError) as error:
            raise _outbound_error(request, error, timeout) from None

    async def _context(self) -> ssl.SSLContext:
        if self._tls is None:  # loading the trusted certificates is slow
            self._tls = await asyncio.to_thread(httpx.create_ssl_context, trust_env=False)
        return self._tls

    async def _follow(self, client: httpx.AsyncClient, original: httpx.Request, limit: int) -> HttpResponse:
        request = original
        for _ in range(MAX_REDIRECTS + 1):
            try:
                response = await client.send(request, stream=True)
            except OutboundError as error:
                # The original request was already processed, so after a redirect the outcome is unknown.
                raise (
                    error if request is original else DeliveryUnknown(str(error), is_permanent=error.is_permanent)
                ) from None
            try:
                next_request = response.next_request if self._follow_redirects else None
                if next_request is None:
                    body, is_complete = await _read_body(response, limit)
                    return HttpResponse(response.status_code, dict(response.headers.items()), body, is_complete)
            finally:
                await response.aclose()
            request = _redirect(request, next_request)
        raise DeliveryUnknown(f"{original.url.host} redirects more than {MAX_REDIRECTS} times.", is_permanent=True)


class _PinnedTransport(httpx.AsyncBaseTransport):
    """Connects to the address that was checked. The Host header and the certificate still use the URL's host name."""

    def __init__(self, guard: OutboundGuard, tls: ssl.SSLContext) -> None:
        self._guard = guard
        limits = httpx.Limits(max_keepalive_connections=0)  # connections must not be reused for another name
        self._inner = httpx.AsyncHTTPTransport(verify=tls, trust_env=False, limits=limits)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        addresses = await self._guard.addresses(
            url.raw_host.decode(), url.port or (443 if url.scheme == "https" else 80)
        )

        async def trace(name: str, _info: Any) -> None:
            if name == "http11.send_request_headers.started":
                request.extensions["sent"] = True

        # An address that does not answer must leave time to try the next one.
        connect_timeout = request.extensions["seconds"] / len(addresses)
        extensions = {
            **request.extensions,
            "sni_hostname": url.raw_host.decode(),
            "trace": trace,
            "timeout": {"connect": connect_timeout},
        }
        for n, address in enumerate(addresses):
            pinned = httpx.Request(
                request.method,
                url.copy_with(host=address),
                headers=request.headers,
                stream=request.stream,
                extensions=extensions,
            )
            try:
                return await self._inner.handle_async_request(pinned)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                if n + 1 == len(addresses):
                    raise
        raise AssertionError  # there is always an address

    async def aclose(self) -> None:
        await self._inner.aclose()


def _build_request(method: str, url: str, headers: Mapping[str, str], body: bytes) -> httpx.Request:
    for name, value in headers.items():
        if not TOKEN.fullmatch(name) or CONTROL_CHARACTERS.search(value) or not value.isascii():
            raise NotSent(f"The header {name!r} is invalid. Use printable ASCII only.", is_permanent=True)
        if name.lower() in RESERVED_HEADERS:
            raise NotSent(f"You can't set the header {name}. Cairn sets it itself.", is_permanent=True)
    if not TOKEN.fullmatch(method):
        raise NotSent(f"{method!r} is not an HTTP method.", is_permanent=True)
    try:
        request = httpx.Request(method.upper(), url, headers=dict(headers), content=body or None)
    except (httpx.InvalidURL, ValueError, TypeError) as error:
        raise NotSent(f"{url!r} is not a URL: {error}", is_permanent=True) from None
    _check_url(request.url)
    request.headers["Accept-Encoding"] = "identity"  # a compressed body could unpack to any size
    return request


def _check_url(url: httpx.URL) -> None:
    if url.scheme not in ("http", "https") or not url.host:
        raise NotSent(f"{str(url)!r} is not an http:// or https:// URL.", is_permanent=True)
    if not 0 < (url.port or 80) < 65536:
        raise NotSent(f"{str(url)!r} has an invalid port.", is_permanent=True)
    if url.userinfo:
        raise NotSent("A URL can't contain a password. Use a header.", is_permanent=True)


def _redirect(request: httpx.Request, next_request: httpx.Request) -> httpx.Request:
    """Check the redirect, and drop headers that another host must not see."""
    try:
        _check_url(next_request.url)
    except NotSent as error:
        raise DeliveryUnknown(str(error), is_permanent=True) from None
    if request.url.scheme == "https" and next_request.url.scheme == "http":
        raise DeliveryUnknown(f"{request.url.host} redirects from https to http.", is_permanent=True)
    if (request.url.host, request.url.port) != (next_request.url.host, next_request.url.port):
        for name in [name for name in next_request.headers if name.lower() not in CROSS_ORIGIN_HEADERS]:
            del next_request.headers[name]
    next_request.extensions.update(request.extensions)
    return next_request


async def _read_body(response: httpx.Response, limit: int) -> tuple[bytes, bool]:
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > limit:
            return bytes(body[:limit]), False
    return bytes(body), True


def _outbound_error(request: httpx.Request, error: Exception, timeout: float) -> OutboundError:
    host = request.url.host
    timed_out = isinstance(error, TimeoutError | httpx.TimeoutException)
    if "sent" not in request.extensions:
        detail = f" within {timeout:g} s" if timed_out else f": {error}"
        return NotSent(f"Couldn't reach {host}{detail}.")
    if timed_out:
        return DeliveryUnknown(f"{host} did not answer within {timeout:g} s.")
    return DeliveryUnknown(f"{host} closed the connection: {error or type(error).__name__}.")
