"""Format a notification as an email with the same content in text and HTML. All text is escaped."""

from __future__ import annotations

from html import escape

from cairn.ports import Mail
from cairn.services.notifications.content import NotificationContent
from cairn.services.text import single_line

COLOURS = {"good": "#1f7a4d", "warning": "#8a6100", "attention": "#b3261e"}
HEADERS = {"Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All"}
MAX_SUBJECT = 150


def message(content: NotificationContent, base_url: str, to: str) -> Mail:
    subject = single_line(f"[Cairn] {content.title}", MAX_SUBJECT)
    return Mail((to,), subject, text(content, base_url), html=html(content, base_url), headers=HEADERS)


def text(content: NotificationContent, base_url: str) -> str:
    parts = [content.title]
    if content.text:
        parts.append(content.text)
    if content.facts:
        parts.append("\n".join(f"{fact.name}: {fact.value}" for fact in content.facts))
    parts += ["\n".join((f"{s.heading}:", *(f"  - {line}" for line in s.lines))) for s in content.sections]
    if content.links:
        parts.append("\n".join(f"{link.label}: {base_url}{link.path}" for link in content.links))
    return "\n\n".join(parts) + "\n"


def html(content: NotificationContent, base_url: str) -> str:
    colour = COLOURS[content.tone]
    parts = [f'<h1 style="font-size:18px;color:{colour}">{escape(content.title)}</h1>']
    if content.text:
        parts.append(f"<p>{escape(content.text)}</p>")
    if content.facts:
        rows = "".join(
            f'<tr><th align="left" style="padding:2px 12px 2px 0">{escape(fact.name)}</th>'
            f"<td>{escape(fact.value)}</td></tr>"
            for fact in content.facts
        )
        parts.append(f'<table role="presentation">{rows}</table>')
    for section in content.sections:
        lines = "".join(f"<li>{escape(line)}</li>" for line in section.lines)
        parts.append(f'<h2 style="font-size:15px">{escape(section.heading)}</h2><ul>{lines}</ul>')
    if content.links:
        links = " &middot; ".join(
            f'<a href="{escape(base_url + link.path)}">{escape(link.label)}</a>' for link in content.links
        )
        parts.append(f"<p>{links}</p>")
    body = f'<body style="font-family:sans-serif;font-size:14px">\n{chr(10).join(parts)}\n</body>'
    return f'<!doctype html>\n<html lang="en">{body}</html>'
