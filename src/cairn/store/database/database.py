"""The database: one door for changes, one for reads, the same on SQLite and PostgreSQL."""

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
from cairn.store.errors import Closed

T = TypeVar("T")

Fault = Callable[[str], None]

_LAST_READS = 1.0  # seconds that those who still read have when it closes


class Database:
    """Changes go through `transact`, each in one transaction; reads see one moment and never wait for changes."""

    kind: Literal["sqlite", "postgresql"]

    def __init__(self, url: str, *, synchronous: str = "FULL", pool_size: int = 5, timeout_seconds: float = 30) -> None:
        self.url = sa.make_url(url)
        self.fault: Fault = _no_fault  # for tests of crashes: called before and after each commit
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
            raise ValueError(f"Cairn keeps its data in SQLite or PostgreSQL, not in {self.url.get_backend_name()}.")
        # As many threads as connections: who comes first is served first, and nobody waits for a connection.
        self._changers = ThreadPoolExecutor(pool_size, "cairn-change")
        self._readers = ThreadPoolExecutor(pool_size, "cairn-read")
        self._closed = False

    def _open_sqlite(self, synchronous: str, pool_size: int, timeout: float) -> None:
        sqlite.check_version()
        if synchronous not in ("OFF", "NORMAL", "FULL", "EXTRA"):
            raise ValueError(f"`synchronous` is OFF, NORMAL, FULL or EXTRA, not {synchronous}.")
        if self.url.database in (None, "", ":memory:"):
            raise ValueError("Cairn keeps its data in a file: name it as sqlite:///path/to/cairn.db.")
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

    # ---- changes ---------------------------------------------------------------------------------
    async def transact(self, change: Callable[[sa.Connection], T]) -> T:
        """Carry a change out in one transaction. Cancelled, it may be carried out all the same."""
        loop = asyncio.get_running_loop()
        if self._writer is None:
            self._check_open()
            return await loop.run_in_executor(self._changers, _tell, self._change, change)
        reply = _LoopReply(loop)
        self._writer.submit(change, reply)
        return await cast("asyncio.Future[T]", reply.future)

    def transact_now(self, change: Callable[[sa.Connection], T]) -> T:
        """The same for callers without an event loop."""
        if _is_on_loop():
            raise RuntimeError("`transact_now` would block the event loop: use `transact`.")
        if self._writer is None:
            self._check_open()
            return self._changers.submit(_tell, self._change, change).result()
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

    # ---- reads -----------------------------------------------------------------------------------
    def read(self, query: Callable[[sa.Connection], T]) -> T:
        """Read from one snapshot."""
        self._check_open()
        with self.read_engine.connect() as connection, connection.begin():
            return query(connection)

    async def aread(self, query: Callable[[sa.Connection], T]) -> T:
        """Read in a thread."""
        self._check_open()
        return await asyncio.get_running_loop().run_in_executor(self._readers, _tell, self.read, query)

    # ---- life --------------------------------------------------------------------------------------
    @property
    def schema_version(self) -> str | None:
        """The version of the schema, or None if there is none yet."""
        return self.read(schema_version.current)

    def migrate(self) -> None:
        """Create or upgrade the schema. Several processes may do so at once."""
        version = self.schema_version
        if version is not None:
            schema_version.check(version, self.url)
        if version == schema_version.newest():
            return
        from cairn.store.migrations.upgrade import upgrade  # Alembic takes a fifth of a second to import

        upgrade(self.migration_engine)

    def close(self) -> None:
        """Finish what has been accepted, then let go of everything. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        if self._writer is not None:
            self._writer.close()
        self._changers.shutdown()
        self._readers.shutdown()
        for engine in (self.read_engine, self.system_engine, self.migration_engine, self.engine):
            _wait_for(engine)
            engine.dispose()

    def _check_open(self) -> None:
        if self._closed:
            raise Closed("The database has been closed.")


def _wait_for(engine: sa.Engine) -> None:
    """Until those who still read have given their connections back: what comes later is never closed."""
    pool, deadline = cast("QueuePool", engine.pool), monotonic() + _LAST_READS
    while pool.checkedout() and monotonic() < deadline:
        sleep(0.005)


class _LoopReply:
    """Answers a coroutine."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.future: asyncio.Future[Any] = loop.create_future()
        self._loop = loop

    def wanted(self) -> bool:
        return not self.future.cancelled()

    def give(self, result: Any, error: BaseException | None) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._settle, result, error)

    def _settle(self, result: Any, error: BaseException | None) -> None:
        if self.future.done():
            return
        if error is None:
            self.future.set_result(result)
        else:
            self.future.set_exception(_tellable(error))


class _ThreadReply:
    """Answers a thread."""

    def __init__(self) -> None:
        self.future: Future[Any] = Future()

    def wanted(self) -> bool:
        return True

    def give(self, result: Any, error: BaseException | None) -> None:
        if error is None:
            self.future.set_result(result)
        else:
            self.future.set_exception(_tellable(error))


def _tellable(error: BaseException) -> BaseException:
    """A coroutine cannot be given StopIteration, and what ends a program in one thread must not end it in another."""
    if isinstance(error, StopIteration) or not isinstance(error, Exception):
        told = RuntimeError(f"It ended with {error!r}.")
        told.__cause__ = error
        return told
    return error


def _tell(run: Callable[[Callable[[sa.Connection], T]], T], what: Callable[[sa.Connection], T]) -> T:
    """Run it in a pool's thread."""
    try:
        return run(what)
    except BaseException as error:
        if (told := _tellable(error)) is error:
            raise
        raise told from error


def _is_on_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _no_fault(_: str) -> None:
    """Nothing goes wrong."""
