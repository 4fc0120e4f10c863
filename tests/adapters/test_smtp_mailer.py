"""The contract of the mailer, tested against a real SMTP server."""

from __future__ import annotations

import asyncio
import email
import socket
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Any

import pytest

from cairn.adapters.smtp_mailer import SmtpMailer, SmtpServer
from cairn.ports import Attachment, DeliveryUnknown, Mail, NotSent
from tests.adapters.servers import MailServer, certificate, mail_server

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
MAIL = Mail(
    ("one@example.com", "two@example.com"),
    "Refund of 99,99 €",
    "Dear customer,\nyour refund is on its way.\n",
    html="<p>Your refund is on its way.</p>",
    cc=("three@example.com",),
    attachments=(Attachment("refund ü.pdf", "application/pdf", b"%PDF"),),
    headers={"Auto-Submitted": "auto-generated"},
)


class FixedClock:
    def now(self) -> datetime:
        return NOW


def mailer(server: MailServer, **options: Any) -> SmtpMailer:
    settings: dict[str, Any] = {"tls": "none", "sender": "cairn@example.com", **options}
    return SmtpMailer(SmtpServer("127.0.0.1", port=server.port, **settings), FixedClock())


@pytest.fixture
async def server() -> AsyncGenerator[MailServer]:
    async with mail_server() as running:
        yield running


def received_message(server: MailServer) -> EmailMessage:
    (envelope,) = server.mails
    assert isinstance(envelope.content, bytes)
    return email.message_from_bytes(envelope.content, policy=default)


async def test_an_email_arrives_complete_at_all_recipients(server: MailServer) -> None:
    assert await mailer(server).send(MAIL, message_id="delivery-1") == "250 accepted"
    (envelope,) = server.mails
    assert (envelope.mail_from, envelope.rcpt_tos) == (
        "cairn@example.com",
        ["one@example.com", "two@example.com", "three@example.com"],
    )
    message = received_message(server)
    assert {name: str(message[name]) for name in message if not name.startswith(("Content-", "MIME"))} == {
        "From": "cairn@example.com",
        "To": "one@example.com, two@example.com",
        "Cc": "three@example.com",
        "Subject": "Refund of 99,99 €",
        "Message-ID": "<delivery-1@example.com>",
        "Auto-Submitted": "auto-generated",
        "Date": "Sun, 01 Mar 2026 12:00:00 +0000",
    }
    body, html = message.get_body(("plain",)), message.get_body(("html",))
    assert body is not None
    assert html is not None
    assert body.get_content().replace("\r\n", "\n") == MAIL.text
    assert html.get_content().strip() == MAIL.html
    assert [(a.get_filename(), a.get_content_type(), a.get_content()) for a in message.iter_attachments()] == [
        ("refund ü.pdf", "application/pdf", b"%PDF")
    ]


async def test_a_missing_configuration_is_reported() -> None:
    with pytest.raises(NotSent, match="CAIRN_SMTP_HOST") as error:
        await SmtpMailer(SmtpServer(None), FixedClock()).send(MAIL, message_id="m")
    assert error.value.is_permanent


async def test_one_rejected_recipient_rejects_the_email(server: MailServer) -> None:
    server.rejections = {"two@example.com": "550 No such user"}
    with pytest.raises(NotSent, match="550 No such user") as error:
        await mailer(server).send(MAIL, message_id="m")
    assert error.value.is_permanent
    assert server.mails == []


async def test_a_temporary_rejection_can_be_retried(server: MailServer) -> None:
    server.rejections = {"two@example.com": "451 Later"}
    with pytest.raises(NotSent, match="451 Later") as error:
        await mailer(server).send(MAIL, message_id="m")
    assert not error.value.is_permanent


async def test_a_rejected_email_is_reported_as_not_sent(server: MailServer) -> None:
    server.data_response = "554 Spam"
    with pytest.raises(NotSent, match="554 Spam"):
        await mailer(server).send(MAIL, message_id="m")


async def test_without_a_confirmation_the_outcome_is_unknown(server: MailServer) -> None:
    server.data_response = "close"
    with pytest.raises(DeliveryUnknown):
        await mailer(server).send(MAIL, message_id="m")
    server.data_response = "hang"
    with pytest.raises(DeliveryUnknown):
        await mailer(server, timeout=1.0).send(MAIL, message_id="m")


