"""Requests by httpx, to where they may go; redirects are followed one by one, each looked at again."""

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
    logging.getLogger(_name).setLevel(logging.WARNING)  # they log addresses whole, and these hold secrets

MOST_REDIRECTS = 5
NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
UNFIT = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer"})
KEPT_ELSEWHERE = frozenset({"accept", "accept-encoding", "content-type", "content-length", "user-agent", "host"})


class HttpxWeb:
    def __init__(self, guard: OutboundGuard, *, agent: str = "Cairn", tls: ssl.SSLContext | None = None) -> None:
        self._guard = guard
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
        request = _made(method, url, headers or {}, body)
        request.headers.setdefault("User-Agent", self._agent)
        request.extensions["seconds"] = timeout
        try:
            transport = _Pinned(self._guard, await self._context())
            # Proxies and passwords of the environment would lead round the guard.
            async with httpx.AsyncClient(transport=transport, trust_env=False) as client:
                async with asyncio.timeout(timeout):
                    return await self._follow(client, request, limit)
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, OSError) as error:
            raise _fault(request, error, timeout) from None

    async def _context(self) -> ssl.SSLContext:
        if self._tls is None:  # reading all that is trusted takes a moment
            self._tls = await asyncio.to_thread(httpx.create_ssl_context, trust_env=False)
        return self._tls

    async def _follow(self, client: httpx.AsyncClient, first: httpx.Request, limit: int) -> HttpResponse:
        request = first
        for _ in range(MOST_REDIRECTS + 1):
            try:
                response = await client.send(request, stream=True)
            except OutboundError as fault:
                # What comes before a redirect has been done, whatever comes of the rest.
                raise (fault if request is first else DeliveryUnknown(str(fault), lasting=fault.lasting)) from None
            try:
                following = response.next_request
                if following is None:
                    body, is_whole = await _read(response, limit)
                    return HttpResponse(response.status_code, dict(response.headers.items()), body, is_whole)
            finally:
                await response.aclose()
            request = _elsewhere(request, following)
        raise DeliveryUnknown(f"{first.url.host} redirects more than {MOST_REDIRECTS} times.", lasting=True)


class _Pinned(httpx.AsyncBaseTransport):
    """Connects to the address that was looked at; host name and certificate stay those of the name."""

    def __init__(self, guard: OutboundGuard, tls: ssl.SSLContext) -> None:
        self._guard = guard
        limits = httpx.Limits(max_keepalive_connections=0)  # one address may serve many names
        self._inner = httpx.AsyncHTTPTransport(verify=tls, trust_env=False, limits=limits)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        addresses = await self._guard.addresses(
            url.raw_host.decode(), url.port or (443 if url.scheme == "https" else 80)
        )

        async def trace(name: str, _info: Any) -> None:
            if name == "http11.send_request_headers.started":
                request.extensions["begun"] = True

        share = request.extensions["seconds"] / len(addresses)  # one that is silent leaves time for the next
        extensions = {
            **request.extensions,
            "sni_hostname": url.raw_host.decode(),
            "trace": trace,
            "timeout": {"connect": share},
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
        raise AssertionError  # there is an address

    async def aclose(self) -> None:
        await self._inner.aclose()


def _made(method: str, url: str, headers: Mapping[str, str], body: bytes) -> httpx.Request:
    for name, value in headers.items():
        if not NAME.fullmatch(name) or UNFIT.search(value) or not value.isascii():
            raise NotSent(f"The header {name!r} cannot be sent: it may have printable ASCII alone.", lasting=True)
        if name.lower() in OURS:
            raise NotSent(f"The header {name} is set by Cairn itself.", lasting=True)
    if not NAME.fullmatch(method):
        raise NotSent(f"{method!r} is not a method.", lasting=True)
    try:
        request = httpx.Request(method.upper(), url, headers=dict(headers), content=body or None)
    except (httpx.InvalidURL, ValueError, TypeError) as error:
        raise NotSent(f"{url!r} is not an address: {error}", lasting=True) from None
    _check(request.url)
    request.headers["Accept-Encoding"] = "identity"  # what is unpacked could be of any size
    return request


def _check(url: httpx.URL) -> None:
    if url.scheme not in ("http", "https") or not url.host:
        raise NotSent(f"{str(url)!r} is not an address that starts with http:// or https://.", lasting=True)
    if not 0 < (url.port or 80) < 65536:
        raise NotSent(f"{str(url)!r} names a port that does not exist.", lasting=True)
    if url.userinfo:
        raise NotSent("An address may not hold a password: put it into a header.", lasting=True)


def _elsewhere(request: httpx.Request, following: httpx.Request) -> httpx.Request:
    """What was meant for one server is not told to another."""
    try:
        _check(following.url)
    except NotSent as fault:
        raise DeliveryUnknown(str(fault), lasting=True) from None
    if request.url.scheme == "https" and following.url.scheme == "http":
        raise DeliveryUnknown(f"{request.url.host} redirects to an address without encryption.", lasting=True)
    if (request.url.host, request.url.port) != (following.url.host, following.url.port):
        for name in [name for name in following.headers if name.lower() not in KEPT_ELSEWHERE]:
            del following.headers[name]
    following.extensions.update(request.extensions)
    return following


async def _read(response: httpx.Response, limit: int) -> tuple[bytes, bool]:
    body = bytearray()
    async for piece in response.aiter_raw():
        body += piece
        if len(body) > limit:
            return bytes(body[:limit]), False
    return bytes(body), True


def _fault(request: httpx.Request, error: Exception, timeout: float) -> OutboundError:
    host = request.url.host
    late = isinstance(error, TimeoutError | httpx.TimeoutException)
    if "begun" not in request.extensions:
        what = f"within {timeout:g} s" if late else f": {error}"
        return NotSent(f"{host} cannot be reached{' ' if late else ''}{what}.")
    if late:
        return DeliveryUnknown(f"{host} did not answer within {timeout:g} s.")
    return DeliveryUnknown(f"{host} broke off: {error or type(error).__name__}.")
