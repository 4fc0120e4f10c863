"""Record when sign-ins are blocked after too many failures: one event per source and hour."""

from __future__ import annotations

from collections import OrderedDict, deque
from datetime import datetime, timedelta
from typing import Literal

from cairn.ports import Clock
from cairn.store import Connection, Database
from cairn.store.errors import DatabaseUnavailable
from cairn.store.events import chain

Limit = Literal["address", "name"]
NOBODY = "nobody"  # the actor of events while no user is signed in
PERIOD = timedelta(hours=1)  # until the same source is recorded again
MAX_EVENTS = 20  # per period, however many sources there are
MAX_SOURCES = 1024  # sources to remember


class BlockedSignIns:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._recorded: OrderedDict[tuple[Limit, str], datetime] = OrderedDict()
        self._recent: deque[datetime] = deque(maxlen=MAX_EVENTS)

    async def record(self, limit: Limit, source: str, method: str, user: str | None) -> None:
        """Record that too many sign-ins failed from one address or for one name; `user` is the user of that name.

        The name that was entered is not recorded: it may be a password typed into the wrong field. The sign-in stays
        blocked even if the database is unavailable.
        """
        if not self._is_due(limit, source):
            return
        metadata = {"limit": limit, "signed_in_with": method, "user": user}

        def write(connection: Connection) -> None:
            chain.append_global_event(connection, "sign_in_blocked", NOBODY, self._clock.now(), metadata)

        try:
            await self._database.transact(write)
        except DatabaseUnavailable:
            return

    def _is_due(self, limit: Limit, source: str) -> bool:
        now = self._clock.now()
        last = self._recorded.get((limit, source))
        if last is not None and now - last < PERIOD:
            return False
        if len(self._recent) == MAX_EVENTS and now - self._recent[0] < PERIOD:
            return False
        self._recent.append(now)
        self._recorded[limit, source] = now
        self._recorded.move_to_end((limit, source))
        if len(self._recorded) > MAX_SOURCES:
            self._recorded.popitem(last=False)
        return True