async def test_an_unreachable_or_silent_server_is_reported_as_not_sent() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(NotSent) as error:
            await mailer(MailServer(port)).send(MAIL, message_id="m")
    assert not error.value.is_permanent

    writers: list[asyncio.StreamWriter] = []
    silent = await asyncio.start_server(lambda _, writer: writers.append(writer), "127.0.0.1", 0)
    async with silent:
        port = silent.sockets[0].getsockname()[1]
        with pytest.raises(NotSent):
            await mailer(MailServer(port), timeout=0.3).send(MAIL, message_id="m")
        for writer in writers:
            writer.close()


@pytest.mark.parametrize(
    "mail",
    [
        Mail(("a@example.com\r\nBcc: b@example.com",), "s", "t"),
        Mail(("a@example.com, b@example.com",), "s", "t"),
        Mail(("A <a@example.com>",), "s", "t"),
        Mail(("a@example.com> NOTIFY=NEVER",), "s", "t"),
        Mail(("nobody",), "s", "t"),
        Mail(("@example.com",), "s", "t"),
        Mail((), "s", "t"),
        Mail(("a@example.com",), "s\r\nBcc: b@example.com", "t"),
        Mail(("a@example.com",), "s\nX: y", "t"),
        Mail(("a@example.com",), "s\0", "t"),
        Mail(("a@example.com",), "s", "t", cc=("b@example.com\nX: y",)),
        Mail(("a@example.com",), "s", "t", headers={"X-Note": "a\r\nBcc: b@example.com"}),
        Mail(("a@example.com",), "s", "t", headers={"X: y\r\nBcc": "b@example.com"}),
        Mail(("a@example.com",), "s", "t", headers={"Bcc": "b@example.com"}),
        Mail(("a@example.com",), "s", "t", headers={"Content-Type": "text/html"}),
        Mail(("a@example.com",), "s", "t", attachments=(Attachment("a\r\nX: y", "text/plain", b""),)),
        Mail(("a@example.com",), "s", "t", attachments=(Attachment("a", "text/plain\r\nX: y", b""),)),
        Mail(("a@example.com",), "s", "\ud800"),
    ],
)
async def test_headers_and_recipients_cannot_be_injected(server: MailServer, mail: Mail) -> None:
    with pytest.raises(NotSent) as error:
        await mailer(server).send(mail, message_id="m")
    assert error.value.is_permanent
    assert server.mails == []


@pytest.mark.parametrize("text", ["first\r\n.\r\nMAIL FROM:<x@example.com>\r\n", "first\n.\nQUIT\n"])
async def test_a_text_cannot_end_the_email_early(server: MailServer, text: str) -> None:
    await mailer(server).send(Mail(("a@example.com",), "s", text), message_id="m")
    body = received_message(server).get_body()
    assert body is not None
    assert body.get_content().replace("\r\n", "\n") == text.replace("\r\n", "\n")


async def test_an_invalid_message_id_is_rejected(server: MailServer) -> None:
    with pytest.raises(NotSent):
        await mailer(server).send(MAIL, message_id="m>\r\nX: y")


async def test_starttls_is_required_before_signing_in(tmp_path: Path) -> None:
    server_tls, client_tls = certificate(tmp_path)
    async with mail_server(tls_context=server_tls, auth_require_tls=True) as server:
        settings = SmtpServer("localhost", "cairn@example.com", server.port, "cairn", "starttls")
        await SmtpMailer(settings, FixedClock(), lambda: "right", context=client_tls).send(MAIL, message_id="m")
        assert (len(server.mails), server.users) == (1, [(b"cairn", b"right")])
        with pytest.raises(NotSent, match=r"\b535\b") as error:
            await SmtpMailer(settings, FixedClock(), lambda: "wrong", context=client_tls).send(MAIL, message_id="m")
        assert error.value.is_permanent
        with pytest.raises(NotSent, match="self-signed certificate"):
            await SmtpMailer(settings, FixedClock(), lambda: "right").send(MAIL, message_id="m")
    async with mail_server() as unencrypted:
        with pytest.raises(NotSent):
            await mailer(unencrypted, tls="starttls").send(MAIL, message_id="m")
        assert unencrypted.mails == []


async def test_tls_from_the_start(tmp_path: Path) -> None:
    server_tls, client_tls = certificate(tmp_path)
    async with mail_server(tls=server_tls) as server:
        settings = SmtpServer("localhost", "cairn@example.com", server.port, None, "tls")
        assert await SmtpMailer(settings, FixedClock(), context=client_tls).send(MAIL, message_id="m") == "250 accepted"
