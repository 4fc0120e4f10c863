"""PostgreSQL with broken connections and long locks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import OperationalError

from cairn.store import Database
from cairn.store.prepared_statements import insert_into
from cairn.store.tables import settings
from tests.store.test_database import keys, put


@pytest.fixture(params=[pytest.param("postgresql", marks=pytest.mark.postgres)])
def database_kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with closing(Database(database_url, timeout_seconds=1)) as opened:
        yield opened


OTHERS = sa.text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


def test_connections_that_the_server_dropped_are_replaced(database: Database) -> None:
    database.transact_now(put("a"))
    database.read(lambda c: c.execute(sa.select(settings)).all())
    with database.system_engine.connect() as connection:
        connection.execute(OTHERS)
    assert database.transact_now(put("b")) == "b"
    assert keys(database) == ["a", "b"]


@pytest.mark.parametrize("way", ["plain", "prepared"])
def test_a_change_whose_connection_breaks_fails_and_leaves_nothing(database: Database, way: str) -> None:
    def change(connection: sa.Connection) -> None:
        put("a")(connection)
        with database.system_engine.connect() as other:
            other.execute(OTHERS)
        if way == "plain":
            put("b")(connection)
        else:
            insert_into(settings).run(connection, {"key": "b", "value": 1})

    with pytest.raises(OperationalError):
        database.transact_now(change)
    assert keys(database) == []
    assert database.transact_now(put("c")) == "c"


def test_waiting_for_a_lock_times_out(database: Database) -> None:
    database.transact_now(put("a"))
    started, release = threading.Event(), threading.Event()
    update = sa.update(settings).values(value=2)

    def slow(connection: sa.Connection) -> None:
        connection.execute(update)
        started.set()
        release.wait(10)

    with ThreadPoolExecutor(1) as pool:
        holding = pool.submit(database.transact_now, slow)
        started.wait(10)
        with pytest.raises(OperationalError, match="lock timeout"):
            database.transact_now(lambda c: c.execute(update))
        release.set()
        holding.result(10)
    assert database.transact_now(put("b")) == "b"
