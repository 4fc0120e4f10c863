"""Channels, deliveries and preferences."""

from __future__ import annotations

from typing import Any

from cairn.api.examples import story
from cairn.services.notifications.views import (
    AvailableChannel,
    Channel,
    ChannelPage,
    CreatedChannel,
    DeletedChannel,
    Delivery,
    DeliveryAttempt,
    DeliveryDetail,
    DeliveryPage,
    Preferences,
    QuietHours,
)
from cairn.store.tables.notifications import ChannelKind, DeliveryOutcome, DeliveryStatus, NotificationKind

CHANNEL_ID = story.id_of("channel")
DELIVERY_ID = story.id_of("delivery")
NOTIFICATION_ID = story.id_of("notification")
KINDS = [NotificationKind.APPROVAL_REQUESTED, NotificationKind.APPROVAL_ESCALATED, NotificationKind.EXECUTION_FAILED]


def channel() -> Channel:
    return Channel(
        channel_id=CHANNEL_ID,
        name="Operations",
        kind=ChannelKind.TEAMS,
        is_enabled=True,
        include_details=True,
        notification_kinds=KINDS,
        pipelines=[],
        recipients=[],
        host="example.webhook.office.com",
        fallback="Mail",
        revision=1,
        created_at=story.at(0),
        created_by="admin",
        updated_at=story.at(0),
    )


def _delivery() -> dict[str, Any]:
    return {
        "delivery_id": DELIVERY_ID,
        "notification_id": NOTIFICATION_ID,
        "kind": NotificationKind.TEST,
        "channel_id": CHANNEL_ID,
        "channel": "Operations",
        "channel_kind": "teams",
        "recipient": "",
        "status": DeliveryStatus.SENT,
        "attempt_count": 1,
        "possible_duplicate": False,
        "response": "202",
        "fallback_of": None,
        "pipeline_id": None,
        "run_id": None,
        "execution_id": None,
        "approval_id": None,
        "created_at": story.at(0),
        "due_at": story.at(0),
        "ended_at": story.at(0),
    }


def delivery() -> DeliveryDetail:
    return DeliveryDetail(
        **_delivery(),
        content={"kind": "test", "tone": "good", "title": "Test notification", "text": ""},
        attempts=[
            DeliveryAttempt(
                number=1, started_at=story.at(0), ended_at=story.at(0), outcome=DeliveryOutcome.SENT, response="202"
            )
        ],
    )


def preferences() -> Preferences:
    return Preferences(
        user="admin",
        channels=None,
        notification_kinds=KINDS,
        quiet_hours=QuietHours(start="22:00", end="07:00", time_zone="Europe/Berlin"),
        available_channels=[AvailableChannel(name="Mail", kind=ChannelKind.EMAIL)],
    )


def create_channel_request() -> dict[str, Any]:
    return {
        "name": "Operations",
        "kind": "teams",
        "url": "https://example.webhook.office.com/workflows/a1b2",
        "fallback": "Mail",
    }


def update_channel_request() -> dict[str, Any]:
    return {"include_details": False}


def test_channel_request() -> dict[str, Any]:
    return {}


def set_preferences_request() -> dict[str, Any]:
    return {
        "notification_kinds": [kind.value for kind in KINDS],
        "quiet_hours": {"start": "22:00", "end": "07:00", "time_zone": "Europe/Berlin"},
    }


def channels() -> ChannelPage:
    return ChannelPage(items=[channel()], next_cursor=None)


def created_channel() -> CreatedChannel:
    return CreatedChannel(**dict(channel()), signing_key=None)


def deleted_channel() -> DeletedChannel:
    return DeletedChannel(channel_id=CHANNEL_ID, name="Operations")


def deliveries() -> DeliveryPage:
    return DeliveryPage(items=[Delivery(**_delivery())], next_cursor=None)
