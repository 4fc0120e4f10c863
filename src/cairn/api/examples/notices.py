"""Channels, deliveries and preferences, as in the docs."""

from __future__ import annotations

from typing import Any

from cairn.api.examples import story as s
from cairn.services.notifications.views import (
    AvailableChannel,
    Channel,
    ChannelPage,
    CreatedChannel,
    Delivery,
    DeliveryAttempt,
    DeliveryDetail,
    DeliveryPage,
    Preferences,
    QuietHours,
    RemovedChannel,
)
from cairn.store.tables.notifications import ChannelKind, DeliveryOutcome, DeliveryStatus, NotificationKind

CHANNEL_ID, DELIVERY_ID, NOTICE_ID = s.name("channel"), s.name("delivery"), s.name("notice")
KINDS = [NotificationKind.APPROVAL_ASKED, NotificationKind.APPROVAL_ESCALATED, NotificationKind.EXECUTION_FAILED]

CHANNEL = Channel(
    channel_id=CHANNEL_ID,
    name="Operations",
    kind=ChannelKind.TEAMS,
    is_enabled=True,
    shows_details=True,
    kinds=KINDS,
    pipelines=[],
    recipients=[],
    host="example.webhook.office.com",
    fallback="Mail",
    revision=1,
    created_at=s.at(0),
    created_by="admin",
    updated_at=s.at(0),
)
_MADE: dict[str, Any] = {
    "delivery_id": DELIVERY_ID,
    "notice_id": NOTICE_ID,
    "kind": NotificationKind.TEST,
    "channel_id": CHANNEL_ID,
    "channel": "Operations",
    "channel_kind": "teams",
    "recipient": "",
    "status": DeliveryStatus.SENT,
    "tries": 1,
    "may_be_repeated": False,
    "told": "202",
    "fallback_of": None,
    "pipeline_id": None,
    "run_id": None,
    "execution_id": None,
    "approval_id": None,
    "made_at": s.at(0),
    "due_at": s.at(0),
    "ended_at": s.at(0),
}
DELIVERY = DeliveryDetail(
    **_MADE,
    content={"kind": "test", "tone": "good", "title": "This channel works", "text": ""},
    history=[DeliveryAttempt(number=1, began_at=s.at(0), ended_at=s.at(0), outcome=DeliveryOutcome.SENT, told="202")],
)
PREFERENCES = Preferences(
    user="admin",
    channels=None,
    kinds=KINDS,
    quiet=QuietHours(start="22:00", end="07:00", time_zone="Europe/Berlin"),
    available=[AvailableChannel(name="Mail", kind=ChannelKind.EMAIL)],
)

REQUESTS: dict[str, Any] = {
    "create_channel": {
        "name": "Operations",
        "kind": "teams",
        "url": "https://example.webhook.office.com/workflows/a1b2",
        "fallback": "Mail",
    },
    "update_channel": {"shows_details": False},
    "test_channel": {},
    "set_preferences": {
        "kinds": [kind.value for kind in KINDS],
        "quiet": {"start": "22:00", "end": "07:00", "time_zone": "Europe/Berlin"},
    },
}
RESPONSES: dict[str, Any] = {
    "list_channels": ChannelPage(items=[CHANNEL], next_cursor=None),
    "create_channel": CreatedChannel(**dict(CHANNEL), signing_key=None),
    "get_channel": CHANNEL,
    "update_channel": CHANNEL,
    "delete_channel": RemovedChannel(channel_id=CHANNEL_ID, name="Operations"),
    "test_channel": DELIVERY,
    "list_deliveries": DeliveryPage(items=[Delivery(**_MADE)], next_cursor=None),
    "get_delivery": DELIVERY,
    "get_preferences": PREFERENCES,
    "set_preferences": PREFERENCES,
}
