"""Request bodies for channels and notification preferences."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from cairn.api.parameters import Text
from cairn.api.request_body import Id, RequestBody
from cairn.services.notifications.channels import ChannelSpec
from cairn.store.tables.notifications import ChannelKind, NotificationKind

Word = Annotated[Text, StringConstraints(min_length=1, max_length=200)]
Kind = Annotated[NotificationKind, Field(strict=False)]
Kinds = Annotated[
    list[Kind] | None,
    Field(
        max_length=20,
        description="Kinds sent to this channel unless a rule names channels. Default: all but `run_completed`.",
    ),
]
Url = Annotated[
    Text | None,
    Field(min_length=1, max_length=2000, description="URL of the webhook or apprise service. Stored as a secret."),
]
Key = Annotated[
    Text | None, Field(min_length=1, max_length=500, description="Key to sign webhooks with. Stored as a secret.")
]
Fallback = Annotated[Text | None, Field(max_length=60, description="Name of the channel to use if this one fails.")]
Recipients = Annotated[
    list[Word] | None,
    Field(max_length=100, description="Users, addresses, roles or groups to notify if no rule names recipients."),
]
Pipelines = Annotated[list[Id] | None, Field(max_length=500, description="Ids of pipelines. Empty: all pipelines.")]
Details = Annotated[bool | None, Field(description="False: messages contain only key facts and links.")]


class CreateChannelRequest(RequestBody):
    name: Word
    kind: Annotated[ChannelKind, Field(strict=False)]
    url: Url = None
    signing_key: Key = None
    is_enabled: bool | None = None
    include_details: Details = None
    notification_kinds: Kinds = None
    pipelines: Pipelines = None
    recipients: Recipients = None
    fallback: Fallback = None

    @property
    def spec(self) -> ChannelSpec:
        return ChannelSpec(**dict(self))


class UpdateChannelRequest(RequestBody):
    name: Word | None = None
    url: Url = None
    signing_key: Key = None
    is_enabled: bool | None = None
    include_details: Details = None
    notification_kinds: Kinds = None
    pipelines: Pipelines = None
    recipients: Recipients = None
    fallback: Annotated[
        Text | None, Field(max_length=60, description="Name of the fallback channel. Empty: remove it.")
    ] = None

    @property
    def spec(self) -> ChannelSpec:
        return ChannelSpec(**dict(self))


class TestChannelRequest(RequestBody):
    recipient: Annotated[Word | None, Field(description="Recipient of the test of an email channel. Default: you.")] = (
        None
    )


class QuietHoursInput(RequestBody):
    start: Annotated[str, StringConstraints(pattern=r"^\d\d:\d\d$"), Field(description="Such as 22:00.")]
    end: Annotated[str, StringConstraints(pattern=r"^\d\d:\d\d$"), Field(description="Such as 07:00.")]
    time_zone: Annotated[Word, Field(description="Such as Europe/Berlin.")]


class SetPreferencesRequest(RequestBody):
    channels: Annotated[
        list[Word] | None,
        Field(max_length=100, description="Names or kinds of channels that may notify you. Null: all."),
    ] = None
    notification_kinds: Annotated[
        list[Kind] | None, Field(max_length=20, description="Kinds to receive. Null: all.")
    ] = None
    quiet_hours: Annotated[
        QuietHoursInput | None, Field(description="Hours during which notifications are held back.")
    ] = None
