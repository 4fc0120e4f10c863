"""Everything about notices that the faces and the worker need, wired."""

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
    trials: ChannelTests
    wishes: NotificationPreferences


def open_telling(
    admin_changes: AdminChanges,
    engine: Engine,
    jobs: JobEngine,
    people: Recipients,
    ways: OutboundPorts,
    secrets: ChannelSecrets,
    base: str,
) -> Notifications:
    """`base`: what links begin with."""
    database, clock = admin_changes.database, admin_changes.clock
    courier = Courier(
        database,
        jobs,
        clock,
        lambda connection, run_id: engine.load(connection, run_id, lock=False),
        Routing(people),
        DeliverySender(ways, secrets, clock, base),
        secrets,
    )
    return Notifications(
        courier,
        ChannelService(admin_changes, secrets, ways.messenger),
        ChannelTests(database, courier, clock),
        NotificationPreferences(database, clock),
    )
