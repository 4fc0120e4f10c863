"""Changes outside of pipelines. Each is one transaction with its events, followed by change hints."""

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
    """A change in progress."""

    connection: Connection
    actor: Actor
    at: datetime
    event_types: list[str] = field(default_factory=list[str])

    def record(self, type: str, /, **metadata: Any) -> None:
        """Append an event to the installation's chain. Never include a secret or an email address."""
        chain.append_global_event(self.connection, type, self.actor.name, self.at, metadata)
        self.event_types.append(type)


class AdminChanges:
    def __init__(self, database: Database, clock: Clock, event_bus: EventBus) -> None:
        self.database = database
        self.clock = clock
        self._event_bus = event_bus
        self._listeners: list[Callable[[], None]] = []

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call `listener` after every change, to clear its cache."""
        self._listeners.append(listener)

    async def apply(self, body: Callable[[AdminChange], T], actor: Actor) -> T:
        at = self.clock.now()
        event_types: list[str] = []
        try:
            return await self.database.transact(lambda c: body(AdminChange(c, actor, at, event_types)))
        finally:  # a cancelled or failed call may have committed the change
            for listener in self._listeners:
                listener()
            self._event_bus.publish(*(ChangeHint(None, None, event_type) for event_type in event_types))
