"""SQLite as Cairn uses it: WAL, explicit transactions, and one lock in front of its single writer."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Literal, TypeAlias

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from cairn.store import unixepoch
from cairn.store.errors import OldSqlite
from cairn.store.prepared_statements import send

Use: TypeAlias = Literal["write", "read", "system", "migrate"]

OLDEST = (3, 35)  # the first with RETURNING

_WRITES = ("INSERT", "UPDATE", "DELETE", "REPLAC", "BEGIN ")  # BEGIN IMMEDIATE
_KIB_OF_CACHE = 16 * 1024
_PAGES_BETWEEN_CHECKPOINTS = 4000  # 16 MiB: under load each page is written back once for many changes
_LARGEST_IDLE_LOG = 64 * 1024 * 1024


def check_version() -> None:
    """Refuse a library that lacks what statements of Cairn and the job engine use."""
    if sqlite3.sqlite_version_info < OLDEST:
        raise OldSqlite(
            f"SQLite {sqlite3.sqlite_version} is too old: Cairn needs {'.'.join(map(str, OLDEST))} or newer",
            "use a Python with a newer SQLite, or PostgreSQL (CAIRN_DATABASE_URL)",
        )


class WriterLock:
    """One lock for all writing connections of a process.

    SQLite has one writer; who finds it taken sleeps and looks again, up to 100 ms late. Who waits here is woken.
    """

    def __init__(self, timeout: float) -> None:
        self._lock = threading.Lock()
        self._timeout = timeout

    def acquire(self) -> None:
        if not self._lock.acquire(timeout=self._timeout):
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise error

    def release(self) -> None:
        self._lock.release()


class _Cursor(sqlite3.Cursor):
    connection: _Connection  # pyright: ignore[reportIncompatibleMethodOverride]

    def execute(self, sql: str, parameters: Any = (), /) -> _Cursor:
        self.connection.before(sql)
        try:
            super().execute(sql, parameters)
        finally:
            self.connection.after()
        return self

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> _Cursor:
        self.connection.before(sql)
        try:
            super().executemany(sql, parameters)
        finally:
            self.connection.after()
        return self


class _Connection(sqlite3.Connection):
    """Takes the lock before its transaction writes and gives it back when the transaction is over."""

    def __init__(self, *args: Any, lock: WriterLock, **options: Any) -> None:
        super().__init__(*args, **options)
        self._lock = lock
        self._holds = False

    def before(self, sql: str) -> None:
        if not self._holds and sql.lstrip()[:6].upper() in _WRITES:
            self._lock.acquire()
            self._holds = True

    def after(self) -> None:
        if self._holds and not self.in_transaction:
            self._holds = False
            self._lock.release()

    def cursor(self, factory: Any = _Cursor) -> Any:
        """Who holds the lock need not ask for it again: most statements are those of a transaction under way."""
        return super().cursor() if self._holds else super().cursor(factory)

    def commit(self) -> None:
        try:
            super().commit()
        finally:
            self.after()

    def rollback(self) -> None:
        try:
            super().rollback()
        finally:
            self.after()

    def close(self) -> None:
        try:
            super().close()
        finally:
            if self._holds:
                self._holds = False
                self._lock.release()


def make_engine(url: sa.URL, use: Use, lock: WriterLock, *, synchronous: str, timeout: float, pool: int) -> sa.Engine:
    """An engine for one use of the file."""
    factory = {} if use == "read" else {"factory": partial(_Connection, lock=lock)}
    engine = sa.create_engine(
        url,
        poolclass=QueuePool,
        pool_size=2 * pool or 1,
        max_overflow=0,  # what is opened stays open: to open another takes longer than most queries
        pool_use_lifo=True,  # the last one used has its pages at hand
        pool_timeout=timeout,
        connect_args={"timeout": timeout, "check_same_thread": False, "cached_statements": 512, **factory},
    )
    event.listen(engine, "connect", _prepare(use, synchronous))
    if use != "system":
        event.listen(engine, "begin", _begin("BEGIN" if use == "read" else "BEGIN IMMEDIATE"))
    return engine


def _begin(statement: str) -> Callable[[sa.Connection], None]:
    def begin(connection: sa.Connection) -> None:
        send(connection, statement, ())

    return begin


def _prepare(use: Use, synchronous: str) -> Callable[[sqlite3.Connection, ConnectionPoolEntry], None]:
    pragmas = [
        "journal_mode=WAL",
        # What the job engine notes on its own can be lost in a power cut: it does the job again. What is enqueued, and
        # everything that was noted before it, is made durable by the transaction that enqueues it.
        f"synchronous={'NORMAL' if use == 'system' and synchronous != 'OFF' else synchronous}",
        f"foreign_keys={'OFF' if use == 'migrate' else 'ON'}",  # a migration may rebuild a table; it checks at its end
        f"cache_size=-{_KIB_OF_CACHE}",
        f"wal_autocheckpoint={_PAGES_BETWEEN_CHECKPOINTS}",
        f"journal_size_limit={_LARGEST_IDLE_LOG}",
        "temp_store=MEMORY",
        "analysis_limit=400",
        *(["query_only=ON"] if use == "read" else []),
    ]

    def prepare(connection: sqlite3.Connection, _: ConnectionPoolEntry) -> None:
        # The job engine relies on the driver to begin before it writes; everything else begins by itself.
        connection.isolation_level = "IMMEDIATE" if use == "system" else None
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}").close()
        unixepoch.add_to(connection)

    return prepare
