"""Build the services for notifications."""

from __future__ import annotations

from dataclasses import dataclass

from cairn.ports import JobEngine
from cairn.services.engine.admin_changes import AdminChanges
from cairn.services.engine.engine import Engine
from cairn.services.notifications.channel_tests import ChannelTests
from cairn.services.notifications.channels import ChannelSecrets, ChannelService
from cairn.services.notifications.courier import Courier
from cairn.services.notifications.preferences import NotificationPreferences
from cairn.services.notifications.recipients import Recipients
from cairn.services.notifications.routing import Routing
from cairn.services.notifications.sender import DeliverySender, OutboundPorts


@dataclass(frozen=True, slots=True)
class Notifications:
    courier: Courier
    channels: ChannelService
    channel_tests: ChannelTests
    preferences: NotificationPreferences


def build_notifications(
    admin_changes: AdminChanges,
    engine: Engine,
    jobs: JobEngine,
    recipients: Recipients,
    outbound: OutboundPorts,
    secrets: ChannelSecrets,
    base_url: str,
) -> Notifications:
    database, clock = admin_changes.database, admin_changes.clock
    courier = Courier(
        database,
        jobs,
        clock,
        lambda connection, run_id: engine.load(connection, run_id, lock=False),
        Routing(recipients),
        DeliverySender(outbound, secrets, clock, base_url),
        secrets,
    )
    return Notifications(
        courier,
        ChannelService(admin_changes, secrets, outbound.messenger, recipients),
        ChannelTests(database, courier, clock),
        NotificationPreferences(database, clock),
    )
