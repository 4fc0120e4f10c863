"""Format a notification as Slack blocks. All text is plain, so Slack interprets no mentions, links or markup."""

from __future__ import annotations

from typing import Any

from cairn.services.notifications.content import NotificationContent

MAX_SECTION_FIELDS = 10
MAX_HEADER, MAX_FIELD, MAX_TEXT, MAX_BUTTON = 150, 2000, 3000, 75


def message(content: NotificationContent, base_url: str) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "header", "text": _plain(content.title, MAX_HEADER)}]
    if content.text:
        blocks.append({"type": "section", "text": _plain(content.text, MAX_TEXT)})
    fields = [_plain(f"{fact.name}\n{fact.value}", MAX_FIELD) for fact in content.facts]
    groups = [fields[start : start + MAX_SECTION_FIELDS] for start in range(0, len(fields), MAX_SECTION_FIELDS)]
    blocks += [{"type": "section", "fields": group} for group in groups]
    for section in content.sections:
        text = "\n".join((section.heading, *(f"• {line}" for line in section.lines)))
        blocks.append({"type": "section", "text": _plain(text, MAX_TEXT)})
    if content.links:
        buttons = [
            {
                "type": "button",
                "text": _plain(link.label, MAX_BUTTON),
                "url": base_url + link.path,
                "action_id": f"open_{n}",
            }
            for n, link in enumerate(content.links)
        ]
        blocks.append({"type": "actions", "elements": buttons})
    return {"text": _escape(content.title), "blocks": blocks}


def _plain(text: str, max_length: int) -> dict[str, Any]:
    return {"type": "plain_text", "text": text[:max_length], "emoji": False}


def _escape(text: str) -> str:
    """Escape the preview text, which Slack reads as markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
