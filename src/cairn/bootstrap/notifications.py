"""Everything about notices that the faces and the worker need, wired."""

from __future__ import annotations

from dataclasses import dataclass

from cairn.ports import JobEngine
from cairn.services.engine.admin_changes import Acts
from cairn.services.engine.engine import Engine
from cairn.services.notifications.channel_tests import Trials
from cairn.services.notifications.channels import Channels, SecretStore
from cairn.services.notifications.courier import Courier
from cairn.services.notifications.preferences import Wishes
from cairn.services.notifications.recipients import People
from cairn.services.notifications.routing import Routing
from cairn.services.notifications.sender import Outward, Sending


@dataclass(frozen=True, slots=True)
class Telling:
    courier: Courier
    channels: Channels
    trials: Trials
    wishes: Wishes


def open_telling(
    acts: Acts, engine: Engine, jobs: JobEngine, people: People, ways: Outward, secrets: SecretStore, base: str
) -> Telling:
    """`base`: what links begin with."""
    database, clock = acts.database, acts.clock
    courier = Courier(
        database,
        jobs,
        clock,
        lambda connection, run_id: engine.load(connection, run_id, lock=False),
        Routing(people),
        Sending(ways, secrets, clock, base),
        secrets,
    )
    return Telling(
        courier, Channels(acts, secrets, ways.messenger), Trials(database, courier, clock), Wishes(database, clock)
    )
