"""One try: a notice in the form that its channel takes, handed over to the outside."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Protocol, assert_never

from cairn.documents import encode_json
from cairn.ports import Clock, HttpClient, HttpResponse, Mailer, Messenger, NotSent
from cairn.services.errors import ServiceError
from cairn.services.notifications.content import NotificationContent
from cairn.services.notifications.formats import email, slack, teams, webhook
from cairn.services.notifications.routing import RoutedChannel
from cairn.services.text import single_line
from cairn.store.tables.notifications import ChannelKind

SECONDS = 10.0
LIMIT = 10_000  # bytes of an answer that are looked at
LONGEST_WAIT = 60.0  # seconds that a service may ask us to wait
TRY_AGAIN = frozenset({408, 425, 429})


class SealedAddress(Protocol):
    """Where secrets are kept."""

    def get(self, name: str) -> str | None: ...

    def mask(self, text: str) -> str: ...


class RetryLater(NotSent):
    """The service has no time, and says when it has."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


@dataclass(frozen=True, slots=True)
class OutgoingDelivery:
    delivery_id: str
    channel: RoutedChannel
    recipient: str
    content: NotificationContent


def url_secret(channel_id: str) -> str:
    return f"channel.{channel_id}.url"


def key_secret(channel_id: str) -> str:
    return f"channel.{channel_id}.signing_key"


@dataclass(frozen=True, slots=True)
class OutboundPorts:
    """The ways out."""

    web: HttpClient
    mailer: Mailer
    messenger: Messenger


class DeliverySender:
    def __init__(self, ways: OutboundPorts, secrets: SealedAddress, clock: Clock, base: str) -> None:
        """`base`: what links begin with."""
        self._ways = ways
        self._secrets = secrets
        self._clock = clock
        self._base = base

    async def send(self, out: OutgoingDelivery) -> str:
        """What was answered. Raises NotSent or Unknown."""
        content = out.content if out.channel.include_details else out.content.plain
        match out.channel.kind:
            case ChannelKind.TEAMS:
                return await self._post(out, encode_json(teams.message(content, self._base)))
            case ChannelKind.SLACK:
                return await self._post(out, encode_json(slack.message(content, self._base)))
            case ChannelKind.WEBHOOK:
                return await self._call(out, content)
            case ChannelKind.EMAIL:
                mail = email.message(content, self._base, out.recipient)
                return await self._ways.mailer.send(mail, message_id=out.delivery_id)
            case ChannelKind.APPRISE:
                text = email.text(content, self._base)
                await self._ways.messenger.send(await self._address(out), content.title, text)
                return "taken"
            case _:
                assert_never(out.channel.kind)

    async def _call(self, out: OutgoingDelivery, content: NotificationContent) -> str:
        now = self._clock.now()
        key = await self._secret(key_secret(out.channel.channel_id), "signing key")
        body = encode_json(webhook.body(content, self._base, out.delivery_id, now))
        headers = {
            "Cairn-Signature": webhook.sign(key, now, body),
            "Cairn-Delivery": out.delivery_id,
            "Idempotency-Key": out.delivery_id,
        }
        return await self._post(out, body, headers)

    async def _post(self, out: OutgoingDelivery, body: bytes, headers: dict[str, str] | None = None) -> str:
        address = await self._address(out)
        told = {"Content-Type": "application/json", **(headers or {})}
        answer = await self._ways.web.request("POST", address, headers=told, body=body, timeout=SECONDS, limit=LIMIT)
        return _taken(answer)

    async def _address(self, out: OutgoingDelivery) -> str:
        return await self._secret(url_secret(out.channel.channel_id), "address")

    async def _secret(self, name: str, what: str) -> str:
        try:
            value = await asyncio.to_thread(self._secrets.get, name)
        except ServiceError as error:
            raise NotSent(error.message, lasting=True) from None
        if value is None:
            raise NotSent(f"The channel has no {what}: give it one.", lasting=True)
        return value


def _taken(answer: HttpResponse) -> str:
    said = single_line(answer.body.decode(errors="replace"))
    told = f"{answer.status} {said}".strip()
    if 200 <= answer.status < 300:
        return told
    if answer.status in TRY_AGAIN:
        raise RetryLater(f"It was answered {told}", _wait(answer.headers.get("retry-after", "")))
    raise NotSent(f"It was answered {told}", lasting=400 <= answer.status < 500)


def _wait(asked: str) -> float:
    return min(float(asked), LONGEST_WAIT) if asked.isdecimal() else 0.0
