"""Channels, deliveries, and what people want to be told."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from cairn.services.view import Document, Id, Instant, Page, View
from cairn.store.tables.notifications import ChannelKind, DeliveryOutcome, DeliveryStatus, NotificationKind


class Channel(View):
    channel_id: Id
    name: str
    kind: ChannelKind
    is_enabled: bool
    include_details: Annotated[bool, Field(description="False: only what is waiting, and a link.")]
    notification_kinds: Annotated[
        list[NotificationKind], Field(description="What goes there without a rule that names it.")
    ]
    pipelines: Annotated[list[str], Field(description="Ids; none: all of them.")]
    recipients: Annotated[list[str], Field(description="Of an e-mail channel, where a rule names nobody.")]
    host: Annotated[str, Field(description="Where its address leads to; the address itself is a secret.")]
    fallback: Annotated[str | None, Field(description="The name of the channel that is taken when this one fails.")]
    revision: int
    created_at: Instant
    created_by: str
    updated_at: Instant


class CreatedChannel(Channel):
    signing_key: Annotated[
        str | None, Field(description="Of a webhook whose key Cairn has made: shown this once, then never again.")
    ]


class RemovedChannel(View):
    channel_id: Id
    name: str


class ChannelPage(Page[Channel]):
    """All of them, by name."""


class DeliveryAttempt(View):
    number: int
    started_at: Instant
    ended_at: Instant | None
    outcome: Annotated[DeliveryOutcome | None, Field(description="Null while it is under way.")]
    response: Annotated[str, Field(description="What it was answered.")]


class Delivery(View):
    delivery_id: Id
    notification_id: Id
    kind: NotificationKind
    channel_id: Id | None
    channel: str
    channel_kind: str
    recipient: Annotated[str, Field(description="Of a mail; otherwise empty.")]
    status: DeliveryStatus
    attempt_count: int
    possible_duplicate: Annotated[
        bool, Field(description="A try that nobody knows the end of came before another: it may have arrived twice.")
    ]
    response: str
    fallback_of: Id | None
    pipeline_id: Id | None
    run_id: Id | None
    execution_id: Id | None
    approval_id: Id | None
    created_at: Instant
    due_at: Instant
    ended_at: Instant | None


class DeliveryDetail(Delivery):
    content: Annotated[Document | None, Field(description="What was told, masked; null until it is known.")]
    attempts: list[DeliveryAttempt]


class DeliveryPage(Page[Delivery]):
    """Newest first."""


class QuietHours(View):
    start: Annotated[str, Field(description="Such as 22:00.")]
    end: Annotated[str, Field(description="Such as 07:00.")]
    time_zone: Annotated[str, Field(description="Such as Europe/Berlin.")]


class AvailableChannel(View):
    name: str
    kind: ChannelKind


class Preferences(View):
    user: str
    channels: Annotated[list[str] | None, Field(description="Names or kinds that may reach you; null: all.")]
    notification_kinds: Annotated[
        list[NotificationKind] | None, Field(description="What you want to be told; null: everything.")
    ]
    quiet_hours: Annotated[
        QuietHours | None, Field(description="Hours in which nothing is sent to you; it comes after.")
    ]
    available_channels: Annotated[list[AvailableChannel], Field(description="Channels that reach single persons.")]
