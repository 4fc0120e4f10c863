"""Blocks for a Slack webhook. Every text is plain: Slack reads no mentions, links or marks in it."""

from __future__ import annotations

from typing import Any

from cairn.services.notifications.content import NotificationContent

MOST_FIELDS = 10  # of one section
LONGEST_HEADER, LONGEST_FIELD, LONGEST_TEXT = 150, 2000, 3000


def message(content: NotificationContent, base: str) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "header", "text": _plain(content.title, LONGEST_HEADER)}]
    if content.text:
        blocks.append({"type": "section", "text": _plain(content.text, LONGEST_TEXT)})
    fields = [_plain(f"{fact.name}\n{fact.value}", LONGEST_FIELD) for fact in content.facts]
    groups = [fields[start : start + MOST_FIELDS] for start in range(0, len(fields), MOST_FIELDS)]
    blocks += [{"type": "section", "fields": group} for group in groups]
    for section in content.sections:
        text = "\n".join((section.heading, *(f"• {line}" for line in section.lines)))
        blocks.append({"type": "section", "text": _plain(text, LONGEST_TEXT)})
    if content.links:
        buttons = [
            {"type": "button", "text": _plain(b.label, 75), "url": base + b.path, "action_id": f"open_{n}"}
            for n, b in enumerate(content.links)
        ]
        blocks.append({"type": "actions", "elements": buttons})
    return {"text": _escape(content.title), "blocks": blocks}


def _plain(text: str, most: int) -> dict[str, Any]:
    return {"type": "plain_text", "text": text[:most], "emoji": False}


def _escape(text: str) -> str:
    """What stands in the preview is read as Slack's own marks."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
