"""The single writer of SQLite: a thread that commits waiting changes together (group commit)."""

from __future__ import annotations

import logging
import queue
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any, Protocol, TypeAlias, cast

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, OperationalError

from cairn.store.errors import DatabaseClosed
from cairn.store.prepared_statements import begin_connection, commit, execute_raw

log = logging.getLogger(__name__)

Change: TypeAlias = Callable[[sa.Connection], Any]

_MAX_BATCH_SECONDS = 0.004  # after this time, the batch is committed even if more changes are waiting
_MAX_BATCH_SIZE = 64
_IDLE_SECONDS = 1.0  # seconds without a change before the WAL is checkpointed
_OPTIMIZE_INTERVAL = 3600.0  # seconds


class ChangeReply(Protocol):
    """Receives the result of a change, once, on the writer's thread."""

    def is_awaited(self) -> bool: ...

    def deliver(self, result: Any, error: BaseException | None) -> None: ...


@dataclass(slots=True)
class _Job:
    change: Change
    reply: ChangeReply
    result: Any = None
    error: BaseException | None = None


class TransactionLost(OperationalError):
    """SQLite rolled back the whole transaction, for example because the disk is full."""

    def __init__(self, cause: BaseException | None = None) -> None:
        super().__init__(None, None, cause or sqlite3.OperationalError("the transaction ended before its commit"))


class Writer:
    def __init__(self, engine: sa.Engine, fault: Callable[[str], None]) -> None:
        self._engine = engine
        self._fault = fault
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._close_lock = threading.Lock()  # no change is queued after the stop signal
        self._closed = False
        self._connection: sa.Connection | None = None
        self._optimized_at = monotonic()
        self._thread = threading.Thread(target=self._work, name="cairn-writer", daemon=True)
        self._thread.start()

    def submit(self, change: Change, reply: ChangeReply) -> None:
        if threading.current_thread() is self._thread:
            raise RuntimeError("A change can't wait for another change: it would block forever.")
        with self._close_lock:
            if self._closed:
                raise DatabaseClosed("The database has been closed.")
            self._queue.put(_Job(change, reply))

    def close(self) -> None:
        """Run the waiting changes, then stop."""
        with self._close_lock:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    # On the writer's thread
    def _work(self) -> None:
        is_idle = True
        while True:
            try:
                job = self._queue.get(timeout=None if is_idle else _IDLE_SECONDS)
            except queue.Empty:
                self._run_maintenance("PRAGMA wal_checkpoint(PASSIVE)")
                if monotonic() - self._optimized_at > _OPTIMIZE_INTERVAL:
                    self._optimize()
                is_idle = True
                continue
            if job is None:
                break
            self._run_batch(job)
            is_idle = False
        self._optimize()
        self._drop_connection()

    def _run_batch(self, first: _Job) -> None:
        """Run this change and those waiting behind it in one transaction. A failed change is rolled back alone."""
        batch = [first]
        failure: BaseException | None = None
        try:
            connection = self._begin()
            self._run(connection, first)
            deadline = monotonic() + _MAX_BATCH_SECONDS
            while len(batch) < _MAX_BATCH_SIZE and monotonic() < deadline and (job := self._next()) is not None:
                batch.append(job)
                self._run_in_savepoint(connection, job)
            self._commit(connection)
        except BaseException as error:  # noqa: BLE001  passed on to the callers
            failure = error
            self._roll_back()
        for job in batch:
            _deliver(job, failure)

    def _next(self) -> _Job | None:
        try:
            job = self._queue.get_nowait()
        except queue.Empty:
            return None
        if job is None:
            self._queue.put(None)  # the stop signal stays last
        return job

    def _run(self, connection: sa.Connection, job: _Job) -> None:
        if job.reply.is_awaited():
            job.result = job.change(connection)
            self._check_open()

    def _run_in_savepoint(self, connection: sa.Connection, job: _Job) -> None:
        execute_raw(connection, "SAVEPOINT change", ())
        try:
            self._run(connection, job)
        except BaseException as error:  # noqa: BLE001  passed on to the caller
            job.error = error
            self._check_open()
            execute_raw(connection, "ROLLBACK TO change", ())
        execute_raw(connection, "RELEASE change", ())

    def _begin(self) -> sa.Connection:
        """Begin on the driver's connection. SQLAlchemy sees one long transaction, which saves its overhead."""
        if self._connection is None:
            return self._connect()
        try:
            execute_raw(self._connection, "BEGIN IMMEDIATE", ())
        except DBAPIError as error:
            if getattr(error.orig, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
                raise
            self._drop_connection()  # nothing was done on it yet, so try a new connection
            return self._connect()
        return self._connection

    def _connect(self) -> sa.Connection:
        self._connection = begin_connection(self._engine)
        return self._connection

    def _check_open(self) -> None:
        """Raise TransactionLost if SQLite has rolled back by itself, because later changes would commit without it."""
        connection = self._connection
        if connection is None or not cast("Any", connection.connection.dbapi_connection).in_transaction:
            raise TransactionLost

    def _commit(self, connection: sa.Connection) -> None:
        self._fault("before_commit")
        commit(connection)
        self._fault("after_commit")

    def _roll_back(self) -> None:
        if self._connection is not None:
            try:
                cast("Any", self._connection.connection.dbapi_connection).rollback()
            except Exception:
                log.exception("A transaction couldn't be rolled back. Its connection is dropped.")
                self._drop_connection()

    def _drop_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.invalidate()
                connection.close()
            except Exception:
                log.exception("A connection couldn't be closed.")

    def _optimize(self) -> None:
        """Let SQLite update its query planner statistics."""
        self._optimized_at = monotonic()
        self._run_maintenance("PRAGMA optimize")

    def _run_maintenance(self, statement: str) -> None:
        """Run a maintenance statement outside of transactions, while no change waits."""
        if self._connection is not None:
            try:
                cast("Any", self._connection.connection.dbapi_connection).execute(statement).close()
            except Exception:
                log.exception("%s failed.", statement)
                self._drop_connection()


def _deliver(job: _Job, failure: BaseException | None) -> None:
    error = job.error or failure
    try:
        job.reply.deliver(None if error else job.result, error)
    except Exception:
        log.exception("The result of a change couldn't be delivered.")
