"""Lock a shared database for one server, so that a second server fails to start."""

from __future__ import annotations

import contextlib

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

LOCK_KEY = 0x6361_6972_6E  # "cairn"


class DatabaseInUse(Exception):
    """Another server uses this database."""


class DatabaseLock:
    """A PostgreSQL advisory lock on a separate connection. It is released when the connection ends for any reason."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._connection: sa.Connection | None = None

    def acquire(self) -> None:
        connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        if not connection.execute(sa.text("SELECT pg_try_advisory_lock(:key)"), {"key": LOCK_KEY}).scalar_one():
            connection.close()
            raise DatabaseInUse(
                "Another Cairn server uses this database. Stop it, or set CAIRN_DATABASE_URL to another database."
            )
        self._connection = connection

    def release(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        with contextlib.suppress(SQLAlchemyError):  # the session may be gone, and the lock with it
            connection.execute(sa.text("SELECT pg_advisory_unlock(:key)"), {"key": LOCK_KEY})
        connection.invalidate()
        connection.close()
