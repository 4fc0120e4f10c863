"""The SQLite writer survives every failure, and every caller gets a result."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import OperationalError

from cairn.store import Database
from cairn.store.database import schema_version
from cairn.store.tables import settings
from tests.store.test_database import keys, put


@pytest.fixture(params=["sqlite"])
def database_kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with closing(Database(database_url, timeout_seconds=1)) as opened:
        yield opened


@pytest.fixture
def unlimited_batch_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run all waiting changes in one transaction, even on a slow machine."""
    monkeypatch.setattr("cairn.store.database.writer._MAX_BATCH_SECONDS", 60.0)


async def run_in_one_batch(database: Database, *changes: Any) -> list[Any]:
    """Queue changes while the writer is blocked, so that it runs them in one transaction."""
    started, release = threading.Event(), threading.Event()

    def wait(_: sa.Connection) -> None:
        started.set()
        release.wait(10)

    first = asyncio.ensure_future(database.transact(wait))
    await asyncio.to_thread(started.wait, 10)
    rest = [asyncio.ensure_future(database.transact(change)) for change in changes]
    await asyncio.sleep(0.01)
    release.set()
    _, *answers = await asyncio.gather(first, *rest, return_exceptions=True)
    return answers


@pytest.mark.usefixtures("unlimited_batch_time")
async def test_waiting_changes_are_committed_together(database: Database) -> None:
    commits: list[str] = []
    database.fault = commits.append
    assert await run_in_one_batch(database, *(put(f"k{n}") for n in range(10))) == [f"k{n}" for n in range(10)]
    assert commits.count("after_commit") == 1


@pytest.mark.usefixtures("unlimited_batch_time")
async def test_a_batch_has_a_maximum_size(database: Database) -> None:
    commits: list[str] = []
    database.fault = commits.append
    assert len(await run_in_one_batch(database, *(put(f"k{n}") for n in range(200)))) == 200
    assert commits.count("after_commit") == 4


async def test_a_batch_has_a_maximum_duration(database: Database) -> None:
    """The first change doesn't wait for all changes behind it."""

    def slow(_: sa.Connection) -> None:
        time.sleep(0.01)

    commits: list[str] = []
    database.fault = commits.append
    await run_in_one_batch(database, *[slow] * 6)
    assert commits.count("after_commit") == 4  # each batch ends after one more change


async def test_the_writer_survives_a_full_disk(database: Database) -> None:
    pages = await database.transact(lambda c: c.exec_driver_sql("PRAGMA page_count").scalar_one())
    await database.transact(lambda c: c.exec_driver_sql(f"PRAGMA max_page_count={pages + 4}").all())
    answers = await run_in_one_batch(
        database, put("small"), put("large", "x" * 100_000), put("too"), put("huge", "x" * 1_000_000)
    )
    committed = [key for key, answer in zip(["small", "large", "too", "huge"], answers, strict=True) if answer == key]
    assert keys(database) == sorted(committed)
    assert all(isinstance(answer, OperationalError) for answer in answers if not isinstance(answer, str))
    assert "disk is full" in str(answers[3])
    await database.transact(lambda c: c.exec_driver_sql("PRAGMA max_page_count=1073741823").all())
    assert await database.transact(put("large", "x" * 100_000)) == "large"


@pytest.mark.usefixtures("unlimited_batch_time")
async def test_a_transaction_that_sqlite_rolled_back_fails_every_change(database: Database) -> None:
    """Later changes must not be committed on their own, even if a change hides the error."""

    def fail_for_good(connection: sa.Connection) -> None:
        connection.exec_driver_sql("ROLLBACK")  # as SQLite does after some errors

    answers = await run_in_one_batch(database, put("a"), fail_for_good, put("b"))
    assert [isinstance(answer, OperationalError) for answer in answers[:2]] == [True, True]
    assert keys(database) == (["b"] if answers[2] == "b" else [])
    assert await database.transact(put("c")) == "c"


async def test_a_closed_connection_is_replaced(database: Database) -> None:
    def close(connection: sa.Connection) -> None:
        put("lost")(connection)
        raw: Any = connection.connection.dbapi_connection
        raw.close()

    with pytest.raises(Exception, match="closed database"):
        await database.transact(close)
    assert await database.transact(put("a")) == "a"
    assert keys(database) == ["a"]


async def test_a_connection_that_was_closed_between_changes_is_replaced(database: Database) -> None:
    raw: list[Any] = []
    await database.transact(lambda c: raw.append(c.connection.dbapi_connection))
    raw[0].close()
    assert await database.transact(put("a")) == "a"


