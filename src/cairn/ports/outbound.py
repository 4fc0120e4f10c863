"""What leaves for the outside: mail and requests, with what is known when they fail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


class OutboundError(Exception):
    """It did not go well; the message says what happened and what to do."""

    def __init__(self, message: str, *, lasting: bool = False) -> None:
        super().__init__(message)
        self.lasting = lasting  # trying again does not help


class NotSent(OutboundError):
    """Surely nothing was done outside."""


class DeliveryUnknown(OutboundError):
    """It may have been done: nobody has told."""


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
    attachments: tuple[Attachment, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


class Mailer(Protocol):
    """Hands a mail to a server that delivers it: to all who are named, or to none."""

    async def send(self, mail: Mail, *, message_id: str) -> str:
        """The answer is what the server said. The same id names the same mail, so that a repeat can be told.

        Raises NotSent or Unknown.
        """
        ...


@dataclass(frozen=True, slots=True)
class HttpResponse:
    status: int
    headers: Mapping[str, str]  # names in lower case
    body: bytes
    is_whole: bool = True  # the body was not longer than the limit


class HttpClient(Protocol):
    """Makes a request to where requests may go."""

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        timeout: float = 10.0,  # noqa: ASYNC109 - what is known then is for the adapter to tell
        limit: int = 1_000_000,
    ) -> HttpResponse:
        """Any answer is an answer, whatever its status. `timeout` is for all of it; `limit` is for the body.

        Raises NotSent or Unknown.
        """
        ...


class Messenger(Protocol):
    """Sends a short text to a service that its address names."""

    def check(self, address: str) -> str:
        """The host or service that it leads to. Raises NotSent if it is no address, or not one that may be used."""
        ...

    async def send(self, address: str, title: str, text: str) -> None:
        """Raises NotSent or Unknown."""
        ...
