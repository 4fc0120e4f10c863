"""Middleware: known host names, security headers and unexpected errors."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cairn.api import problems

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; font-src 'self'; img-src 'self' data: blob:; "
    "style-src 'self' 'unsafe-inline'; "  # the component library sets style attributes
    "manifest-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
CONTENT_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
UNCOMPRESSED = (*DEFAULT_EXCLUDED_CONTENT_TYPES, "application/octet-stream")
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_LOOPBACK = frozenset({"localhost"})


class SecurityHeaders:
    """Adds security headers to every response, and responds to unexpected errors."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False
        is_api, is_encrypted = scope["path"].startswith("/api"), scope.get("scheme") == "https"

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                _add_security_headers(MutableHeaders(scope=message), is_api=is_api, is_encrypted=is_encrypted)
            await send(message)

        try:
            await self.app(scope, receive, send_with_headers)
        except Exception as error:
            if started:
                raise
            await problems.internal_error(error)(scope, receive, send_with_headers)


def _add_security_headers(headers: MutableHeaders, *, is_api: bool, is_encrypted: bool) -> None:
    for name, value in _HEADERS.items():
        headers.setdefault(name, value)
    headers.setdefault("Content-Security-Policy", PAGE_POLICY)
    if headers["Content-Security-Policy"] != CONTENT_POLICY:
        headers.setdefault("X-Frame-Options", "DENY")
    if is_encrypted:
        headers.setdefault("Strict-Transport-Security", "max-age=31536000")
    if is_api:
        headers.setdefault("Cache-Control", "no-store")


class KnownHosts:
    """Rejects unknown host names, so that other sites can't reach the server through DNS rebinding."""

    def __init__(self, app: ASGIApp, names: Iterable[str] = ()) -> None:
        self.app = app
        self.names = _LOOPBACK | {name.lower() for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            host = Headers(scope=scope).get("host", "")
            if not self.knows(host):
                detail = f"Unknown host name {host!r}. If it is this server's, add it to CAIRN_ALLOWED_HOSTS."
                await problems.to_response(problems.problem_of("misdirected-request", detail))(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def knows(self, host: str) -> bool:
        name = _without_port(host.lower())
        return "*" in self.names or name in self.names or _is_address(name)


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _is_address(name: str) -> bool:
    """Addresses are safe: unlike names, they can't be rebound."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
