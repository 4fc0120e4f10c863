"""SQLite's one writer: a thread that commits what waits for it together (group commit)."""

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

from cairn.store.errors import Closed
from cairn.store.prepared_statements import begun, commit, send

log = logging.getLogger(__name__)

Change: TypeAlias = Callable[[sa.Connection], Any]

_LONGEST_BATCH = 0.004  # seconds of work after which a batch is committed, whatever else waits
_MOST_IN_BATCH = 64
_IDLE = 1.0  # seconds without a change after which the log is written back into the file
_BETWEEN_OPTIMIZES = 3600.0


class TransactionResult(Protocol):
    """Where an answer goes; called once, from the writer's thread."""

    def wanted(self) -> bool: ...

    def give(self, result: Any, error: BaseException | None) -> None: ...


@dataclass(slots=True)
class _Job:
    change: Change
    reply: TransactionResult
    result: Any = None
    error: BaseException | None = None


class TransactionLost(OperationalError):
    """The database gave the whole transaction up, with everything in it: the disk is full, or it does not answer."""

    def __init__(self, cause: BaseException | None = None) -> None:
        super().__init__(None, None, cause or sqlite3.OperationalError("the transaction is over before its commit"))


class Writer:
    def __init__(self, engine: sa.Engine, fault: Callable[[str], None]) -> None:
        self._engine = engine
        self._fault = fault
        self._waiting: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._closing = threading.Lock()
        self._closed = False
        self._connection: sa.Connection | None = None
        self._optimized = monotonic()
        self._thread = threading.Thread(target=self._work, name="cairn-writer", daemon=True)
        self._thread.start()

    def submit(self, change: Change, reply: TransactionResult) -> None:
        if threading.current_thread() is self._thread:
            raise RuntimeError("A change that waits for another change would wait for ever.")
        with self._closing:
            if self._closed:
                raise Closed("The database has been closed.")
            self._waiting.put(_Job(change, reply))

    def close(self) -> None:
        """Carry out what waits, then stop."""
        with self._closing:
            if not self._closed:
                self._closed = True
                self._waiting.put(None)
        self._thread.join()

    # ---- everything below runs in the thread ---------------------------------------------------------
    def _work(self) -> None:
        is_tidy = True
        while True:
            try:
                job = self._waiting.get(timeout=None if is_tidy else _IDLE)
            except queue.Empty:
                self._tidy("PRAGMA wal_checkpoint(PASSIVE)")
                if monotonic() - self._optimized > _BETWEEN_OPTIMIZES:
                    self._optimize()
                is_tidy = True
                continue
            if job is None:
                break
            self._carry_out(job)
            is_tidy = False
        self._optimize()
        self._drop_connection()

    def _carry_out(self, first: _Job) -> None:
        """One transaction for this change and for those that wait behind it. A failed one is taken out alone."""
        batch = [first]
        failure: BaseException | None = None
        try:
            connection = self._begin()
            self._run(connection, first)
            ends = monotonic() + _LONGEST_BATCH
            while len(batch) < _MOST_IN_BATCH and monotonic() < ends and (job := self._next()) is not None:
                batch.append(job)
                self._run_apart(connection, job)
            self._commit(connection)
        except BaseException as error:  # noqa: BLE001  the callers get it; the thread goes on
            failure = error
            self._roll_back()
        for job in batch:
            _answer(job, failure)

    def _next(self) -> _Job | None:
        try:
            job = self._waiting.get_nowait()
        except queue.Empty:
            return None
        if job is None:
            self._waiting.put(None)  # the sign to stop is always the last
        return job

    def _run(self, connection: sa.Connection, job: _Job) -> None:
        if job.reply.wanted():
            job.result = job.change(connection)
            self._check_open()

    def _run_apart(self, connection: sa.Connection, job: _Job) -> None:
        send(connection, "SAVEPOINT change", ())
        try:
            self._run(connection, job)
        except BaseException as error:  # noqa: BLE001  its caller gets it, the others are not touched
            job.error = error
            self._check_open()
            send(connection, "ROLLBACK TO change", ())
        send(connection, "RELEASE change", ())

    def _begin(self) -> sa.Connection:
        """For SQLAlchemy one transaction goes on for as long as the connection: what it does at each takes a while."""
        if self._connection is None:
            return self._connect()
        try:
            send(self._connection, "BEGIN IMMEDIATE", ())
        except DBAPIError as error:
            if getattr(error.orig, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
                raise
            self._drop_connection()  # it may be closed or broken: nothing has been done on it, so try a new one
            return self._connect()
        return self._connection

    def _connect(self) -> sa.Connection:
        self._connection = begun(self._engine)
        return self._connection

    def _check_open(self) -> None:
        """After some errors SQLite has rolled the transaction back by itself: what follows would be committed alone."""
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
                log.exception("A transaction could not be rolled back; its connection is dropped.")
                self._drop_connection()

    def _drop_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.invalidate()
                connection.close()
            except Exception:
                log.exception("A connection could not be closed.")

    def _optimize(self) -> None:
        """Let SQLite refresh what it knows about the tables that were used."""
        self._optimized = monotonic()
        self._tidy("PRAGMA optimize")

    def _tidy(self, statement: str) -> None:
        """What SQLite does outside of transactions, while nobody waits."""
        if self._connection is not None:
            try:
                cast("Any", self._connection.connection.dbapi_connection).execute(statement).close()
            except Exception:
                log.exception("%s failed.", statement)
                self._drop_connection()


def _answer(job: _Job, failure: BaseException | None) -> None:
    error = job.error or failure
    try:
        job.reply.give(None if error else job.result, error)
    except Exception:
        log.exception("An answer did not reach its caller.")
