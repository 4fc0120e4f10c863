"""Resolve HTTP requests: a canonical URL and headers, the method, and the exact body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cairn.core.destinations import Destination, parse_url
from cairn.core.states import ActionEffect
from cairn.documents import canonical
from cairn.documents.pointers import child

DEFAULT_METHOD = "POST"
DEFAULT_TIMEOUT = 30
WITHOUT_BODY = frozenset({"GET", "HEAD"})
# Cairn and its HTTP client set these, or they would change what the request is.
RESERVED_HEADERS = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-length",
        "cookie",
        "cookie2",
        "expect",
        "host",
        "http2-settings",
        "idempotency-key",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "x-http-method",
        "x-http-method-override",
        "x-method-override",
    }
)
RESERVED_PREFIXES = ("proxy-",)


@dataclass(frozen=True, slots=True)
class ResolvedRequest:
    content: dict[str, Any]
    destination: Destination | None
    errors: list[tuple[str, str]]


def resolve_request(parameters: Mapping[str, Any]) -> ResolvedRequest:
    errors: list[tuple[str, str]] = []
    try:
        destination = parse_url(parameters["url"])
    except ValueError as error:
        errors.append(("/url", str(error)))
        destination = None
    method: str = parameters.get("method", DEFAULT_METHOD)
    body = {name: parameters[name] for name in ("json", "body") if name in parameters}
    if len(body) > 1:
        errors.append(("/body", "A request has either `json` or `body`, not both."))
    if body and method in WITHOUT_BODY:
        errors += ((f"/{name}", f"A {method} request has no body.") for name in body)
    headers: dict[str, str] = parameters.get("headers", {})
    errors += _header_errors(headers)
    canonical_headers = {name.lower(): value.strip(" \t") for name, value in headers.items()}
    if "json" in body:
        canonical_headers.setdefault("content-type", "application/json")
    elif "body" in body:
        canonical_headers.setdefault("content-type", "text/plain; charset=utf-8")
    content = {
        "method": method,
        "url": destination.url if destination is not None else parameters["url"],
        "headers": dict(sorted(canonical_headers.items())),
        **body,
        "timeout_seconds": parameters.get("timeout_seconds", DEFAULT_TIMEOUT),
    }
    return ResolvedRequest(content, destination, errors)


def _header_errors(headers: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for name in headers:
        path, lower = child("/headers", name), name.lower()
        if lower in RESERVED_HEADERS or lower.startswith(RESERVED_PREFIXES):
            yield path, f"You can't set the header {name}."
        if lower in seen:
            yield path, f"The header {name} is set more than once."
        seen.add(lower)


def effect_of(content: Mapping[str, Any]) -> ActionEffect:
    """GET and HEAD requests only send, because servers change nothing on them."""
    return ActionEffect.SENDS if content["method"] in WITHOUT_BODY else ActionEffect.CHANGES


def body_of(content: Mapping[str, Any]) -> bytes:
    """The body as it is sent. The keys of JSON objects are sorted, as in the digest."""
    return canonical(content["json"]) if "json" in content else str(content.get("body", "")).encode()
