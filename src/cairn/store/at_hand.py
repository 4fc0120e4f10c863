"""A connection for those who read on the event loop: it waits for nobody who reads in a thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from cairn.store.prepared_statements import begun, commit, send

T = TypeVar("T")


class AtHand:
    """Kept open, and begun anew for each query behind SQLAlchemy's back, which would take longer than the query."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._connection: sa.Connection | None = None
        self._use = threading.Lock()

    def take(self) -> bool:
        """Whether the caller has it now; not if somebody is at it, such as the caller himself one call further up."""
        return self._use.acquire(blocking=False)

    def read(self, query: Callable[[sa.Connection], T]) -> T:
        """Read from one snapshot, for who has taken it, and let go of it."""
        try:
            connection = self._begun()
            try:
                return query(connection)
            finally:
                self._end(connection)
        finally:
            self._use.release()

    def close(self) -> None:
        with self._use:
            self._drop()
            self._engine.dispose()

    def _begun(self) -> sa.Connection:
        if self._connection is not None:
            try:
                send(self._connection, "BEGIN", ())
            except DBAPIError:
                self._drop()  # it may be closed or broken: try a new one
            else:
                return self._connection
        self._connection = begun(self._engine)
        return self._connection

    def _end(self, connection: sa.Connection) -> None:
        if connection.invalidated:
            self._drop()
        else:
            commit(connection)

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
