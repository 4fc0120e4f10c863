"""Transactions and reads, with the same behavior on SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from time import monotonic, sleep
from typing import Any, Literal, TypeVar, cast

import sqlalchemy as sa
from sqlalchemy.pool import QueuePool

from cairn.store.database import postgresql, schema_version, sqlite
from cairn.store.database.writer import Writer
from cairn.store.errors import DatabaseClosed

T = TypeVar("T")

Fault = Callable[[str], None]

_CLOSE_TIMEOUT = 1.0  # seconds that `close` waits for reads in progress


class Database:
    """Runs each change in one transaction and each read in one snapshot. Reads never wait for changes."""

    kind: Literal["sqlite", "postgresql"]

    def __init__(self, url: str, *, synchronous: str = "FULL", pool_size: int = 5, timeout_seconds: float = 30) -> None:
        self.url = sa.make_url(url)
        self.fault: Fault = _no_fault  # called before and after each commit, to inject faults in tests
        self._writer: Writer | None = None
        if self.url.get_backend_name() == "sqlite":
            self.kind = "sqlite"
            self._open_sqlite(synchronous, pool_size, timeout_seconds)
        elif self.url.get_backend_name() == "postgresql":
            self.kind = "postgresql"
            make = postgresql.make_engine
            self.engine = make(self.url, "write", timeout=timeout_seconds, pool=pool_size)
            self.read_engine = make(self.url, "read", timeout=timeout_seconds, pool=pool_size)
            self.system_engine = make(self.url, "system", timeout=timeout_seconds, pool=pool_size)
            self.migration_engine = self.engine
        else:
            raise ValueError(f"Cairn supports SQLite and PostgreSQL, not {self.url.get_backend_name()}.")
        # As many threads as connections, so that requests are served in order and never wait for a connection.
        self._write_threads = ThreadPoolExecutor(pool_size, "cairn-write")
        self._read_threads = ThreadPoolExecutor(pool_size, "cairn-read")
        self._closed = False

    def _open_sqlite(self, synchronous: str, pool_size: int, timeout: float) -> None:
        sqlite.check_version()
        if synchronous not in ("OFF", "NORMAL", "FULL", "EXTRA"):
            raise ValueError(f"`synchronous` must be OFF, NORMAL, FULL or EXTRA, not {synchronous}.")
        if self.url.database in (None, "", ":memory:"):
            raise ValueError("An in-memory database isn't supported. Use a file, such as sqlite:///path/to/cairn.db.")
        lock = sqlite.WriterLock(timeout)

        def make(use: sqlite.Use, pool: int) -> sa.Engine:
            return sqlite.make_engine(self.url, use, lock, synchronous=synchronous, timeout=timeout, pool=pool)

        self.engine = make("write", 1)
        self.read_engine = make("read", pool_size)
        self.system_engine = make("system", pool_size)
        self.migration_engine = make("migrate", 1)
        self._writer = Writer(self.engine, self._pass_fault)

    def _pass_fault(self, point: str) -> None:
        self.fault(point)

    # Changes
    async def transact(self, change: Callable[[sa.Connection], T]) -> T:
        """Run a change in one transaction. It may be committed even if the call is cancelled."""
        loop = asyncio.get_running_loop()
        if self._writer is None:
            self._check_open()
            return await loop.run_in_executor(self._write_threads, _call, self._change, change)
        reply = _LoopReply(loop)
        self._writer.submit(change, reply)
        return await cast("asyncio.Future[T]", reply.future)

    def transact_now(self, change: Callable[[sa.Connection], T]) -> T:
        """Like `transact`, for callers without an event loop."""
        if _is_on_loop():
            raise RuntimeError("`transact_now` would block the event loop: use `transact`.")
        if self._writer is None:
            self._check_open()
            return self._write_threads.submit(_call, self._change, change).result()
        reply = _ThreadReply()
        self._writer.submit(change, reply)
        return cast("T", reply.future.result())

    def _change(self, change: Callable[[sa.Connection], T]) -> T:
        with self.engine.connect() as connection:
            with connection.begin():
                result = change(connection)
                self.fault("before_commit")
            self.fault("after_commit")
            return result

    # Reads
    def read(self, query: Callable[[sa.Connection], T]) -> T:
        """Run a query in one snapshot."""
        self._check_open()
        with self.read_engine.connect() as connection, connection.begin():
            return query(connection)

    async def aread(self, query: Callable[[sa.Connection], T]) -> T:
        """Run a query in one snapshot, in a thread."""
        self._check_open()
        return await asyncio.get_running_loop().run_in_executor(self._read_threads, _call, self.read, query)

    # Lifecycle
    @property
    def schema_version(self) -> str | None:
        """The version of the schema, or None if the database is empty."""
        return self.read(schema_version.current)

    def migrate(self) -> None:
        """Create or upgrade the schema. Safe to call from several processes at once."""
        version = self.schema_version
        if version is not None:
            schema_version.check(version, self.url)
        if version == schema_version.newest():
            return
        from cairn.store.migrations.upgrade import upgrade  # Alembic takes a fifth of a second to import

        upgrade(self.migration_engine)

    def close(self) -> None:
        """Finish accepted changes, then close all connections. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        if self._writer is not None:
            self._writer.close()
        self._write_threads.shutdown()
        self._read_threads.shutdown()
        for engine in (self.read_engine, self.system_engine, self.migration_engine, self.engine):
            _wait_for_reads(engine)
            engine.dispose()

    def _check_open(self) -> None:
        if self._closed:
            raise DatabaseClosed("The database has been closed.")


def _wait_for_reads(engine: sa.Engine) -> None:
    """Wait for reads in progress, because a connection returned after `dispose` would never be closed."""
    pool, deadline = cast("QueuePool", engine.pool), monotonic() + _CLOSE_TIMEOUT
    while pool.checkedout() and monotonic() < deadline:
        sleep(0.005)


class _LoopReply:
    """Delivers a result to a coroutine."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.future: asyncio.Future[Any] = loop.create_future()
        self._loop = loop

    def is_awaited(self) -> bool:
        return not self.future.cancelled()

    def deliver(self, result: Any, error: BaseException | None) -> None:
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._settle, result, error)

    def _settle(self, result: Any, error: BaseException | None) -> None:
        if self.future.done():
            return
        if error is None:
            self.future.set_result(result)
        else:
            self.future.set_exception(_transferable(error))


class _ThreadReply:
    """Delivers a result to a thread."""

    def __init__(self) -> None:
        self.future: Future[Any] = Future()

    def is_awaited(self) -> bool:
        return True

    def deliver(self, result: Any, error: BaseException | None) -> None:
        if error is None:
            self.future.set_result(result)
        else:
            self.future.set_exception(_transferable(error))


def _transferable(error: BaseException) -> BaseException:
    """Replace errors that must not cross threads: StopIteration, which futures reject, and SystemExit."""
    if isinstance(error, StopIteration) or not isinstance(error, Exception):
        replacement = RuntimeError(f"The change raised {error!r}.")
        replacement.__cause__ = error
        return replacement
    return error


def _call(run: Callable[[Callable[[sa.Connection], T]], T], function: Callable[[sa.Connection], T]) -> T:
    """Run a change or query in a thread of a pool."""
    try:
        return run(function)
    except BaseException as error:
        if (replacement := _transferable(error)) is error:
            raise
        raise replacement from error


def _is_on_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _no_fault(_: str) -> None:
    """Inject no fault."""
