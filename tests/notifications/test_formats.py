"""The formats of each channel kind: valid by their schemas, with all text as plain text."""

from __future__ import annotations

import hmac
import re
from datetime import UTC, datetime
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from cairn.services.notifications.content import (
    ContentFact,
    ContentLink,
    ContentSection,
    NotificationContent,
)
from cairn.services.notifications.formats import email, slack, teams, webhook
from cairn.services.text import single_line
from tests.notifications.payload_schemas import schema_errors

BASE = "https://cairn.example.com"
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ID = "0198c2a4-5b6c-4d8e-9f01-23456789abcd"
CONTENT = NotificationContent(
    "approval_requested",
    "warning",
    "An action of Send Email needs approval",
    "Please decide.",
    (
        ContentFact("Pipeline", "CS - Send Refund Email"),
        ContentFact("Risk", "HIGH"),
        ContentFact("Error", "boom", is_detail=True),
    ),
    (ContentSection("Proposed action", ("to: j***@example.com", "amount: 99.99")),),
    (ContentLink("Review and decide", "/approvals/1?a=b&c=d"),),
    {"approval_id": "1"},
)


def test_a_card_has_style_facts_and_actions() -> None:
    sent = teams.message(CONTENT, BASE)
    assert schema_errors("teams", sent) == []
    card = sent["attachments"][0]["content"]
    assert card["body"][0]["style"] == "warning"
    assert card["body"][2] == {
        "type": "FactSet",
        "facts": [
            {"title": "Pipeline", "value": "CS - Send Refund Email"},
            {"title": "Risk", "value": "HIGH"},
            {"title": "Error", "value": "boom"},
        ],
    }
    assert card["actions"] == [
        {"type": "Action.OpenUrl", "title": "Review and decide", "url": f"{BASE}/approvals/1?a=b&c=d"}
    ]


def test_slack_blocks_are_plain_text() -> None:
    sent = slack.message(CONTENT, BASE)
    assert schema_errors("slack", sent) == []
    assert [block["type"] for block in sent["blocks"]] == ["header", "section", "section", "section", "actions"]


def test_many_facts_are_split_into_sections() -> None:
    many = NotificationContent("test", "good", "t", "", tuple(ContentFact(f"n{n}", "v") for n in range(23)))
    assert schema_errors("slack", slack.message(many, BASE)) == []


def test_a_webhook_signature_covers_the_time_and_the_body() -> None:
    assert schema_errors("webhook", webhook.body(CONTENT, BASE, ID, NOW)) == []
    signature = webhook.signature("k" * 32, NOW, b'{"x":1}')
    digest = hmac.new(b"k" * 32, b'1772366400.{"x":1}', sha256).hexdigest()
    assert signature == f"t=1772366400,v1={digest}"


def test_an_email_has_the_same_content_in_text_and_html() -> None:
    mail = email.message(CONTENT, BASE, "reviewer@example.com")
    assert (mail.to, mail.subject) == (
        ("reviewer@example.com",),
        "[Cairn] An action of Send Email needs approval",
    )
    assert mail.text == (
        "An action of Send Email needs approval\n\nPlease decide.\n\n"
        "Pipeline: CS - Send Refund Email\nRisk: HIGH\nError: boom\n\n"
        "Proposed action:\n  - to: j***@example.com\n  - amount: 99.99\n\n"
        f"Review and decide: {BASE}/approvals/1?a=b&c=d\n"
    )
    assert mail.html is not None
    assert f'<a href="{BASE}/approvals/1?a=b&amp;c=d">Review and decide</a>' in mail.html


def test_without_details_only_key_facts_and_links_remain() -> None:
    plain = CONTENT.without_details()
    assert (plain.facts, plain.sections) == (CONTENT.facts[:2], ())
    assert plain.links == CONTENT.links


def test_content_survives_storage_unchanged() -> None:
    assert NotificationContent.from_json(CONTENT.to_json()) == CONTENT


# Hostile text
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</td></table><h1>big</h1>",
    "[click](https://evil.example)",
    "![x](https://evil.example/x.png)",
    "**bold** _it_ `code` # head ~~no~~",
    "<https://evil.example|click> <!channel> <@U1> &amp;",
    "*bold* _it_ :smile:",
    "{{DATE(2017-02-14T06:00:00Z,SHORT)}} ${title} {{7*7}} {% raw %}",
    "first\r\nBcc: other@example.com\r\n\r\nbody",
    "a\u202eb\u2066c\0d\x1b[31m",
    "half \ud800 of one",
    "- item",
    "1. item",
]


def hostile(text: str) -> NotificationContent:
    line = single_line(text)
    return NotificationContent(
        "test",
        "attention",
        line,
        line,
        (ContentFact(line, line),),
        (ContentSection(line, (line,)),),
        (ContentLink("Open", "/runs/1"),),
        {"run_id": line},
    )


class TagCollector(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("text", HOSTILE)
def test_html_stays_text_in_an_email(text: str) -> None:
    mail = email.message(hostile(text), BASE, "reviewer@example.com")
    assert mail.html is not None
    parser = TagCollector()
    parser.feed(mail.html)
    assert parser.tags == ["html", "body", "h1", "p", "table", "tr", "th", "td", "h2", "ul", "li", "p", "a"]
    assert parser.texts.count(single_line(text)) == 6
    assert "\n" not in mail.subject
    assert "\r" not in mail.subject


@pytest.mark.parametrize("text", HOSTILE)
def test_markup_stays_text_in_a_card(text: str) -> None:
    sent = teams.message(hostile(text), BASE)
    assert schema_errors("teams", sent) == []
    shown = sent["attachments"][0]["content"]["body"][1]["text"]
    assert unescaped(shown) == single_line(text)
    plain = shown.replace("\\\\", "")
    for character in "`*_[]()#<>~|!":
        assert plain.count(character) == plain.count("\\" + character)
    assert "{{" not in shown
    assert "${" not in shown
    assert not shown.startswith(("- ", "1. "))


def unescaped(shown: str) -> str:
    """The text as a Markdown renderer shows it."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", shown.replace("\u200b", ""))


@pytest.mark.parametrize("text", HOSTILE)
def test_markup_and_mentions_stay_text_in_slack_blocks(text: str) -> None:
    sent = slack.message(hostile(text), BASE)
    assert schema_errors("slack", sent) == []
    assert sent["blocks"][1]["text"] == {"type": "plain_text", "text": single_line(text), "emoji": False}
    assert "<" not in sent["text"]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_webhook_contains_the_text_unchanged(text: str) -> None:
    sent = webhook.body(hostile(text), BASE, ID, NOW)
    assert schema_errors("webhook", sent) == []
    assert sent["text"] == single_line(text)


def test_a_single_line_has_a_maximum_length() -> None:
    assert single_line(" a\r\n\tb\0c\u202ed ") == "a bcd"
    assert single_line("x" * 300) == "x" * 199 + "…"
