"""Idempotency keys: a repeated request with the same key and body gets the same response."""

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

RESPONSE_LIFETIME = timedelta(hours=24)
_ABANDONED_AFTER = timedelta(minutes=2)  # the process that handled the request has died
_IN_PROGRESS = "Another request with this Idempotency-Key is in progress."
_HINT = ("retry later",)


@dataclass(frozen=True, slots=True)
class IdempotentRequest:
    """A request. Two requests are the same if all fields are equal."""

    actor: str
    key: str
    method: str
    path: str
    digest: str  # of the body

    @property
    def command_id(self) -> UUID:
        """The same id for every attempt, to recognize a command whose response was lost after the commit."""
        return uuid5(NAMESPACE_URL, f"cairn:{self.actor}\n{self.key}\n{self.method}\n{self.path}\n{self.digest}")


@dataclass(frozen=True, slots=True)
class StoredResponse:
    status: int
    response: bytes


class IdempotencyKeys:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._claimed: set[tuple[str, str]] = set()

    async def claim(self, request: IdempotentRequest) -> StoredResponse | None:
        """Claim the key. Return the stored response, or None if the request must be handled."""
        claim = (request.actor, request.key)
        if claim in self._claimed:
            raise CommandRefused(_IN_PROGRESS, _HINT)
        self._claimed.add(claim)
        try:
            response = await self._database.transact(lambda c: self._claim(c, request))
        except BaseException as error:
            self._claimed.discard(claim)
            if isinstance(error, IntegrityError):
                raise CommandRefused(_IN_PROGRESS, _HINT) from None
            raise
        if response is not None:
            self._claimed.discard(claim)
        return response

    async def store_response(self, request: IdempotentRequest, status: int, response: bytes) -> None:
        update = sa.update(t.idempotency_keys).where(*_matching(request)).values(status=status, response=response)
        try:
            await self._database.transact(lambda c: c.execute(update))
        finally:
            self._claimed.discard((request.actor, request.key))

    async def release(self, request: IdempotentRequest) -> None:
        """Release the key of a request that failed without changing anything."""
        remove = sa.delete(t.idempotency_keys).where(*_matching(request), t.idempotency_keys.c.status.is_(None))
        try:
            await self._database.transact(lambda c: c.execute(remove))
        finally:
            self._claimed.discard((request.actor, request.key))

    def _claim(self, connection: Connection, request: IdempotentRequest) -> StoredResponse | None:
        now = self._clock.now()
        keys = t.idempotency_keys
        connection.execute(sa.delete(keys).where(keys.c.created_at < now - RESPONSE_LIFETIME))
        row = connection.execute(sa.select(keys).where(*_matching(request))).one_or_none()
        if row is None:
            connection.execute(sa.insert(keys).values({**_values(request), "created_at": now}))
            return None
        if (row.method, row.path, row.request_digest) != (request.method, request.path, request.digest):
            raise InvalidInput(
                [("Idempotency-Key", "This key was used for another request. Use a new key.")],
                "Idempotency-Key already used for another request.",
            )
        if row.status is not None:
            return StoredResponse(row.status, row.response)
        # Only one process uses SQLite. It has not claimed the key, so an earlier process claimed it and died.
        if self._database.kind == "postgresql" and now - row.created_at < _ABANDONED_AFTER:
            raise CommandRefused(_IN_PROGRESS, _HINT)
        connection.execute(sa.update(keys).where(*_matching(request)).values(created_at=now))
        return None


def _matching(request: IdempotentRequest) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return t.idempotency_keys.c.actor == request.actor, t.idempotency_keys.c.key == request.key


def _values(request: IdempotentRequest) -> dict[str, str]:
    return {
        "actor": request.actor,
        "key": request.key,
        "method": request.method,
        "path": request.path,
        "request_digest": request.digest,
    }
