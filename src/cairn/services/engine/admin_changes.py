"""Changes that belong to no pipeline: each is one transaction with its events, then everybody hears of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from cairn.ports import Clock
from cairn.services.actors import Actor
from cairn.services.engine.event_bus import ChangeHint, EventBus
from cairn.store import Connection, Database
from cairn.store.events import chain

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AdminChange:
    """One change under way."""

    connection: Connection
    by: Actor
    at: datetime
    told: list[str] = field(default_factory=list[str])

    def record(self, type: str, /, **metadata: Any) -> None:
        """Write an event into the global trail. Never a secret, never an address."""
        chain.append_global_event(self.connection, type, self.by.name, self.at, metadata)
        self.told.append(type)


class AdminChanges:
    def __init__(self, database: Database, clock: Clock, hub: EventBus) -> None:
        self.database = database
        self.clock = clock
        self._hub = hub
        self._forgetting: list[Callable[[], None]] = []

    def forget_with(self, forget: Callable[[], None]) -> None:
        """Have this called after every change: what was remembered may no longer hold."""
        self._forgetting.append(forget)

    async def carry_out(self, change: Callable[[AdminChange], T], by: Actor) -> T:
        at = self.clock.now()
        told: list[str] = []
        try:
            return await self.database.transact(lambda c: change(AdminChange(c, by, at, told)))
        finally:  # cancelled, it may have been carried out all the same
            for forget in self._forgetting:
                forget()
            self._hub.announce(*(ChangeHint(None, None, event) for event in told))
