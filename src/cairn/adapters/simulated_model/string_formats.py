"""Texts of the formats that JSON Schema names."""

from __future__ import annotations

from collections.abc import Iterator

_PAGE = "https://example.com/{word}{again}"
_FORMATS = {
    "date": "{day}",
    "time": "{time}",
    "date-time": "{day}T{time}",
    "duration": "P{number}D",
    "email": "{word}{again}@example.com",
    "idn-email": "{word}{again}@example.com",
    "hostname": "{word}{again}.example.com",
    "idn-hostname": "{word}{again}.example.com",
    "ipv4": "192.0.2.{number}",
    "ipv6": "2001:db8::{number:x}",
    "uri": _PAGE,
    "uri-reference": _PAGE,
    "iri": _PAGE,
    "iri-reference": _PAGE,
    "uri-template": "https://example.com/{word}{again}/{{id}}",
    "uuid": "{mixed:08x}-0000-4000-8000-{number:012x}",
    "json-pointer": "/{word}/{number}",
    "relative-json-pointer": "{number}/{word}",
    "regex": "^{word}{{{number}}}$",
}


def of_format(name: str, word: str, index: int) -> Iterator[str]:
    """Different ones, of which the first is the `index`-th. `word` has letters, digits and hyphens."""
    template = _FORMATS.get(name)
    if template is None:
        return
    for n in range(index, index + 40):
        yield template.format(
            word=word,
            number=n % 250 + 1,
            again=f"-{n}" if n else "",
            mixed=sum(map(ord, word)) * 65537 % 0xFFFFFFFF,
            day=f"2026-{3 + (9 + n) // 28 % 9:02}-{1 + (9 + n) % 28:02}",
            time=f"{9 + n % 9:02}:{n * 15 % 60:02}:00Z",
        )
