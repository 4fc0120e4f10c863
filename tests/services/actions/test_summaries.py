"""Action summaries are one line of plain text."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.services.actions.summaries import short_summary, summarize
from tests.mentions import mentions

TO = {"to": "customer@example.com"}


@pytest.mark.parametrize(
    ("operation", "parameters", "line"),
    [
        ("send_email", {**TO, "subject": "Your order"}, mentions("“Your order”", "customer@example.com")),
        ("send_email", {**TO, "subject": ""}, mentions("customer@example.com")),
        (
            "send_email",
            {"to": ["a@example.com", "b@example.com"], "subject": "Hi"},
            mentions("“Hi”", "a@example.com, b@example.com"),
        ),
        (
            "send_email",
            {**TO, "subject": "${{ amount }} back", "amount": 99.99},
            mentions("“$99.99 back”", "customer@example.com"),
        ),
        ("send_email", {**TO, "subject": "{{ gone }}"}, mentions("“{{ gone }}”", "customer@example.com")),
        ("send_email", {}, mentions()),
        ("http_request", {"url": "https://example.com/x"}, mentions("POST https://example.com/x")),
        (
            "http_request",
            {"url": "https://example.com/x", "method": "DELETE"},
            mentions("DELETE https://example.com/x"),
        ),
        ("http_request", {}, mentions()),
        ("financial_transaction", {"amount": 1250, "currency": "EUR", "account": "DE89"}, mentions("1250 EUR", "DE89")),
        ("financial_transaction", {"amount": 12.5}, mentions("12.5")),
        ("financial_transaction", {}, mentions()),
        ("database_update", {"table": "orders"}, mentions("orders")),
        ("database_update", {"table": None}, mentions()),
        ("close_account", {"name": "x"}, "Close account"),
        ("close-account__now", {}, "Close account now"),
        ("database_update", {"table": {"name": True}}, mentions('{"name":true}')),
    ],
)
def test_a_summary_describes_the_action(operation: str, parameters: dict[str, Any], line: str) -> None:
    assert summarize(operation, parameters) == line


def test_a_summary_is_one_short_line_without_control_characters() -> None:
    """Models can write anything into parameters."""
    wild = summarize("send_email", {**TO, "subject": "a\r\nBcc: all\u202ednuor\0" + "x" * 900})
    assert "“a Bcc: alldnuorxxx" in wild
    assert (len(wild), wild[-1]) == (200, "…")
    assert len(short_summary("o" * 900)) == 200
