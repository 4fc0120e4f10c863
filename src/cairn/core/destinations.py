"""Where requests and emails go: canonical URLs and email addresses, and the hosts that they are limited to."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import NamedTuple
from urllib.parse import SplitResult, quote, unquote_to_bytes, urlsplit

DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_URL = 4000  # characters
MAX_HOST = 253
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMERIC = re.compile(r"[0-9]+|0x[0-9a-f]*")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_SAFE_IN_PATH = "-._~!$&'()*+,;=:@/"
_SAFE_IN_QUERY = _SAFE_IN_PATH + "?"
_LOCAL_PART = re.compile(r"[^\s\x00-\x1f\x7f,;:<>()\[\]@\"\\]{1,64}")
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})


class Destination(NamedTuple):
    """A URL in its canonical spelling, with the parts that rules and limits use."""

    url: str
    scheme: str
    host: str  # ASCII
    port: int
    path: str

    @property
    def origin(self) -> str:
        return _origin(self.scheme, self.host, self.port)


def parse_url(text: str) -> Destination:
    """The canonical spelling of an HTTP URL, as it is sent. Raises ValueError."""
    if len(text) > MAX_URL:
        raise ValueError(f"The URL has more than {MAX_URL} characters.")
    if any(unicodedata.category(c) in _INVISIBLE for c in text) or "\\" in text:
        raise ValueError("The URL contains a space, a backslash or an invisible character.")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ValueError("The URL is invalid.") from None
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
        raise ValueError("The URL must start with http:// or https://, followed by a host.")
    if "@" in parts.netloc:
        raise ValueError("The URL must not contain a user name or a password. Use a header with a secret.")
    if port == 0:
        raise ValueError("The URL has an invalid port.")
    host = ascii_host(_host(parts))
    port = port or DEFAULT_PORTS[parts.scheme]
    path = _path(parts.path)
    query = f"?{_escaped(parts.query, _SAFE_IN_QUERY)}" if parts.query else ""
    return Destination(_origin(parts.scheme, host, port) + path + query, parts.scheme, host, port, path)


def _host(parts: SplitResult) -> str:
    """The host as it is written. `SplitResult.hostname` accepts text after the brackets of an address."""
    host = parts.netloc
    if host.startswith("["):
        end = host.find("]")
        if end < 0 or host[end + 1 : end + 2] not in ("", ":"):
            raise ValueError("The URL is invalid.")
        return host[: end + 1]
    return host.partition(":")[0]


def ascii_host(host: str) -> str:
    """A host name in lower case and ASCII, or an address in its usual spelling. Raises ValueError."""
    invalid = ValueError(f"{host[:100]!r} is not a valid host.")
    if "%" in host or any(unicodedata.category(c) in _INVISIBLE for c in host):
        raise invalid
    if host.startswith("["):
        try:
            return f"[{IPv6Address(host[1:-1]).compressed}]"
        except ValueError:
            raise invalid from None
    try:
        name = host.encode("idna").decode() if not host.isascii() else host
    except UnicodeError:
        raise invalid from None
    name = name.lower().removesuffix(".")
    labels = name.split(".")
    if _NUMERIC.fullmatch(labels[-1]):  # resolvers read such names as addresses, some in unusual spellings
        try:
            return str(IPv4Address(name))
        except ValueError:
            raise invalid from None
    if len(name) > MAX_HOST or not all(_LABEL.fullmatch(label) for label in labels):
        raise invalid
    return name


def _origin(scheme: str, host: str, port: int) -> str:
    return f"{scheme}://{host}" if port == DEFAULT_PORTS[scheme] else f"{scheme}://{host}:{port}"


def _path(path: str) -> str:
    segments: list[str] = []
    *folders, last = _escaped(path, _SAFE_IN_PATH).split("/")[1:] or [""]
    for segment in folders:
        _enter(segments, segment)
    if last in (".", ".."):
        _enter(segments, last)
        last = ""
    return "/" + "/".join((*segments, last))


def _enter(segments: list[str], segment: str) -> None:
    if segment == "..":
        del segments[-1:]
    elif segment != ".":
        segments.append(segment)


def _escaped(text: str, safe: str) -> str:
    """Each character as itself or as an escape, never in more than one way."""
    parts: list[str] = []
    end = 0
    for match in _ESCAPE.finditer(text):
        parts.append(quote(text[end : match.start()], safe=safe))
        byte = unquote_to_bytes(match[0])
        parts.append(byte.decode() if byte[0] in _UNRESERVED else match[0].upper())
        end = match.end()
    parts.append(quote(text[end:], safe=safe))
    return "".join(parts)


def parse_email(text: str) -> str:
    """A plain email address with its domain in lower case and ASCII. Raises ValueError."""
    local, at, domain = text.rpartition("@")
    if not at or not _LOCAL_PART.fullmatch(local) or any(unicodedata.category(c) in _INVISIBLE for c in local):
        raise ValueError(f"{text[:100]!r} is not a plain email address.")
    host = ascii_host(domain)
    if _is_address(host):
        raise ValueError(f"{text[:100]!r} has no domain name.")
    return f"{local}@{host}"


def _is_address(host: str) -> bool:
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class HostPattern:
    """A host that may be used: `api.example.com`, `*.example.com`, `http://intranet:8080`. Without scheme: https."""

    scheme: str
    host: str  # with a leading "*." for all names below it
    port: int

    @classmethod
    def parse(cls, text: str) -> HostPattern:
        """Raises ValueError."""
        scheme, separator, rest = text.strip().rpartition("://")
        scheme = scheme.lower() if separator else "https"
        is_wildcard = rest.startswith("*.")
        try:
            found = None if set(rest) & set("/?#@") else parse_url(f"{scheme}://{rest.removeprefix('*.')}")
        except ValueError:
            found = None
        if found is None or (is_wildcard and _is_address(found.host)):
            raise ValueError(
                f"{text[:100]!r} is not a host. Examples: api.example.com, *.example.com, http://intranet."
            )
        return cls(found.scheme, f"*.{found.host}" if is_wildcard else found.host, found.port)

    def __str__(self) -> str:
        return _origin(self.scheme, self.host, self.port).removeprefix("https://")

    def covers(self, destination: Destination) -> bool:
        return (self.scheme, self.port) == (destination.scheme, destination.port) and self.covers_host(destination.host)

    def covers_host(self, host: str) -> bool:
        return host.endswith(self.host[1:]) if self.host.startswith("*.") else host == self.host


def is_covered(patterns: Iterable[str], destination: Destination) -> bool:
    return any(HostPattern.parse(pattern).covers(destination) for pattern in patterns)


def is_host_covered(patterns: Iterable[str], host: str) -> bool:
    """Whether a host is covered, whatever its scheme and port: the domain of an email address."""
    return any(HostPattern.parse(pattern).covers_host(host) for pattern in patterns)


def common_hosts(left: Iterable[str], right: Iterable[str]) -> tuple[str, ...]:
    """The hosts that both lists cover."""
    lefts, rights = ([HostPattern.parse(text) for text in patterns] for patterns in (left, right))
    both = [p for p in rights if any(_includes(q, p) for q in lefts)]
    both += [p for p in lefts if any(_includes(q, p) for q in rights)]
    return tuple(dict.fromkeys(map(str, both)))


def _includes(wide: HostPattern, narrow: HostPattern) -> bool:
    return (wide.scheme, wide.port) == (narrow.scheme, narrow.port) and (
        wide.host == narrow.host or wide.covers_host(narrow.host.removeprefix("*"))
    )
