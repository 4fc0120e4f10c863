"""One server holds a shared database; a second one is told so. It goes with the connection, however that ends."""

from __future__ import annotations

import contextlib

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

KEY = 0x6361_6972_6E  # "cairn"


class DatabaseInUse(Exception):
    """Another process serves this database."""


class DatabaseLock:
    """PostgreSQL's advisory lock, held by a connection of its own."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._connection: sa.Connection | None = None

    def acquire(self) -> None:
        connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        if not connection.execute(sa.text("SELECT pg_try_advisory_lock(:key)"), {"key": KEY}).scalar_one():
            connection.close()
            raise DatabaseInUse(
                "Another Cairn serves this database. Stop that one, or give this one a database of its own."
            )
        self._connection = connection

    def release(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        with contextlib.suppress(SQLAlchemyError):  # the session may be gone, and the lock with it
            connection.execute(sa.text("SELECT pg_advisory_unlock(:key)"), {"key": KEY})
        connection.invalidate()
        connection.close()
