"""Send emails by SMTP, each on its own connection, to all recipients or to none."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from typing import Literal

import aiosmtplib

from cairn.ports.clock import Clock
from cairn.ports.outbound import DeliveryUnknown, Mail, NotSent, OutboundError

CONTROL_CHARACTERS = re.compile(r"[\x00-\x1f\x7f]")
PLAIN_ADDRESS = re.compile(r"[^\s\x00-\x1f\x7f,;:<>()@\"\\]+@[^\s\x00-\x1f\x7f,;:<>()@\"\\]+")
HEADER_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
RESERVED_HEADERS = frozenset(
    {"from", "sender", "to", "cc", "bcc", "subject", "date", "message-id", "return-path", "received"}
)
RESERVED_HEADER_PREFIXES = ("content-", "mime-", "resent-")
MESSAGE_ID = re.compile(r"[A-Za-z0-9._-]{1,200}")
ASCII_LINES = SMTP.clone(cte_type="7bit")  # accepted by any server
PORTS = {"starttls": 587, "tls": 465, "none": 25}


@dataclass(frozen=True, slots=True)
class SmtpServer:
    host: str | None
    sender: str = "cairn@localhost"
    port: int | None = None
    user: str | None = None
    tls: Literal["starttls", "tls", "none"] = "starttls"
    timeout: float = 30.0  # per email


class SmtpMailer:
    def __init__(
        self,
        server: SmtpServer,
        clock: Clock,
        password: Callable[[], str | None] = lambda: None,
        *,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._server = server
        self._clock = clock
        self._password = password
        self._context = context

    @property
    def is_configured(self) -> bool:
        return self._server.host is not None

    async def send(self, mail: Mail, *, message_id: str) -> str:
        server = self._server
        if server.host is None:
            raise NotSent("No mail server is configured. Set CAIRN_SMTP_HOST.", is_permanent=True)
        sender = _address(server.sender)
        to, cc, bcc = (tuple(map(_address, addresses)) for addresses in (mail.to, mail.cc, mail.bcc))
        if not to:
            raise NotSent("The email has no recipients.", is_permanent=True)
        try:
            message = _build_message(mail, sender, to, cc, message_id)
        except ValueError as error:
            raise NotSent(f"The email is invalid: {error}", is_permanent=True) from None
        message["Date"] = format_datetime(self._clock.now())
        password = await self._read_password() if server.user else None
        client = aiosmtplib.SMTP(
            hostname=server.host,
            port=server.port or PORTS[server.tls],
            username=server.user,
            password=password,
            use_tls=server.tls == "tls",
            start_tls=server.tls == "starttls",
            tls_context=self._context,
            timeout=server.timeout,
        )
        return await _deliver(client, message, sender, (*to, *cc, *bcc), server.timeout)

    async def _read_password(self) -> str | None:
        try:
            return await asyncio.to_thread(self._password)
        except Exception as error:
            raise NotSent(f"Couldn't read the password of the mail server: {error}", is_permanent=True) from error


async def _deliver(
    client: aiosmtplib.SMTP, message: EmailMessage, sender: Address, recipients: tuple[Address, ...], seconds: float
) -> str:
    data_sent = False
    try:
        async with asyncio.timeout(seconds):
            await client.connect()
            needs_utf8 = any(not address.addr_spec.isascii() for address in (sender, *recipients))
            if needs_utf8 and not client.supports_extension("SMTPUTF8"):
                raise NotSent("The mail server doesn't support addresses with non-ASCII characters.", is_permanent=True)
            encoding, options = ("utf-8", ["SMTPUTF8"]) if needs_utf8 else ("ascii", [])
            await client.mail(sender.addr_spec, options=options, encoding=encoding)
            for address in recipients:
                await client.rcpt(address.addr_spec, encoding=encoding)
            data_sent = True
            response = await client.data(message.as_bytes(policy=ASCII_LINES.clone(utf8=needs_utf8)))
        with suppress(aiosmtplib.SMTPException, OSError, TimeoutError):
            await client.quit(timeout=1.0)
    except aiosmtplib.SMTPResponseException as error:
        raise NotSent(
            f"The mail server rejected the email: {error.code} {error.message}", is_permanent=error.code >= 500
        ) from None
    except (aiosmtplib.SMTPException, OSError, TimeoutError) as error:
        raise _outbound_error(error, data_sent) from None
    finally:
        client.close()
    return f"{response.code} {response.message}"


def _outbound_error(error: Exception, data_sent: bool) -> OutboundError:
    detail = str(error) or type(error).__name__
    if data_sent:
        return DeliveryUnknown(f"The mail server didn't confirm the email: {detail}.")
    return NotSent(f"Couldn't reach the mail server: {detail}.")


def _address(text: str) -> Address:
    """Parse a single plain address. A list, a display name or a line break could send the email elsewhere."""
    invalid = NotSent(f"{text!r} is not an email address.", is_permanent=True)
    if not PLAIN_ADDRESS.fullmatch(text):
        raise invalid
    try:
        address = Address(addr_spec=text)
        domain = address.domain if address.domain.isascii() else address.domain.encode("idna").decode()
        return Address(username=address.username, domain=domain)
    except (ValueError, IndexError, AttributeError):
        raise invalid from None


def _build_message(
    mail: Mail, sender: Address, to: tuple[Address, ...], cc: tuple[Address, ...], message_id: str
) -> EmailMessage:
    if CONTROL_CHARACTERS.search(mail.subject):
        raise NotSent("The subject contains a control character.", is_permanent=True)
    if not MESSAGE_ID.fullmatch(message_id):
        raise NotSent(f"{message_id!r} is not a valid message id.", is_permanent=True)
    message = EmailMessage(policy=ASCII_LINES)
    message["From"], message["To"] = sender, to
    if cc:
        message["Cc"] = cc
    message["Subject"] = mail.subject
    message["Message-ID"] = f"<{message_id}@{sender.domain}>"
    for name, value in mail.headers.items():
        if not HEADER_NAME.fullmatch(name) or CONTROL_CHARACTERS.search(value):
            raise NotSent(f"The header {name!r} is invalid.", is_permanent=True)
        if name.lower() in RESERVED_HEADERS or name.lower().startswith(RESERVED_HEADER_PREFIXES):
            raise NotSent(f"You can't set the header {name}. Cairn sets it itself.", is_permanent=True)
        message[name] = value
    message.set_content(mail.text)
    if mail.html is not None:
        message.add_alternative(mail.html, subtype="html")
    for attachment in mail.attachments:
        main, _, sub = attachment.content_type.partition("/")
        if CONTROL_CHARACTERS.search(attachment.name + attachment.content_type) or not main or not sub:
            raise NotSent(f"The attachment {attachment.name!r} has an invalid name or content type.", is_permanent=True)
        message.add_attachment(attachment.data, maintype=main, subtype=sub, filename=attachment.name)
    return message
