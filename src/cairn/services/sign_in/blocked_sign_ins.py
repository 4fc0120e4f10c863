"""Floods of failed sign-ins are told in the trail, and a flood is one line of it."""

from __future__ import annotations

from collections import OrderedDict, deque
from datetime import datetime, timedelta
from typing import Literal

from sqlalchemy.exc import OperationalError

from cairn.ports import Clock
from cairn.store import Connection, Database
from cairn.store.events import chain

Limit = Literal["address", "name"]
NOBODY = "nobody"  # who admin_changes in the trail where nobody is signed in
AGAIN = timedelta(hours=1)  # after which the same flood is told once more
MOST = 20  # that are told in such a time, however many there are
KEPT = 1024  # floods that are remembered


class BlockedSignIns:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._told: OrderedDict[tuple[Limit, str], datetime] = OrderedDict()
        self._recent: deque[datetime] = deque(maxlen=MOST)

    async def tell(self, limit: Limit, source: str, way: str, user: str | None) -> None:
        """That too many have failed: from one address, or for one name. `user` is whose name it is, if anybody's.

        What was typed in as a name is not told: it may be a password that went into the wrong field. A database that
        takes no changes at the moment changes nothing about the refusal.
        """
        if not self._is_due(limit, source):
            return
        told = {"limit": limit, "signed_in_with": way, "user": user}

        def write(connection: Connection) -> None:
            chain.append_global_event(connection, "sign_in_blocked", NOBODY, self._clock.now(), told)

        try:
            await self._database.transact(write)
        except OperationalError:
            return

    def _is_due(self, limit: Limit, source: str) -> bool:
        now = self._clock.now()
        last = self._told.get((limit, source))
        if last is not None and now - last < AGAIN:
            return False
        if len(self._recent) == MOST and now - self._recent[0] < AGAIN:
            return False
        self._recent.append(now)
        self._told[limit, source] = now
        self._told.move_to_end((limit, source))
        if len(self._told) > KEPT:
            self._told.popitem(last=False)
        return True
