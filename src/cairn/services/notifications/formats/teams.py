"""Format a notification as an Adaptive Card 1.5 in the envelope that a Teams workflow expects."""

from __future__ import annotations

import re
from typing import Any

from cairn.services.notifications.content import ContentSection, NotificationContent

STYLES = {"good": "good", "warning": "warning", "attention": "attention"}
MARKUP = re.compile(r"([\\`*_\[\]()#<>~|!])")
LIST_MARKER = re.compile(r"^(\d*)([-+.])(?=\s)")


def message(content: NotificationContent, base_url: str) -> dict[str, Any]:
    return {
        "type": "message",
        "attachments": [
            {
                "contentType": "application/vnd.microsoft.card.adaptive",
                "contentUrl": None,
                "content": card(content, base_url),
            }
        ],
    }


def card(content: NotificationContent, base_url: str) -> dict[str, Any]:
    body: list[dict[str, Any]] = [
        {
            "type": "Container",
            "style": STYLES[content.tone],
            "bleed": True,
            "items": [
                {
                    "type": "TextBlock",
                    "text": escape(content.title),
                    "weight": "bolder",
                    "size": "large",
                    "wrap": True,
                    "style": "heading",
                }
            ],
        }
    ]
    if content.text:
        body.append({"type": "TextBlock", "text": escape(content.text), "wrap": True})
    if content.facts:
        facts = [{"title": escape(fact.name), "value": escape(fact.value)} for fact in content.facts]
        body.append({"type": "FactSet", "facts": facts})
    for section in content.sections:
        body += _section(section)
    return {
        "type": "AdaptiveCard",
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "version": "1.5",
        "fallbackText": escape(content.title),
        "msteams": {"width": "Full"},
        "body": body,
        "actions": [
            {"type": "Action.OpenUrl", "title": link.label, "url": base_url + link.path} for link in content.links
        ],
    }


def _section(section: ContentSection) -> list[dict[str, Any]]:
    heading = {
        "type": "TextBlock",
        "text": escape(section.heading),
        "weight": "bolder",
        "spacing": "medium",
        "wrap": True,
    }
    lines = [{"type": "TextBlock", "text": escape(line), "wrap": True, "spacing": "small"} for line in section.lines]
    return [heading, *lines]


def escape(text: str) -> str:
    """Prevent Markdown, card functions and card templates in the text from being interpreted."""
    text = MARKUP.sub(r"\\\1", text)
    text = LIST_MARKER.sub(r"\1\\\2", text)
    return text.replace("{{", "{\u200b{").replace("${", "$\u200b{")
