"""Send one delivery attempt in the format of its channel."""

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

TIMEOUT_SECONDS = 10.0
MAX_RESPONSE_BYTES = 10_000
MAX_RETRY_AFTER_SECONDS = 60.0
RETRYABLE_STATUSES = frozenset({408, 425, 429})


class SecretReader(Protocol):
    def get(self, name: str) -> str | None: ...

    def mask(self, text: str) -> str: ...


class RetryLater(NotSent):
    """The service is overloaded. It can state how long to wait."""

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
    web: HttpClient
    mailer: Mailer
    messenger: Messenger


class DeliverySender:
    def __init__(self, outbound: OutboundPorts, secrets: SecretReader, clock: Clock, base_url: str) -> None:
        """`base_url`: the prefix of all links."""
        self._outbound = outbound
        self._secrets = secrets
        self._clock = clock
        self._base_url = base_url

    async def send(self, delivery: OutgoingDelivery) -> str:
        """Send the attempt and return the response. Raises NotSent or DeliveryUnknown."""
        channel, content = delivery.channel, delivery.content
        if not channel.include_details:
            content = content.without_details()
        match channel.kind:
            case ChannelKind.TEAMS:
                return await self._post(channel, encode_json(teams.message(content, self._base_url)))
            case ChannelKind.SLACK:
                return await self._post(channel, encode_json(slack.message(content, self._base_url)))
            case ChannelKind.WEBHOOK:
                return await self._call_webhook(delivery, content)
            case ChannelKind.EMAIL:
                mail = email.message(content, self._base_url, delivery.recipient)
                return await self._outbound.mailer.send(mail, message_id=delivery.delivery_id)
            case ChannelKind.APPRISE:
                text = email.text(content, self._base_url)
                await self._outbound.messenger.send(await self._url(channel), content.title, text)
                return "accepted"
            case _:
                assert_never(channel.kind)

    async def _call_webhook(self, delivery: OutgoingDelivery, content: NotificationContent) -> str:
        now = self._clock.now()
        key = await self._secret(key_secret(delivery.channel.channel_id), "signing key")
        body = encode_json(webhook.body(content, self._base_url, delivery.delivery_id, now))
        headers = {
            "Cairn-Signature": webhook.signature(key, now, body),
            "Cairn-Delivery": delivery.delivery_id,
            "Idempotency-Key": delivery.delivery_id,
        }
        return await self._post(delivery.channel, body, headers)

    async def _post(self, channel: RoutedChannel, body: bytes, headers: dict[str, str] | None = None) -> str:
        response = await self._outbound.web.request(
            "POST",
            await self._url(channel),
            headers={"Content-Type": "application/json", **(headers or {})},
            body=body,
            timeout=TIMEOUT_SECONDS,
            limit=MAX_RESPONSE_BYTES,
        )
        return _checked(response)

    async def _url(self, channel: RoutedChannel) -> str:
        return await self._secret(url_secret(channel.channel_id), "URL")

    async def _secret(self, name: str, label: str) -> str:
        try:
            value = await asyncio.to_thread(self._secrets.get, name)
        except ServiceError as error:
            raise NotSent(error.message, is_permanent=True) from None
        if value is None:
            raise NotSent(f"The channel has no {label}. Set one with `cairn channels update`.", is_permanent=True)
        return value


def _checked(response: HttpResponse) -> str:
    body = single_line(response.body.decode(errors="replace"))
    text = f"{response.status} {body}".strip()
    if 200 <= response.status < 300:
        return text
    if response.status in RETRYABLE_STATUSES:
        raise RetryLater(f"The service responded {text}", _retry_after(response.headers.get("retry-after", "")))
    raise NotSent(f"The service responded {text}", is_permanent=400 <= response.status < 500)


def _retry_after(header: str) -> float:
    return min(float(header), MAX_RETRY_AFTER_SECONDS) if header.isdecimal() else 0.0
