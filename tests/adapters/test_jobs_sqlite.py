"""The job engine works with every SQLite version that supported Python versions can use.

On Python 3.12 and newer, DBOS uses `unixepoch('subsec')` in column defaults and statements, but SQLite supports it
only since 3.42. These tests simulate the Python version and the SQLite library.
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
    raise AssertionError(f"unixepoch{arguments} is not used by the job engine")


def no_function(*_: object) -> int:
    """SQLite before 3.38."""
    raise AssertionError("no such function: unixepoch")


@pytest.fixture(params=[no_subsec, no_function])
def old_sqlite(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A library older than 3.42 that allows only built-in functions in column defaults, as some builds do."""

    def degrade(connection: sqlite3.Connection, _: object) -> None:
        connection.create_function("unixepoch", -1, request.param)
        connection.execute("PRAGMA trusted_schema=OFF").close()

    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 37, 2) if request.param is no_function else (3, 40, 1))
    event.listen(sa.pool.Pool, "connect", degrade)
    yield
    event.remove(sa.pool.Pool, "connect", degrade)


@pytest.fixture
def simulate_python(monkeypatch: pytest.MonkeyPatch) -> Callable[[tuple[int, int]], None]:
    """Make DBOS behave as on another version of Python."""

    def switch(version: tuple[int, int]) -> None:
        migrations = _migrations_on(version)
        monkeypatch.setattr("dbos._sys_db_sqlite.sqlite_migrations", migrations.sqlite_migrations)
        simulated = SimpleNamespace(version_info=(*version, 0), maxsize=sys.maxsize)
        monkeypatch.setattr("dbos._sys_db.sys", simulated)

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


class JobRecorder:
    """A job engine that records the jobs that ran."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.jobs = DbosJobs(database.url.render_as_string(), database.system_engine, poll_seconds=0.05)
        self.lanes: list[str] = []
        self.timers: list[Timer] = []

    async def lane(self, job: str, run_id: str, *, enqueued_here: bool) -> None:
        self.lanes.append(job)

    async def timer(self, run_id: str, command: Timer) -> None:
        self.timers.append(command)

    async def notification(self, notification_id: str) -> None:
        raise AssertionError("no notification was enqueued")

    async def wait_until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not condition():  # noqa: ASYNC110 - the engine has no event to wait for
                await asyncio.sleep(0.02)

    async def run_jobs(self, name: str) -> None:
        """Enqueue a lane and a timer, and wait until both have run."""

        def enqueue(connection: sa.Connection) -> None:
            self.jobs.enqueue_lane(connection, f"exec:{name}:1", "run")
            self.jobs.enqueue_timer(connection, f"timeout:{name}:1", "run", ExecutionTimedOut(name, 1), 0.1)

        await self.database.transact(enqueue)
        await self.wait_until(lambda: f"exec:{name}:1" in self.lanes and ExecutionTimedOut(name, 1) in self.timers)
        jobs = (f"exec:{name}:1", f"timeout:{name}:1")
        await self.wait_until(lambda: self.database.read(lambda c: self.jobs.finished_jobs(c, jobs)) == frozenset(jobs))

    def enqueue_timer(self, name: str, seconds: float) -> None:
        """Enqueue a timer for the next start."""
        timer = ExecutionTimedOut(name, 1)
        self.database.transact_now(
            lambda c: self.jobs.enqueue_timer(c, f"timeout:{name}:1", "run", timer, seconds),
        )


@asynccontextmanager
async def running_engine(file: Path) -> AsyncGenerator[JobRecorder]:
    with closing(Database(f"sqlite:///{file}", timeout_seconds=10)) as database:
        database.migrate()
        engine = JobRecorder(database)
        try:
            await engine.jobs.start(engine.lane, engine.timer, engine.notification)
            yield engine
        finally:
            await engine.jobs.stop()


def time_defaults(file: Path) -> set[str]:
    """Expressions for the current time in the column defaults of the job tables."""
    with closing(sqlite3.connect(file)) as connection:
        schema = " ".join(row[0] for row in connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"))
    return {default for default in (OLD_DEFAULT, NEW_DEFAULT) if default in schema}


def stored_times(database: Database) -> list[Any]:
    """Every time in the job tables, from statements and column defaults."""
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
async def test_jobs_run_on_a_new_database(
    tmp_path: Path, python: tuple[int, int], simulate_python: Callable[..., None]
) -> None:
    simulate_python(python)
    file = tmp_path / "cairn.db"
    async with running_engine(file) as engine:
        await engine.run_jobs("first")
        now = engine.database.read(lambda c: c.execute(sa.text("SELECT strftime('%s', 'now')")).scalar_one())
        found = stored_times(engine.database)
        assert len(found) >= 10
        assert all(isinstance(time, int | float) and abs(time - int(now) * 1000) < 60_000 for time in found), found
    assert time_defaults(file) == {PYTHONS[python]}


@pytest.mark.usefixtures("old_sqlite")
@pytest.mark.parametrize("first", PYTHONS)
async def test_a_data_folder_can_move_between_python_versions(
    tmp_path: Path, first: tuple[int, int], simulate_python: Callable[..., None]
) -> None:
    """A timer of one version fires on the other. The tables keep their original defaults."""
    file = tmp_path / "cairn.db"
    (second,) = PYTHONS.keys() - {first}
    for step, python in enumerate((first, second, first)):
        simulate_python(python)
        async with running_engine(file) as engine:
            if step:
                await engine.wait_until(lambda: ExecutionTimedOut(f"before {step}", 1) in engine.timers)  # noqa: B023
            await engine.run_jobs(f"step {step}")
            await asyncio.to_thread(engine.enqueue_timer, f"before {step + 1}", 0.5)
        assert time_defaults(file) == {PYTHONS[first]}


@pytest.mark.usefixtures("old_sqlite")
async def test_every_connection_provides_unixepoch(tmp_path: Path) -> None:
    query = sa.text("SELECT unixepoch('subsec') > 0")
    with closing(Database(f"sqlite:///{tmp_path / 'cairn.db'}")) as database:
        for engine in (database.engine, database.read_engine, database.system_engine, database.migration_engine):
            with engine.connect() as connection:
                assert connection.execute(query).scalar_one() == 1
        assert database.read(lambda c: c.execute(query).scalar_one()) == 1
        assert await database.aread(lambda c: c.execute(query).scalar_one()) == 1
        assert await database.transact(lambda c: c.execute(query).scalar_one()) == 1
