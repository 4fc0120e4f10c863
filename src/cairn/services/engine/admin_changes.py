"""Changes that belong to no pipeline: each is one transaction with its events, then everybody hears of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

import sqlalchemy as sa

from cairn.ports import Clock
from cairn.services.actors import Actor
from cairn.services.engine.event_bus import Hub
from cairn.services.events.views import Change
from cairn.store import Database
from cairn.store.events import chain

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Act:
    """One change under way."""

    connection: sa.Connection
    by: Actor
    at: datetime
    told: list[str] = field(default_factory=list[str])

    def record(self, type: str, /, **metadata: Any) -> None:
        """Write an event into the global trail. Never a secret, never an address."""
        chain.append_global_event(self.connection, type, self.by.name, self.at, metadata)
        self.told.append(type)


class Acts:
    def __init__(self, database: Database, clock: Clock, hub: Hub) -> None:
        self.database = database
        self.clock = clock
        self._hub = hub
        self._forgetting: list[Callable[[], None]] = []

    def forget_with(self, forget: Callable[[], None]) -> None:
        """Have this called after every change: what was remembered may no longer hold."""
        self._forgetting.append(forget)

    async def carry_out(self, change: Callable[[Act], T], by: Actor) -> T:
        at = self.clock.now()
        told: list[str] = []
        try:
            return await self.database.transact(lambda c: change(Act(c, by, at, told)))
        finally:  # cancelled, it may have been carried out all the same
            for forget in self._forgetting:
                forget()
            self._hub.announce(*(Change(None, None, event) for event in told))
