"""The job engine on each SQLite that a supported Python may come with.

DBOS uses `unixepoch('subsec')` on Python 3.12 and newer, in its tables' defaults and in its statements, and SQLite
has it from 3.42 on. Both are chosen here instead of found: which Python DBOS believes to run on, and what the SQLite
library can do.
"""

from __future__ import annotations

import asyncio
import importlib.util
import sqlite3
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import dbos._migration
import pytest
import sqlalchemy as sa
from sqlalchemy import event

from cairn.adapters.jobs.dbos_engine import DbosJobs
from cairn.core.commands import ExecutionTimedOut, Timer
from cairn.store import Database

OLD_DEFAULT, NEW_DEFAULT = "strftime('%s','now')", "unixepoch('subsec')"
PYTHONS = {(3, 11): OLD_DEFAULT, (3, 12): NEW_DEFAULT}


def no_subsec(*arguments: object) -> int | None:
    """SQLite 3.38 to 3.41: an unknown modifier makes the result NULL."""
    if "subsec" in arguments:
        return None
    raise AssertionError(f"unixepoch{arguments} is not a form that the job engine uses")


def no_function(*_: object) -> int:
    """SQLite before 3.38."""
    raise AssertionError("no such function: unixepoch")


@pytest.fixture(params=[no_subsec, no_function])
def old_sqlite(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A library older than 3.42, which trusts only its own functions in a table's defaults, as some builds do."""

    def degrade(connection: sqlite3.Connection, _: object) -> None:
        connection.create_function("unixepoch", -1, request.param)
        connection.execute("PRAGMA trusted_schema=OFF").close()

    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 37, 2) if request.param is no_function else (3, 40, 1))
    event.listen(sa.pool.Pool, "connect", degrade)
    yield
    event.remove(sa.pool.Pool, "connect", degrade)


@pytest.fixture
def believe(monkeypatch: pytest.MonkeyPatch) -> Callable[[tuple[int, int]], None]:
    """Have DBOS do what it does on another version of Python."""

    def switch(version: tuple[int, int]) -> None:
        migrations = _migrations_on(version)
        monkeypatch.setattr("dbos._sys_db_sqlite.sqlite_migrations", migrations.sqlite_migrations)
        believed = SimpleNamespace(version_info=(*version, 0), maxsize=sys.maxsize)
        monkeypatch.setattr("dbos._sys_db.sys", believed)

    return switch


def _migrations_on(version: tuple[int, int]) -> ModuleType:
    spec = importlib.util.spec_from_file_location("dbos.migrations_again", str(dbos._migration.__file__))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "version_info", (*version, 0))
        spec.loader.exec_module(module)
    return module


