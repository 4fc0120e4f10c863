"""What is told, before it becomes a card, a mail or a text: plain texts alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, TypeAlias

MOST_LINES = 12  # of one section

Tone: TypeAlias = Literal["good", "warning", "attention"]


@dataclass(frozen=True, slots=True)
class ContentFact:
    name: str
    value: str
    is_detail: bool = False  # left out where a channel shows no details


@dataclass(frozen=True, slots=True)
class ContentSection:
    """Lines below a heading; all of them are details."""

    heading: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContentLink:
    """Opens a page; nothing is decided by opening it."""

    label: str
    path: str  # below the server's address


@dataclass(frozen=True, slots=True)
class NotificationContent:
    kind: str
    tone: Tone
    title: str
    text: str
    facts: tuple[ContentFact, ...] = ()
    sections: tuple[ContentSection, ...] = ()
    links: tuple[ContentLink, ...] = ()
    subject: Mapping[str, Any] = field(default_factory=dict[str, Any])  # ids and words, for programs

    @property
    def plain(self) -> NotificationContent:
        """Without details."""
        return replace(self, facts=tuple(f for f in self.facts if not f.is_detail), sections=())


def write(content: NotificationContent) -> dict[str, Any]:
    return asdict(content)


def read(stored: Mapping[str, Any]) -> NotificationContent:
    parts: dict[str, Any] = {
        "facts": tuple(ContentFact(**one) for one in stored["facts"]),
        "sections": tuple(ContentSection(one["heading"], tuple(one["lines"])) for one in stored["sections"]),
        "links": tuple(ContentLink(**one) for one in stored["links"]),
    }
    return NotificationContent(**{**stored, **parts})
