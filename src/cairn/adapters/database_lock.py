"""One server holds a shared database; a second one is told so. It goes with the connection, however that ends."""

from __future__ import annotations

import sqlalchemy as sa

KEY = 0x6361_6972_6E  # "cairn"


class DatabaseHeld(Exception):
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
            raise DatabaseHeld(
                "Another Cairn serves this database. Stop that one, or give this one a database of its own."
            )
        self._connection = connection

    def release(self) -> None:
        if self._connection is not None:
            self._connection.invalidate()  # ends the session, and the lock with it
            self._connection.close()
            self._connection = None