async def test_maintenance_on_a_closed_connection_is_harmless(
    database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("cairn.store.database.writer._IDLE_SECONDS", 0.01)
    raw: list[Any] = []
    await database.transact(lambda c: raw.append(c.connection.dbapi_connection))
    raw[0].close()
    for _ in range(200):
        if "wal_checkpoint(PASSIVE) failed" in caplog.text:
            break
        await asyncio.sleep(0.01)
    assert await database.transact(put("a")) == "a"


def test_a_change_that_waits_for_another_is_rejected(database: Database) -> None:
    with pytest.raises(RuntimeError):
        database.transact_now(lambda _: database.transact_now(put("a")))
    assert database.transact_now(put("b")) == "b"


async def test_a_locked_database_fails_after_the_timeout(database: Database, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "cairn.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(OperationalError, match="locked"):
            await database.transact(put("a"))
        other.execute("ROLLBACK")
    assert await database.transact(put("b")) == "b"


# ---- with the job engine -----------------------------------------------------------------------------
def test_the_job_engine_can_write_concurrently(database: Database) -> None:
    def enqueue(number: int) -> None:
        with database.system_engine.begin() as connection:
            connection.execute(sa.insert(settings).values(key=f"job {number}", value=1))

    with ThreadPoolExecutor(8) as pool:
        waiting: list[Any] = []
        for n in range(60):
            waiting += [pool.submit(enqueue, n), pool.submit(database.transact_now, put(f"ours {n}"))]
        for each in waiting:
            each.result(20)
    assert len(keys(database)) == 120


def test_the_lock_is_always_released(database: Database) -> None:
    """After a rollback, close, failure or drop, the next connection can write."""
    engine = database.system_engine
    insert = sa.insert(settings).values(key="a", value=1)
    with engine.connect() as connection:
        connection.execute(insert)
    with engine.connect() as connection:
        connection.execute(insert)
        connection.invalidate()
    connection = engine.connect()
    connection.execute(insert)
    connection.detach()
    connection.close()
    with engine.connect() as connection, pytest.raises(OperationalError):
        connection.execute(sa.text("INSERT INTO nowhere VALUES (1)"))
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(insert)
        assert database.transact_now(put("b")) == "b"
    assert keys(database) == ["a", "b"]


def test_waiting_for_another_writer_times_out(database: Database) -> None:
    with database.system_engine.connect() as connection:
        connection.execute(sa.insert(settings).values(key="a", value=1))
        with pytest.raises(OperationalError, match="locked"):
            database.transact_now(put("b"))
    assert database.transact_now(put("b")) == "b"


# ---- settings ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(("synchronous", "level"), [("FULL", 2), ("NORMAL", 1), ("OFF", 0)])
def test_every_connection_has_the_requested_durability(database_url: str, synchronous: str, level: int) -> None:
    with closing(Database(database_url, synchronous=synchronous)) as database:
        for engine in (database.engine, database.system_engine, database.read_engine):
            # The job engine may lose its last writes in a power failure, because it can repeat steps.
            expected = min(level, 1) if engine is database.system_engine else level
            with engine.connect() as connection:
                assert [
                    connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
                    for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
                ] == ["wal", expected, 1, 30000]


def test_an_unknown_durability_is_rejected(database_url: str) -> None:
    with pytest.raises(ValueError, match="FULL"):
        Database(database_url, synchronous="LATER")


async def test_the_wal_does_not_grow_without_bound(database: Database, tmp_path: Path) -> None:
    for n in range(80):
        await database.transact(put(f"k{n}", "x" * 500_000))
    assert (tmp_path / "cairn.db-wal").stat().st_size < 24 * 1024 * 1024


async def test_the_wal_is_checkpointed_when_idle(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "cairn.db"
    await database.transact(put("a", "x" * 1_000_000))
    assert file.stat().st_size < 1_000_000
    for _ in range(100):
        if file.stat().st_size > 1_000_000:
            break
        await asyncio.sleep(0.1)
    else:
        pytest.fail("the log was not written back")
    assert await database.transact(put("b")) == "b"


def test_several_processes_can_create_a_database_at_once(tmp_path: Path) -> None:
    """SQLite fails at once, without its timeout, while another connection switches the new file to WAL."""

    def create(url: str, start: threading.Barrier) -> str | None:
        start.wait()
        with closing(Database(url)) as database:
            database.migrate()
            return database.schema_version

    with ThreadPoolExecutor(8) as pool:
        for number in range(10):
            start = threading.Barrier(8)
            created = [pool.submit(create, f"sqlite:///{tmp_path}/{number}.db", start) for _ in range(8)]
            assert {each.result() for each in created} == {schema_version.newest()}
