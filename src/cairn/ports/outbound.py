"""Outgoing emails, HTTP requests and messages, and their errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


class OutboundError(Exception):
    """Sending failed. The message says what happened and what to do."""

    def __init__(self, message: str, *, is_permanent: bool = False) -> None:
        super().__init__(message)
        self.is_permanent = is_permanent  # retrying does not help


class NotSent(OutboundError):
    """Nothing was sent."""


class DeliveryUnknown(OutboundError):
    """It is unknown whether the recipient has processed the request."""


@dataclass(frozen=True, slots=True)
class Attachment:
    name: str
    content_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Mail:
    to: tuple[str, ...]  # plain addresses
    subject: str
    text: str
    html: str | None = None
    cc: tuple[str, ...] = ()
    bcc: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


class Mailer(Protocol):
    """Sends an email to all recipients or to none."""

    @property
    def is_configured(self) -> bool:
        """Whether there is a mail server to send emails to."""
        ...

    async def send(self, mail: Mail, *, message_id: str) -> str:
        """Send an email and return the response of the mail server.

        Repeat the same `message_id` when you send the same email again, so that mail clients can detect duplicates.
        Raises NotSent or DeliveryUnknown.
        """
        ...


@dataclass(frozen=True, slots=True)
class HttpResponse:
    status: int
    headers: Mapping[str, str]  # names in lower case
    body: bytes
    is_complete: bool = True  # false if the body exceeds the limit and was truncated


class HttpClient(Protocol):
    """Sends requests to allowed addresses."""

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        timeout: float = 10.0,  # noqa: ASYNC109 - only the adapter knows whether the request was sent
        limit: int = 1_000_000,
    ) -> HttpResponse:
        """Send a request and return the response, whatever its status.

        `timeout` covers the whole request, in seconds; `limit` is the maximum size of the body in bytes.
        Raises NotSent or DeliveryUnknown.
        """
        ...


class Messenger(Protocol):
    """Sends short messages to chat services."""

    def check(self, address: str) -> str:
        """Return the name of the service. Raises NotSent if the address is invalid or not allowed."""
        ...

    async def send(self, address: str, title: str, text: str) -> None:
        """Send a message. Raises NotSent or DeliveryUnknown."""
        ...
