"""Personal data and keys are masked, and everything else stays readable."""

from __future__ import annotations

import pytest

from cairn.services.masking import mask, mask_fields

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("write to customer@example.com today", "write to c***@example.com today"),
        ("reviewer+tag@mail.example.co.uk", "r***@mail.example.co.uk"),
        ("prüfer@beispiel.example", "p***@beispiel.example"),
        ("card 4111 1111 1111 1111 was charged", "card *** 1111 was charged"),
        ("4111-1111-1111-1111", "*** 1111"),
        ("5500005555555559", "*** 5559"),
        ("call +49 30 901820 or +1 (555) 123-4567", "call ***20 or ***67"),
        ("call (030) 901820", "call ***20"),
        ("555-123-4567", "***67"),
        ("0049 170 1234567", "***67"),
        ("IBAN DE89 3704 0044 0532 0130 00", "IBAN DE***"),
        ("key sk-abcdefghijklmnopqrstuvwxyz", "key ***"),
        ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "***"),
        ("xoxb-1234567890-abcdef", "***"),
        ("AKIAIOSFODNN7EXAMPLE", "***"),
        (JWT, "***"),
        ("Authorization: Bearer abcdef123456", "Authorization: Bearer ***"),
        ("password=hunter2 and more", "password=*** and more"),
        ('{"api_key": "abc def"}', '{"api_key": ***}'),
        ("DB_PASSWORD: 'a b c'", "DB_PASSWORD: ***"),
        ("postgresql://user:pass@host/db", "postgresql://***@host/db"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----", "***"),
        ("-----BEGIN PRIVATE KEY-----\nMII", "***"),
    ],
)
def test_personal_data_and_keys_are_masked(text: str, masked: str) -> None:
    assert mask(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "Refund Confirmation - Order #12345",
        "$1,247.50 of 15 orders",
        "2025-11-18 14:32:15 UTC",
        "2025-11-18T14:32:15.123456Z",
        "0198c2a4-5b6c-7d8e-9f01-23456789abcd",
        "Connection timeout to SQL Server (10.0.0.50:1433)",
        "4111 1111 1111 1112 has a wrong last digit",
        "1234567890",
        "The token is not known",
        "a@b",
        "3.14159265358979",
        "v1.2.3-rc.4",
    ],
)
def test_other_text_is_not_masked(text: str) -> None:
    assert mask(text) == text


def test_fields_are_hidden_by_name_and_masked_by_value() -> None:
    value = {
        "to": "customer@example.com",
        "amount": 99.99,
        "urgent": True,
        "note": None,
        "attachments": ["refund_receipt.pdf", "to customer@example.com"],
        "login": {"user": "cs", "password": "hunter2", "deep": {"api_key": 1}},
        "empty": {},
    }
    assert mask_fields(value) == [
        ("to", "c***@example.com"),
        ("amount", "99.99"),
        ("urgent", "true"),
        ("note", "null"),
        ("attachments", "refund_receipt.pdf, to c***@example.com"),
        ("login.user", "cs"),
        ("login.password", "***"),
        ("login.deep.api_key", "***"),
        ("empty", ""),
    ]


@pytest.mark.parametrize("piece", ["a@", "1 ", "+1", "sk-a", "DE12 ", "eyJa.", "password=", "(1)"])
def test_long_texts_are_masked_quickly(piece: str) -> None:
    mask(piece * 20_000)
