"""Transactions and reads, on both databases."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from typing import Any, TypeAlias

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, IntegrityError

from cairn.store import Database, DatabaseClosed
from cairn.store.tables import settings

Change: TypeAlias = Callable[[sa.Connection], Any]


def put(key: str, value: Any = 1) -> Change:
    def change(connection: sa.Connection) -> str:
        connection.execute(sa.insert(settings).values(key=key, value=value))
        return key

    return change


def do_nothing(_: sa.Connection) -> None:
    """A change or a read without statements."""


def keys(database: Database) -> list[str]:
    return database.read(lambda c: sorted(c.execute(sa.select(settings.c.key)).scalars()))


def fail_after(change: Change, error: BaseException) -> Change:
    def run(connection: sa.Connection) -> None:
        change(connection)
        raise error

    return run


async def test_a_change_is_committed_and_returns_its_result(database: Database) -> None:
    assert await database.transact(put("a")) == "a"
    assert await asyncio.to_thread(database.transact_now, put("b")) == "b"
    assert await database.aread(lambda c: c.execute(sa.select(sa.func.count()).select_from(settings)).scalar_one()) == 2


async def test_only_the_change_that_fails_is_rolled_back(database: Database) -> None:
    changes = [
        database.transact(fail_after(put(f"k{n}"), ValueError(str(n))) if n % 3 == 0 else put(f"k{n}"))
        for n in range(30)
    ]
    answers = await asyncio.gather(*changes, return_exceptions=True)
    assert [str(answer) for answer in answers] == [str(n) if n % 3 == 0 else f"k{n}" for n in range(30)]
    assert [isinstance(answer, ValueError) for answer in answers] == [n % 3 == 0 for n in range(30)]
    assert keys(database) == sorted(f"k{n}" for n in range(30) if n % 3)


async def test_a_failed_statement_does_not_stop_the_next_change(database: Database) -> None:
    await database.transact(put("a"))
    answers = await asyncio.gather(*(database.transact(put(key)) for key in "abab"), return_exceptions=True)
    assert sorted(isinstance(answer, IntegrityError) for answer in answers) == [False, True, True, True]
    assert keys(database) == ["a", "b"]


@pytest.mark.parametrize("error", [StopIteration("no more"), SystemExit(3), KeyboardInterrupt(), GeneratorExit()])
async def test_every_caller_gets_a_result_for_any_exception(database: Database, error: BaseException) -> None:
    for use in (
        database.transact(fail_after(put("a"), error)),
        asyncio.to_thread(database.transact_now, fail_after(put("a"), error)),
        database.aread(fail_after(do_nothing, error)),
    ):
        with pytest.raises(RuntimeError, match=type(error).__name__) as raised:
            await asyncio.wait_for(use, 5)
        assert raised.value.__cause__ is error
    assert await database.transact(put("b")) == "b"
    assert keys(database) == ["b"]


async def test_twenty_callers_are_served_fairly(database: Database) -> None:
    """No caller starves while others are served repeatedly.

    A turn counts when the change begins, because the time that it takes doesn't depend on the database.
    """
    await asyncio.gather(*(database.transact(do_nothing) for _ in range(20)))  # opens the connections
    turns: list[int] = []

    async def call(caller: int) -> None:
        def change(connection: sa.Connection, n: int) -> None:
            turns.append(caller)
            put(f"{caller}/{n}")(connection)

        for n in range(30):
            await database.transact(partial(change, n=n))

    await asyncio.gather(*(call(caller) for caller in range(20)))
    assert len(keys(database)) == len(turns) == 600
    half = turns[: len(turns) // 2]
    assert min(half.count(caller) for caller in range(20)) >= 1, half


def test_threads_and_tasks_can_write_concurrently(database: Database) -> None:
    def in_loop(first: int) -> None:
        async def run() -> None:
            await asyncio.gather(*(database.transact(put(f"task {n}")) for n in range(first, first + 10)))

        asyncio.run(run())

    with ThreadPoolExecutor(20) as pool:
        threads = [pool.submit(database.transact_now, put(f"thread {n}")) for n in range(40)]
        loops = [pool.submit(in_loop, first) for first in (0, 10)]
        for each in [*threads, *loops]:
            each.result(30)
    assert len(keys(database)) == 60


async def test_the_event_loop_is_not_blocked(database: Database) -> None:
    with pytest.raises(RuntimeError, match="`transact`"):
        database.transact_now(put("a"))


async def test_a_cancelled_caller_does_not_affect_others(database: Database) -> None:
    hold = threading.Event()
    held = asyncio.ensure_future(database.transact(lambda _: hold.wait(10)))
    cancelled = asyncio.ensure_future(database.transact(put("gone")))
    stays = asyncio.ensure_future(database.transact(put("stays")))
    await asyncio.sleep(0.05)
    cancelled.cancel()
    await asyncio.sleep(0.05)
    hold.set()
    assert await held
    assert await stays == "stays"
    await asyncio.gather(cancelled, return_exceptions=True)
    assert await database.transact(put("next")) == "next"


def test_a_result_for_a_closed_loop_is_ignored(database: Database) -> None:
    hold = threading.Event()

    async def leave() -> None:
        asyncio.ensure_future(database.transact(lambda _: hold.wait(10)))  # noqa: RUF006  left pending on purpose
        await asyncio.sleep(0.05)

    asyncio.run(leave())
    hold.set()
    assert database.transact_now(put("a")) == "a"


# ---- reads -----------------------------------------------------------------------------------------
def test_a_read_sees_one_snapshot(database: Database) -> None:
    def count_twice(connection: sa.Connection) -> tuple[int, int]:
        count = sa.select(sa.func.count()).select_from(settings)
        before = connection.execute(count).scalar_one()
        database.transact_now(put("between"))
        return before, connection.execute(count).scalar_one()

    assert database.read(count_twice) == (0, 0)
    assert keys(database) == ["between"]


async def test_reads_do_not_wait_for_a_change(database: Database) -> None:
    await database.transact(put("a"))
    started, release = threading.Event(), threading.Event()

    def slow(connection: sa.Connection) -> None:
        put("b")(connection)
        started.set()
        release.wait(10)

    changing = asyncio.ensure_future(database.transact(slow))
    await asyncio.to_thread(started.wait, 10)
    assert await asyncio.wait_for(
        database.aread(lambda c: list(c.execute(sa.select(settings.c.key)).scalars())), 5
    ) == ["a"]
    release.set()
    await changing
    assert keys(database) == ["a", "b"]


async def test_a_change_does_not_wait_for_reads(database: Database) -> None:
    started, release = threading.Event(), threading.Event()

    def slow(connection: sa.Connection) -> list[str]:
        found = list(connection.execute(sa.select(settings.c.key)).scalars())
        started.set()
        release.wait(10)
        return found

    reading = asyncio.ensure_future(database.aread(slow))
    await asyncio.to_thread(started.wait, 10)
    assert await asyncio.wait_for(database.transact(put("a")), 5) == "a"
    release.set()
    assert await reading == []


def test_a_read_cannot_change_anything(database: Database) -> None:
    with pytest.raises(DBAPIError, match=r"readonly|read-only"):
        database.read(put("a"))
    assert keys(database) == []


# ---- failures --------------------------------------------------------------------------------------
async def test_a_failed_commit_fails_all_changes_of_its_batch(database: Database) -> None:
    def fail(point: str) -> None:
        if point == "before_commit":
            raise OSError("commit failed")

    database.fault = fail
    answers = await asyncio.gather(*(database.transact(put(key)) for key in "abc"), return_exceptions=True)
    assert [str(answer) for answer in answers] == ["commit failed"] * 3
    assert keys(database) == []
    database.fault = lambda _: None
    assert await database.transact(put("d")) == "d"


async def test_fault_points_surround_the_commit(database: Database) -> None:
    seen: list[tuple[str, list[str]]] = []
    database.fault = lambda point: seen.append((point, keys(database)))
    await database.transact(put("a"))
    assert seen == [("before_commit", []), ("after_commit", ["a"])]


async def test_a_commit_is_durable_even_if_its_result_is_lost(database: Database) -> None:
    def fail(point: str) -> None:
        if point == "after_commit":
            raise OSError("gone")

    database.fault = fail
    with pytest.raises(OSError, match="gone"):
        await database.transact(put("a"))
    assert keys(database) == ["a"]


# ---- lifecycle -------------------------------------------------------------------------------------
def test_closing_finishes_accepted_changes(database_url: str) -> None:
    database = Database(database_url)
    with ThreadPoolExecutor(10) as pool:
        waiting = [pool.submit(database.transact_now, put(f"k{n}")) for n in range(10)]
        for each in waiting:
            each.result(10)
        database.close()
    database.close()
    with closing(Database(database_url)) as again:
        assert len(keys(again)) == 10


async def test_a_closed_database_rejects_changes_and_reads(database: Database) -> None:
    await asyncio.to_thread(database.close)
    uses: list[Callable[[], Awaitable[Any]]] = [
        lambda: database.transact(put("a")),
        lambda: asyncio.to_thread(database.transact_now, put("a")),
        lambda: asyncio.to_thread(database.read, do_nothing),
        lambda: database.aread(do_nothing),
    ]
    for use in uses:
        with pytest.raises(DatabaseClosed):
            await use()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("sqlite://", "sqlite:///"),
        ("sqlite:///:memory:", "sqlite:///"),
        ("mysql://localhost/x", "SQLite.*PostgreSQL"),
    ],
)
def test_unsupported_databases_are_rejected(url: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Database(url)


def test_close_waits_for_reads_in_progress(database: Database) -> None:
    started, release = threading.Event(), threading.Event()
    ends: list[str] = []

    def read(_: sa.Connection) -> None:
        started.set()
        release.wait(10)
        ends.append("read")

    reading = threading.Thread(target=lambda: database.read(read))
    reading.start()
    started.wait(10)
    threading.Timer(0.1, release.set).start()
    database.close()
    ends.append("closed")
    reading.join()
    assert ends == ["read", "closed"]
