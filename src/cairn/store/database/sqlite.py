"""Engines for SQLite: WAL mode, explicit transactions, and one lock for all writers."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable
from functools import partial
from time import monotonic, sleep
from typing import Any, Literal, TypeAlias

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from cairn.store import unixepoch
from cairn.store.errors import OldSqlite
from cairn.store.prepared_statements import execute_raw

Use: TypeAlias = Literal["write", "read", "system", "migrate"]

MIN_VERSION = (3, 35)  # first version with RETURNING

_WRITES = ("INSERT", "UPDATE", "DELETE", "REPLAC", "BEGIN ")  # BEGIN IMMEDIATE
_CACHE_KIB = 16 * 1024
_CHECKPOINT_PAGES = 4000  # 16 MiB: under load, a page that changes many times is written back once
_MAX_IDLE_WAL = 64 * 1024 * 1024


def check_version() -> None:
    """Raise OldSqlite if the library lacks features that Cairn or the job engine use."""
    if sqlite3.sqlite_version_info < MIN_VERSION:
        raise OldSqlite(
            f"SQLite {sqlite3.sqlite_version} is too old: Cairn needs {'.'.join(map(str, MIN_VERSION))} or newer",
            "use a Python with a newer SQLite, or PostgreSQL (CAIRN_DATABASE_URL)",
        )


class WriterLock:
    """One lock for all writing connections of a process.

    In SQLite itself, a second writer sleeps and polls, up to 100 ms at a time. With this lock, it wakes immediately.
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
    """Acquires the lock before the first write of a transaction and releases it when the transaction ends."""

    def __init__(self, *args: Any, lock: WriterLock, **options: Any) -> None:
        super().__init__(*args, **options)
        self._lock = lock
        self._holds_lock = False

    def before(self, sql: str) -> None:
        if not self._holds_lock and sql.lstrip()[:6].upper() in _WRITES:
            self._lock.acquire()
            self._holds_lock = True

    def after(self) -> None:
        if self._holds_lock and not self.in_transaction:
            self._holds_lock = False
            self._lock.release()

    def cursor(self, factory: Any = _Cursor) -> Any:
        """Return a plain cursor while the lock is held, because most statements run inside a transaction."""
        return super().cursor() if self._holds_lock else super().cursor(factory)

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
            if self._holds_lock:
                self._holds_lock = False
                self._lock.release()


def make_engine(url: sa.URL, use: Use, lock: WriterLock, *, synchronous: str, timeout: float, pool: int) -> sa.Engine:
    """Create the engine for one use of the file."""
    factory = {} if use == "read" else {"factory": partial(_Connection, lock=lock)}
    engine = sa.create_engine(
        url,
        poolclass=QueuePool,
        pool_size=2 * pool or 1,
        max_overflow=0,  # keep connections open: opening one takes longer than most queries
        pool_use_lifo=True,  # the most recently used connection has a warm page cache
        pool_timeout=timeout,
        connect_args={"timeout": timeout, "check_same_thread": False, "cached_statements": 512, **factory},
    )
    event.listen(engine, "connect", _configure(use, synchronous, timeout))
    if use != "system":
        event.listen(engine, "begin", _begin("BEGIN" if use == "read" else "BEGIN IMMEDIATE"))
    return engine


def _begin(statement: str) -> Callable[[sa.Connection], None]:
    def begin(connection: sa.Connection) -> None:
        execute_raw(connection, statement, ())

    return begin


def _configure(use: Use, synchronous: str, timeout: float) -> Callable[[sqlite3.Connection, ConnectionPoolEntry], None]:
    pragmas = [
        # The job engine's own writes can be lost in a power failure, because it repeats the step. Enqueued jobs, and
        # everything written before them, become durable with the transaction that enqueues them.
        f"synchronous={'NORMAL' if use == 'system' and synchronous != 'OFF' else synchronous}",
        f"foreign_keys={'OFF' if use == 'migrate' else 'ON'}",  # migrations check references at their end
        f"cache_size=-{_CACHE_KIB}",
        f"wal_autocheckpoint={_CHECKPOINT_PAGES}",
        f"journal_size_limit={_MAX_IDLE_WAL}",
        "temp_store=MEMORY",
        "analysis_limit=400",
        *(["query_only=ON"] if use == "read" else []),
    ]

    def configure(connection: sqlite3.Connection, _: ConnectionPoolEntry) -> None:
        # The job engine relies on the driver to begin transactions. Cairn begins its own.
        connection.isolation_level = "IMMEDIATE" if use == "system" else None
        _enable_wal(connection, timeout)
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}").close()
        unixepoch.add_to(connection)

    return configure


def _enable_wal(connection: sqlite3.Connection, timeout: float) -> None:
    """Switch a new file to WAL. SQLite's own timeout doesn't apply while another process switches it."""
    deadline = monotonic() + timeout
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").close()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > deadline:
                raise
            sleep(0.005)
        else:
            return
