"""Each form that a notice takes: right by its schema, and every text in it stays text."""

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
    read,
    write,
)
from cairn.services.notifications.formats import email, slack, teams, webhook
from cairn.services.text import single_line
from tests.notifications.payload_schemas import faults

BASE = "https://cairn.example.com"
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ID = "0198c2a4-5b6c-4d8e-9f01-23456789abcd"
SAID = NotificationContent(
    "approval_requested",
    "warning",
    "An action of Send Email waits for approval",
    "Somebody has to decide.",
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
    sent = teams.message(SAID, BASE)
    assert faults("teams", sent) == []
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


def test_blocks_are_plain() -> None:
    sent = slack.message(SAID, BASE)
    assert faults("slack", sent) == []
    assert [block["type"] for block in sent["blocks"]] == ["header", "section", "section", "section", "actions"]


def test_many_facts_go_into_several_sections() -> None:
    many = NotificationContent("test", "good", "t", "", tuple(ContentFact(f"n{n}", "v") for n in range(23)))
    assert faults("slack", slack.message(many, BASE)) == []


def test_a_webhook_is_signed_over_time_and_body() -> None:
    assert faults("webhook", webhook.body(SAID, BASE, ID, NOW)) == []
    signature = webhook.sign("k" * 32, NOW, b'{"x":1}')
    digest = hmac.new(b"k" * 32, b'1772366400.{"x":1}', sha256).hexdigest()
    assert signature == f"t=1772366400,v1={digest}"


def test_a_mail_says_the_same_in_text_and_in_html() -> None:
    mail = email.message(SAID, BASE, "reviewer@example.com")
    assert (mail.to, mail.subject) == (
        ("reviewer@example.com",),
        "[Cairn] An action of Send Email waits for approval",
    )
    assert mail.text == (
        "An action of Send Email waits for approval\n\nSomebody has to decide.\n\n"
        "Pipeline: CS - Send Refund Email\nRisk: HIGH\nError: boom\n\n"
        "Proposed action:\n  - to: j***@example.com\n  - amount: 99.99\n\n"
        f"Review and decide: {BASE}/approvals/1?a=b&c=d\n"
    )
    assert mail.html is not None
    assert f'<a href="{BASE}/approvals/1?a=b&amp;c=d">Review and decide</a>' in mail.html


def test_without_details_only_what_waits_and_where_is_told() -> None:
    plain = SAID.plain
    assert (plain.facts, plain.sections) == (SAID.facts[:2], ())
    assert plain.links == SAID.links


def test_it_is_stored_and_read_back_as_it_is() -> None:
    assert read(write(SAID)) == SAID


# ---- hostile texts ---------------------------------------------------------------------------------------
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


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.mark.parametrize("text", HOSTILE)
def test_html_stays_text_in_a_mail(text: str) -> None:
    mail = email.message(hostile(text), BASE, "reviewer@example.com")
    assert mail.html is not None
    reader = Tags()
    reader.feed(mail.html)
    assert reader.tags == ["html", "body", "h1", "p", "table", "tr", "th", "td", "h2", "ul", "li", "p", "a"]
    assert reader.words.count(single_line(text)) == 6
    assert "\n" not in mail.subject
    assert "\r" not in mail.subject


@pytest.mark.parametrize("text", HOSTILE)
def test_marks_stay_text_in_a_card(text: str) -> None:
    sent = teams.message(hostile(text), BASE)
    assert faults("teams", sent) == []
    shown = sent["attachments"][0]["content"]["body"][1]["text"]
    assert unescaped(shown) == single_line(text)
    plain = shown.replace("\\\\", "")
    for mark in "`*_[]()#<>~|!":
        assert plain.count(mark) == plain.count("\\" + mark)
    assert "{{" not in shown
    assert "${" not in shown
    assert not shown.startswith(("- ", "1. "))


def unescaped(shown: str) -> str:
    """As a reader of Markdown shows it."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", shown.replace("\u200b", ""))


@pytest.mark.parametrize("text", HOSTILE)
def test_marks_and_mentions_stay_text_in_blocks(text: str) -> None:
    sent = slack.message(hostile(text), BASE)
    assert faults("slack", sent) == []
    assert sent["blocks"][1]["text"] == {"type": "plain_text", "text": single_line(text), "emoji": False}
    assert "<" not in sent["text"]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_webhook_carries_it_as_it_is(text: str) -> None:
    sent = webhook.body(hostile(text), BASE, ID, NOW)
    assert faults("webhook", sent) == []
    assert sent["text"] == single_line(text)


def test_a_text_is_one_line_of_bounded_length() -> None:
    assert single_line(" a\r\n\tb\0c\u202ed ") == "a bcd"
    assert single_line("x" * 300) == "x" * 199 + "…"
