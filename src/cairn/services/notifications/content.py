"""The content of a notification as plain text, before it is formatted for a channel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, TypeAlias

MAX_SECTION_LINES = 12

Tone: TypeAlias = Literal["good", "warning", "attention"]


@dataclass(frozen=True, slots=True)
class ContentFact:
    name: str
    value: str
    is_detail: bool = False  # not sent to channels without `include_details`


@dataclass(frozen=True, slots=True)
class ContentSection:
    """Lines below a heading. Sections are always details."""

    heading: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContentLink:
    """Opens a page. Opening a link never decides anything."""

    label: str
    path: str  # relative to the base URL


@dataclass(frozen=True, slots=True)
class NotificationContent:
    kind: str
    tone: Tone
    title: str
    text: str
    facts: tuple[ContentFact, ...] = ()
    sections: tuple[ContentSection, ...] = ()
    links: tuple[ContentLink, ...] = ()
    subject: Mapping[str, Any] = field(default_factory=dict[str, Any])  # ids and statuses for webhook receivers
    brief_title: str = ""  # for channels without `include_details`, if the title has details

    def without_details(self) -> NotificationContent:
        facts = tuple(fact for fact in self.facts if not fact.is_detail)
        return replace(self, title=self.brief_title or self.title, facts=facts, sections=())

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(stored: Mapping[str, Any]) -> NotificationContent:
        parts: dict[str, Any] = {
            "facts": tuple(ContentFact(**fact) for fact in stored["facts"]),
            "sections": tuple(ContentSection(s["heading"], tuple(s["lines"])) for s in stored["sections"]),
            "links": tuple(ContentLink(**link) for link in stored["links"]),
        }
        return NotificationContent(**{**stored, **parts})
