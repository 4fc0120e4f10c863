"""Example strings for the formats of JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator

_PAGE = "https://example.com/{word}{suffix}"
_FORMATS = {
    "date": "{day}",
    "time": "{time}",
    "date-time": "{day}T{time}",
    "duration": "P{number}D",
    "email": "{word}{suffix}@example.com",
    "idn-email": "{word}{suffix}@example.com",
    "hostname": "{word}{suffix}.example.com",
    "idn-hostname": "{word}{suffix}.example.com",
    "ipv4": "192.0.2.{number}",
    "ipv6": "2001:db8::{number:x}",
    "uri": _PAGE,
    "uri-reference": _PAGE,
    "iri": _PAGE,
    "iri-reference": _PAGE,
    "uri-template": "https://example.com/{word}{suffix}/{{id}}",
    "uuid": "{hash:08x}-0000-4000-8000-{number:012x}",
    "json-pointer": "/{word}/{number}",
    "relative-json-pointer": "{number}/{word}",
    "regex": "^{word}{{{number}}}$",
}


def formatted_strings(format_name: str, word: str, index: int) -> Iterator[str]:
    """Distinct strings, starting at `index`. `word` consists of letters, digits and hyphens."""
    template = _FORMATS.get(format_name)
    if template is None:
        return
    for n in range(index, index + 40):
        yield template.format(
            word=word,
            number=n % 250 + 1,
            suffix=f"-{n}" if n else "",
            hash=sum(map(ord, word)) * 65537 % 0xFFFFFFFF,
            day=f"2026-{3 + (9 + n) // 28 % 9:02}-{1 + (9 + n) % 28:02}",
            time=f"{9 + n % 9:02}:{n * 15 % 60:02}:00Z",
        )
