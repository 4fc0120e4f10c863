"""What an action would do, in one plain line (H1)."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.services.actions.summaries import short, summarize

TO = {"to": "customer@example.com"}


@pytest.mark.parametrize(
    ("operation", "parameters", "line"),
    [
        ("send_email", {**TO, "subject": "Your order"}, "Send “Your order” to customer@example.com"),
        ("send_email", {**TO, "subject": ""}, "Send an email to customer@example.com"),
        (
            "send_email",
            {"to": ["a@example.com", "b@example.com"], "subject": "Hi"},
            "Send “Hi” to a@example.com, b@example.com",
        ),
        (
            "send_email",
            {**TO, "subject": "${{ amount }} back", "amount": 99.99},
            "Send “$99.99 back” to customer@example.com",
        ),
        ("send_email", {**TO, "subject": "{{ gone }}"}, "Send “{{ gone }}” to customer@example.com"),
        ("send_email", {}, "Send an email"),
        ("http_request", {"url": "https://example.com/x"}, "Call POST https://example.com/x"),
        ("http_request", {"url": "https://example.com/x", "method": "DELETE"}, "Call DELETE https://example.com/x"),
        ("http_request", {}, "Call an API"),
        ("financial_transaction", {"amount": 1250, "currency": "EUR", "account": "DE89"}, "Move 1250 EUR to DE89"),
        ("financial_transaction", {"amount": 12.5}, "Move 12.5"),
        ("financial_transaction", {}, "Move money"),
        ("database_update", {"table": "orders"}, "Change data in orders"),
        ("database_update", {"table": None}, "Change data"),
        ("close_account", {"name": "x"}, "Close account"),
        ("close-account__now", {}, "Close account now"),
        ("database_update", {"table": {"name": True}}, 'Change data in {"name":true}'),
    ],
)
def test_it_says_what_would_be_done(operation: str, parameters: dict[str, Any], line: str) -> None:
    assert summarize(operation, parameters) == line


def test_it_is_one_line_that_steers_nothing_and_has_an_end() -> None:
    """S3: whatever a model has written."""
    wild = summarize("send_email", {**TO, "subject": "a\r\nBcc: all\u202ednuor\0" + "x" * 900})
    assert wild.startswith("Send “a Bcc: alldnuorxxx")
    assert (len(wild), wild[-1]) == (200, "…")
    assert len(short("o" * 900)) == 200