class Started:
    """The job engine on a file, and the jobs that it has carried out."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.jobs = DbosJobs(database.url.render_as_string(), database.system_engine, poll_seconds=0.05)
        self.lanes: list[str] = []
        self.timers: list[Timer] = []

    async def lane(self, job: str, run_id: str, *, own: bool) -> None:
        self.lanes.append(job)

    async def timer(self, run_id: str, command: Timer) -> None:
        self.timers.append(command)

    async def notice(self, notice: str) -> None:
        raise AssertionError("no notification was enqueued")

    async def until(self, is_done: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not is_done():  # noqa: ASYNC110 - the engine has no event to wait for
                await asyncio.sleep(0.02)

    async def check(self, name: str) -> None:
        """A lane and a timer, enqueued and carried out."""

        def enqueue(connection: sa.Connection) -> None:
            self.jobs.enqueue_lane(connection, f"exec:{name}:1", "run")
            self.jobs.enqueue_timer(connection, f"timeout:{name}:1", "run", ExecutionTimedOut(name, 1), 0.1)

        await self.database.transact(enqueue)
        await self.until(lambda: f"exec:{name}:1" in self.lanes and ExecutionTimedOut(name, 1) in self.timers)
        both = (f"exec:{name}:1", f"timeout:{name}:1")
        await self.until(lambda: self.database.read(lambda c: self.jobs.over(c, both)) == frozenset(both))

    def later(self, name: str, seconds: float) -> None:
        """A timer for the next start."""
        timer = ExecutionTimedOut(name, 1)
        self.database.transact_now(
            lambda c: self.jobs.enqueue_timer(c, f"timeout:{name}:1", "run", timer, seconds),
        )


@asynccontextmanager
async def started(file: Path) -> AsyncGenerator[Started]:
    with closing(Database(f"sqlite:///{file}", timeout_seconds=10)) as database:
        database.migrate()
        engine = Started(database)
        try:
            await engine.jobs.start(engine.lane, engine.timer, engine.notice)
            yield engine
        finally:
            await engine.jobs.stop()


def defaults(file: Path) -> set[str]:
    """The expressions for the time in the job engine's tables."""
    with closing(sqlite3.connect(file)) as connection:
        schema = " ".join(row[0] for row in connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"))
    return {default for default in (OLD_DEFAULT, NEW_DEFAULT) if default in schema}


def times(database: Database) -> list[Any]:
    """Every time that the engine has written, in its statements and by default."""
    query = sa.text(
        "SELECT created_at FROM workflow_status UNION ALL SELECT updated_at FROM workflow_status"
        " UNION ALL SELECT completed_at FROM workflow_status WHERE status = 'SUCCESS'"
        " UNION ALL SELECT retention_timestamp FROM workflow_input"
        " UNION ALL SELECT version_timestamp FROM application_versions"
        " UNION ALL SELECT created_at FROM application_versions"
    )
    return database.read(lambda c: list(c.execute(query).scalars()))


@pytest.mark.usefixtures("old_sqlite")
@pytest.mark.parametrize("python", PYTHONS)
async def test_a_first_start(tmp_path: Path, python: tuple[int, int], believe: Callable[..., None]) -> None:
    believe(python)
    file = tmp_path / "cairn.db"
    async with started(file) as engine:
        await engine.check("first")
        now = engine.database.read(lambda c: c.execute(sa.text("SELECT strftime('%s', 'now')")).scalar_one())
        found = times(engine.database)
        assert len(found) >= 10
        assert all(isinstance(time, int | float) and abs(time - int(now) * 1000) < 60_000 for time in found), found
    assert defaults(file) == {PYTHONS[python]}


@pytest.mark.usefixtures("old_sqlite")
@pytest.mark.parametrize("first", PYTHONS)
async def test_a_data_folder_goes_to_another_python_and_back(
    tmp_path: Path, first: tuple[int, int], believe: Callable[..., None]
) -> None:
    """A timer that was set on one version goes off on the other; the tables keep the defaults they were made with."""
    file = tmp_path / "cairn.db"
    (second,) = PYTHONS.keys() - {first}
    for step, python in enumerate((first, second, first)):
        believe(python)
        async with started(file) as engine:
            if step:
                await engine.until(lambda: ExecutionTimedOut(f"before {step}", 1) in engine.timers)  # noqa: B023
            await engine.check(f"step {step}")
            await asyncio.to_thread(engine.later, f"before {step + 1}", 0.5)
        assert defaults(file) == {PYTHONS[first]}


@pytest.mark.usefixtures("old_sqlite")
async def test_every_connection_has_the_function(tmp_path: Path) -> None:
    ask = sa.text("SELECT unixepoch('subsec') > 0")
    with closing(Database(f"sqlite:///{tmp_path / 'cairn.db'}")) as database:
        for engine in (database.engine, database.read_engine, database.system_engine, database.migration_engine):
            with engine.connect() as connection:
                assert connection.execute(ask).scalar_one() == 1
        assert database.read(lambda c: c.execute(ask).scalar_one()) == 1  # on the event loop's own connection
        assert await database.aread(lambda c: c.execute(ask).scalar_one()) == 1
        assert await database.transact(lambda c: c.execute(ask).scalar_one()) == 1
