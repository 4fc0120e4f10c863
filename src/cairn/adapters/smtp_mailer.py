"""Mail by SMTP: one connection for each, all who are named or none."""

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

UNFIT = re.compile(r"[\x00-\x1f\x7f]")
PLAIN = re.compile(r"[^\s\x00-\x1f\x7f,;:<>()@\"\\]+@[^\s\x00-\x1f\x7f,;:<>()@\"\\]+")
HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
OURS = frozenset({"from", "sender", "to", "cc", "bcc", "subject", "date", "message-id", "return-path", "received"})
OURS_TOO = ("content-", "mime-", "resent-")
MESSAGE_ID = re.compile(r"[A-Za-z0-9._-]{1,200}")
ASCII_LINES = SMTP.clone(cte_type="7bit")  # any server takes them
PORTS = {"starttls": 587, "tls": 465, "none": 25}


@dataclass(frozen=True, slots=True)
class SmtpServer:
    host: str | None
    sender: str = "cairn@localhost"
    port: int | None = None
    user: str | None = None
    tls: Literal["starttls", "tls", "none"] = "starttls"
    timeout: float = 30.0  # for all of a mail


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

    async def send(self, mail: Mail, *, message_id: str) -> str:
        server = self._server
        if server.host is None:
            raise NotSent("No mail server is set up: set CAIRN_SMTP_HOST.", lasting=True)
        sender = _address(server.sender)
        to, cc = tuple(map(_address, mail.to)), tuple(map(_address, mail.cc))
        if not to:
            raise NotSent("The mail names nobody that it goes to.", lasting=True)
        try:
            message = _written(mail, sender, to, cc, message_id)
        except ValueError as error:
            raise NotSent(f"The mail cannot be written: {error}", lasting=True) from None
        message["Date"] = format_datetime(self._clock.now())
        password = await self._sign_in_with() if server.user else None
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
        return await _handed_over(client, message, sender, (*to, *cc), server.timeout)

    async def _sign_in_with(self) -> str | None:
        try:
            return await asyncio.to_thread(self._password)
        except Exception as error:
            raise NotSent(f"The password of the mail server cannot be read: {error}", lasting=True) from error


async def _handed_over(
    client: aiosmtplib.SMTP, message: EmailMessage, sender: Address, all: tuple[Address, ...], seconds: float
) -> str:
    begun = False
    try:
        async with asyncio.timeout(seconds):
            await client.connect()
            beyond = any(not address.addr_spec.isascii() for address in (sender, *all))
            if beyond and not client.supports_extension("SMTPUTF8"):
                raise NotSent("The mail server does not know addresses beyond ASCII.", lasting=True)
            encoding, options = ("utf-8", ["SMTPUTF8"]) if beyond else ("ascii", [])
            await client.mail(sender.addr_spec, options=options, encoding=encoding)
            for address in all:
                await client.rcpt(address.addr_spec, encoding=encoding)
            begun = True
            answer = await client.data(message.as_bytes(policy=ASCII_LINES.clone(utf8=beyond)))
        with suppress(aiosmtplib.SMTPException, OSError, TimeoutError):
            await client.quit(timeout=1.0)
    except aiosmtplib.SMTPResponseException as error:
        raise NotSent(f"The mail server refused: {error.code} {error.message}", lasting=error.code >= 500) from None
    except (aiosmtplib.SMTPException, OSError, TimeoutError) as error:
        raise _fault(error, begun) from None
    finally:
        client.close()
    return f"{answer.code} {answer.message}"


def _fault(error: Exception, begun: bool) -> OutboundError:
    what = str(error) or type(error).__name__
    if begun:
        return DeliveryUnknown(f"The mail server did not say whether it took the mail: {what}.")
    return NotSent(f"The mail server cannot be used: {what}.")


def _address(text: str) -> Address:
    """One plain address: a list, a name or a line break in it would send the mail elsewhere."""
    wrong = NotSent(f"{text!r} is not a mail address.", lasting=True)
    if not PLAIN.fullmatch(text):
        raise wrong
    try:
        address = Address(addr_spec=text)
        domain = address.domain if address.domain.isascii() else address.domain.encode("idna").decode()
        return Address(username=address.username, domain=domain)
    except (ValueError, IndexError, AttributeError):
        raise wrong from None


def _written(
    mail: Mail, sender: Address, to: tuple[Address, ...], cc: tuple[Address, ...], message_id: str
) -> EmailMessage:
    if UNFIT.search(mail.subject):
        raise NotSent("The subject has a line break or another control character.", lasting=True)
    if not MESSAGE_ID.fullmatch(message_id):
        raise NotSent(f"{message_id!r} cannot name a mail.", lasting=True)
    message = EmailMessage(policy=ASCII_LINES)
    message["From"], message["To"] = sender, to
    if cc:
        message["Cc"] = cc
    message["Subject"] = mail.subject
    message["Message-ID"] = f"<{message_id}@{sender.domain}>"
    for name, value in mail.headers.items():
        if not HEADER.fullmatch(name) or UNFIT.search(value):
            raise NotSent(f"The header {name!r} cannot be sent.", lasting=True)
        if name.lower() in OURS or name.lower().startswith(OURS_TOO):
            raise NotSent(f"The header {name} is set by Cairn itself.", lasting=True)
        message[name] = value
    message.set_content(mail.text)
    if mail.html is not None:
        message.add_alternative(mail.html, subtype="html")
    for a in mail.attachments:
        main, _, sub = a.content_type.partition("/")
        if UNFIT.search(a.name + a.content_type) or not main or not sub:
            raise NotSent(f"The attachment {a.name!r} cannot be sent.", lasting=True)
        message.add_attachment(a.data, maintype=main, subtype=sub, filename=a.name)
    return message
