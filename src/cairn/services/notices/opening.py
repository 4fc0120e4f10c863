"""Everything about notices that the faces and the worker need, wired."""

from __future__ import annotations

from dataclasses import dataclass

from cairn.ports import JobEngine
from cairn.services.acts import Acts
from cairn.services.engine.engine import Engine
from cairn.services.notices.channels import Channels, SecretStore
from cairn.services.notices.courier import Courier
from cairn.services.notices.people import People
from cairn.services.notices.routing import Routing
from cairn.services.notices.sending import Outward, Sending
from cairn.services.notices.trials import Trials
from cairn.services.notices.wishes import Wishes


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
