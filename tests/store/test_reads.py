"""Each read is one snapshot, and a failed read leaves nothing behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any
from unittest.mock import Mock

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from cairn.store import Database
from cairn.store.tables import settings


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with closing(Database(f"sqlite:///{tmp_path}/cairn.db", pool_size=1, timeout_seconds=0.2)) as database:
        database.migrate()
        yield database


def put(key: str) -> Callable[[sa.Connection], object]:
    return lambda c: c.execute(sa.insert(settings).values(key=key, value=1))


def keys(connection: sa.Connection) -> list[str]:
    return sorted(connection.execute(sa.select(settings.c.key)).scalars())


async def test_each_read_sees_one_current_snapshot(database: Database) -> None:
    def read(connection: sa.Connection) -> tuple[list[str], list[str]]:
        before = keys(connection)
        database._writer.submit(put("later"), reply := Reply())  # pyright: ignore[reportPrivateUsage, reportOptionalMemberAccess]
        reply.wait()
        return before, keys(connection)

    await database.transact(put("a"))
    assert database.read(read) == (["a"], ["a"])
    assert database.read(keys) == ["a", "later"]


async def test_a_failed_read_does_not_affect_the_next(database: Database) -> None:
    def fail(connection: sa.Connection) -> None:
        connection.execute(sa.text("SELECT nothing FROM nowhere"))

    for _ in range(3):
        with pytest.raises(DBAPIError):
            database.read(fail)
        assert database.read(keys) == []
    with pytest.raises(DBAPIError, match="readonly"):
        database.read(put("a"))
    assert database.read(keys) == []


async def test_a_connection_that_cannot_begin_is_closed(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(sa.Connection, "begin", Mock(side_effect=OSError("no")))
        with pytest.raises(OSError, match="no"):
            database.read(keys)
    for _ in range(2):
        assert database.read(keys) == []


class Reply:
    """Resolves for a waiting thread, without an event loop."""

    def __init__(self) -> None:
        self._delivered = Event()

    def is_awaited(self) -> bool:
        return True

    def deliver(self, result: Any, error: BaseException | None) -> None:
        assert error is None, error
        self._delivered.set()

    def wait(self) -> None:
        assert self._delivered.wait(5)
