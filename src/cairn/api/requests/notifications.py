"""Bodies of requests about channels and preferences."""

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
    Field(max_length=20, description="What goes there without a rule that names it; all but completed runs."),
]
Url = Annotated[
    Text | None,
    Field(min_length=1, max_length=2000, description="Of a webhook, or of a service of apprise's. Kept as a secret."),
]
Key = Annotated[
    Text | None, Field(min_length=1, max_length=500, description="That a webhook is signed with. Kept as a secret.")
]
Fallback = Annotated[
    Text | None, Field(max_length=60, description="The name of the channel that is taken when this one fails.")
]
Recipients = Annotated[
    list[Word] | None,
    Field(max_length=100, description="Persons, addresses, roles, groups, where a rule names nobody."),
]
Pipelines = Annotated[list[Id] | None, Field(max_length=500, description="Only what happens there; none: everywhere.")]
Details = Annotated[bool | None, Field(description="False: what it is about stays inside, only a link leaves.")]


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
        Text | None, Field(max_length=60, description="Of another channel; an empty text takes it away.")
    ] = None

    @property
    def spec(self) -> ChannelSpec:
        return ChannelSpec(**dict(self))


class TestChannelRequest(RequestBody):
    recipient: Annotated[
        Word | None, Field(description="Of an e-mail channel: whom the test goes to; yourself unless said.")
    ] = None


class QuietHoursInput(RequestBody):
    start: Annotated[str, StringConstraints(pattern=r"^\d\d:\d\d$"), Field(description="Such as 22:00.")]
    end: Annotated[str, StringConstraints(pattern=r"^\d\d:\d\d$"), Field(description="Such as 07:00.")]
    time_zone: Annotated[Word, Field(description="Such as Europe/Berlin.")]


class SetPreferencesRequest(RequestBody):
    channels: Annotated[
        list[Word] | None, Field(max_length=100, description="Names or kinds that may reach you; null: all.")
    ] = None
    notification_kinds: Annotated[
        list[Kind] | None, Field(max_length=20, description="What you want to be told; null: everything.")
    ] = None
    quiet_hours: Annotated[
        QuietHoursInput | None, Field(description="Hours in which nothing is sent to you; it comes afterwards.")
    ] = None
