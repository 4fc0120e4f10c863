"""Requests that are sent again: the same key and body get the same answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from uuid import NAMESPACE_URL, UUID, uuid5

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from cairn.core.errors import CommandRefused
from cairn.ports import Clock
from cairn.services.errors import InvalidInput
from cairn.store import Connection, Database
from cairn.store import tables as t

KEPT = timedelta(hours=24)  # answers are given again for so long
_ABANDONED = timedelta(minutes=2)  # a request that has not been answered by now never will be
_BUSY = "Another request with this Idempotency-Key is being answered."


@dataclass(frozen=True, slots=True)
class IdempotentRequest:
    """What makes two requests the same."""

    actor: str
    key: str
    method: str
    path: str
    digest: str  # of the body

    @property
    def command_id(self) -> UUID:
        """The same for every try, so that one that was cut off after its commit is recognised."""
        return uuid5(NAMESPACE_URL, f"cairn:{self.actor}\n{self.key}\n{self.method}\n{self.path}\n{self.digest}")


@dataclass(frozen=True, slots=True)
class StoredResponse:
    status: int
    response: bytes


class IdempotencyKeys:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._held: set[tuple[str, str]] = set()

    async def claim(self, asked: IdempotentRequest) -> StoredResponse | None:
        """The answer that was given before; None if this request is the one to be answered."""
        name = (asked.actor, asked.key)
        if name in self._held:
            raise CommandRefused(_BUSY, ("ask again later",))
        self._held.add(name)
        try:
            answered = await self._database.transact(lambda c: self._claim(c, asked))
        except BaseException as error:
            self._held.discard(name)
            if isinstance(error, IntegrityError):
                raise CommandRefused(_BUSY, ("ask again later",)) from None
            raise
        if answered is not None:
            self._held.discard(name)
        return answered

    async def keep(self, asked: IdempotentRequest, status: int, response: bytes) -> None:
        update = sa.update(t.idempotency_keys).where(*_named(asked)).values(status=status, response=response)
        try:
            await self._database.transact(lambda c: c.execute(update))
        finally:
            self._held.discard((asked.actor, asked.key))

    async def release(self, asked: IdempotentRequest) -> None:
        """Nothing has changed: the key may be used again."""
        remove = sa.delete(t.idempotency_keys).where(*_named(asked), t.idempotency_keys.c.status.is_(None))
        try:
            await self._database.transact(lambda c: c.execute(remove))
        finally:
            self._held.discard((asked.actor, asked.key))

    def _claim(self, connection: Connection, asked: IdempotentRequest) -> StoredResponse | None:
        now = self._clock.now()
        keys = t.idempotency_keys
        connection.execute(sa.delete(keys).where(keys.c.created_at < now - KEPT))
        row = connection.execute(sa.select(keys).where(*_named(asked))).one_or_none()
        if row is None:
            connection.execute(sa.insert(keys).values({**_values(asked), "created_at": now}))
            return None
        if (row.method, row.path, row.request_digest) != (asked.method, asked.path, asked.digest):
            raise InvalidInput(
                [("Idempotency-Key", "This key was used for another request.")],
                "An Idempotency-Key names one request; use a new one for another.",
            )
        if row.status is not None:
            return StoredResponse(row.status, row.response)
        # On SQLite there is one process, and it does not hold the key: the one before it was cut off.
        if self._database.kind == "postgresql" and now - row.created_at < _ABANDONED:
            raise CommandRefused(_BUSY, ("ask again later",))
        connection.execute(sa.update(keys).where(*_named(asked)).values(created_at=now))
        return None


def _named(asked: IdempotentRequest) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return t.idempotency_keys.c.actor == asked.actor, t.idempotency_keys.c.key == asked.key


def _values(asked: IdempotentRequest) -> dict[str, str]:
    return {
        "actor": asked.actor,
        "key": asked.key,
        "method": asked.method,
        "path": asked.path,
        "request_digest": asked.digest,
    }
