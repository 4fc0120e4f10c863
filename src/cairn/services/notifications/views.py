"""Response shapes of channels, deliveries and notification preferences."""

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
    include_details: Annotated[
        bool, Field(description="Send errors, reasons and parameters too, not just the key facts and a link.")
    ]
    notification_kinds: Annotated[
        list[NotificationKind], Field(description="Kinds of notifications sent to this channel by default.")
    ]
    pipelines: Annotated[list[str], Field(description="Ids of the pipelines to send notifications for. Empty: all.")]
    recipients: Annotated[
        list[str], Field(description="Recipients of an email channel when a rule names no recipients.")
    ]
    host: Annotated[str, Field(description="Host of the URL. The URL itself is a secret.")]
    fallback: Annotated[str | None, Field(description="Name of the channel to use when this one fails.")]
    revision: int
    created_at: Instant
    created_by: str
    updated_at: Instant


class CreatedChannel(Channel):
    signing_key: Annotated[
        str | None, Field(description="Signing key of a webhook, if Cairn generated it. It is never shown again.")
    ]


class DeletedChannel(View):
    channel_id: Id
    name: str


class ChannelPage(Page[Channel]):
    """Channels, by name."""


class DeliveryAttempt(View):
    number: int
    started_at: Instant
    ended_at: Instant | None
    outcome: Annotated[DeliveryOutcome | None, Field(description="Null while the attempt is in progress.")]
    response: Annotated[str, Field(description="Response of the receiving service, or the error.")]


class Delivery(View):
    delivery_id: Id
    notification_id: Id
    kind: NotificationKind
    channel_id: Id | None
    channel: str
    channel_kind: str
    recipient: Annotated[str, Field(description="Recipient of an email, otherwise empty.")]
    status: DeliveryStatus
    attempt_count: int
    possible_duplicate: Annotated[
        bool,
        Field(description="True if an attempt with an unknown outcome was repeated. It may have been delivered twice."),
    ]
    response: Annotated[str, Field(description="Response to the last attempt, or the error.")]
    fallback_of: Annotated[Id | None, Field(description="Id of the failed delivery that this one replaces.")]
    pipeline_id: Id | None
    run_id: Id | None
    execution_id: Id | None
    approval_id: Id | None
    created_at: Instant
    due_at: Instant
    ended_at: Instant | None


class DeliveryDetail(Delivery):
    content: Annotated[Document | None, Field(description="Masked content. Null until it is composed.")]
    attempts: list[DeliveryAttempt]


class DeliveryPage(Page[Delivery]):
    """Deliveries, newest first."""


class QuietHours(View):
    start: Annotated[str, Field(description="Start time, such as 22:00.")]
    end: Annotated[str, Field(description="End time, such as 07:00.")]
    time_zone: Annotated[str, Field(description="Time zone, such as Europe/Berlin.")]


class AvailableChannel(View):
    name: str
    kind: ChannelKind


class Preferences(View):
    user: str
    channels: Annotated[
        list[str] | None, Field(description="Names or kinds of channels that may notify you. Null: all.")
    ]
    notification_kinds: Annotated[
        list[NotificationKind] | None, Field(description="Kinds of notifications you want. Null: all.")
    ]
    quiet_hours: Annotated[
        QuietHours | None, Field(description="Hours in which you get no notifications. They are sent afterwards.")
    ]
    available_channels: Annotated[list[AvailableChannel], Field(description="Channels that can notify you personally.")]
