"""Migrations lead to the schema that the code knows, on both databases."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.exc import DBAPIError, IntegrityError

from cairn.store import Database, NewerDatabase, StoreError
from cairn.store.database import schema_version
from cairn.store.migrations.upgrade import configuration
from cairn.store.tables import blob_chunks, events, metadata, settings

VERSIONS = "alembic_version"


def structure(database: Database) -> dict[str, Any]:
    """Everything that the database knows of its schema."""
    with database.engine.connect() as connection:
        inspector = sa.inspect(connection)
        tables = {
            name: {
                "columns": [
                    (column["name"], str(column["type"]), column["nullable"]) for column in inspector.get_columns(name)
                ],
                "key": inspector.get_pk_constraint(name),
                "references": sorted(inspector.get_foreign_keys(name), key=str),
                "unique": sorted(inspector.get_unique_constraints(name), key=str),
                "checks": sorted(inspector.get_check_constraints(name), key=str),
                "indexes": sorted(_index(index) for index in inspector.get_indexes(name)),
                "options": inspector.get_table_options(name),
            }
            for name in inspector.get_table_names()
            if name != VERSIONS
        }
        views = {name: inspector.get_view_definition(name) for name in inspector.get_view_names()}
        triggers = sorted(tuple(row) for row in connection.execute(_triggers(database)))
        return {"tables": tables, "views": views, "triggers": triggers}


def _index(index: Any) -> tuple[Any, ...]:
    options = {name: str(value) for name, value in index.get("dialect_options", {}).items()}
    return index["name"], index["column_names"], bool(index["unique"]), sorted(options.items())


def _triggers(database: Database) -> sa.TextClause:
    if database.kind == "sqlite":
        return sa.text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
    return sa.text("SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal")


def test_migrations_are_named_by_their_numbers_in_their_order(database: Database) -> None:
    scripts = ScriptDirectory.from_config(configuration())
    numbers = [script.revision for script in scripts.walk_revisions()]
    assert (scripts.get_heads(), numbers) == ([schema_version.newest()], sorted(numbers, reverse=True))
    assert schema_version.found(database.read_engine) == schema_version.newest()


def test_a_database_that_is_not_there_yet_has_no_schema(new_database_url: str) -> None:
    with closing(Database(new_database_url)) as fresh:
        assert schema_version.found(fresh.read_engine) is None


def test_the_migrated_schema_is_that_of_the_tables(new_database_url: str, database: Database) -> None:
    with closing(Database(new_database_url)) as fresh:
        with fresh.engine.begin() as connection:
            metadata.create_all(connection)
        assert structure(database) == structure(fresh)


def test_alembic_finds_nothing_to_change(database: Database) -> None:
    with database.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_migrating_again_changes_nothing(database: Database) -> None:
    database.transact_now(lambda c: c.execute(sa.insert(settings).values(key="a", value=1)))
    before = structure(database)
    database.migrate()
    assert structure(database) == before
    assert database.read(lambda c: c.execute(sa.select(settings.c.key)).scalar_one()) == "a"


def test_several_processes_may_start_at_once(new_database_url: str) -> None:
    def start(_: int) -> None:
        with closing(Database(new_database_url)) as database:
            database.migrate()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(start, range(4)))
    with closing(Database(new_database_url)) as database:
        assert "events" in structure(database)["tables"]


def test_a_migration_that_fails_leaves_nothing(new_database_url: str) -> None:
    with closing(Database(new_database_url)) as database:
        with database.engine.begin() as connection:
            connection.execute(sa.text("CREATE TABLE sessions (x INTEGER)"))  # the last migration finds it taken
        with pytest.raises(DBAPIError, match="sessions"):
            database.migrate()
        assert set(structure(database)["tables"]) == {"sessions"}


def test_tables_of_others_stay(new_database_url: str) -> None:
    with closing(Database(new_database_url)) as database:
        with database.engine.begin() as connection:
            connection.execute(sa.text("CREATE TABLE of_the_job_engine (x INTEGER)"))
        database.migrate()
        assert "of_the_job_engine" in structure(database)["tables"]


def test_a_newer_database_is_not_touched(database: Database) -> None:
    database.transact_now(lambda c: c.execute(sa.text(f"UPDATE {VERSIONS} SET version_num = '9999'")))
    with pytest.raises(NewerDatabase, match="9999"):
        database.migrate()


@pytest.mark.parametrize("database_kind", ["sqlite"])
def test_a_migration_may_not_leave_references_to_nothing(new_database_url: str) -> None:
    """SQLite does not enforce them while a table is rebuilt."""
    with closing(Database(new_database_url)) as database:
        with database.migration_engine.begin() as connection:
            config = configuration()
            config.attributes["connection"] = connection
            command.upgrade(config, "0007")
            connection.execute(sa.insert(blob_chunks).values(checksum="none", number=0, data=b"x"))
        with pytest.raises(StoreError, match="blob_chunks"):
            database.migrate()
        assert "sessions" not in structure(database)["tables"]


def test_the_migrations_can_be_written_as_sql(new_database_url: str, database: Database) -> None:
    config = configuration()
    config.attributes["url"] = new_database_url.replace("postgresql:", "postgresql+psycopg:")
    config.output_buffer = io.StringIO()
    command.upgrade(config, "head", sql=True)
    script = config.output_buffer.getvalue()
    with closing(Database(new_database_url)) as fresh:
        with fresh.engine.connect() as connection:
            raw: Any = connection.connection.dbapi_connection
            raw.executescript(script) if fresh.kind == "sqlite" else raw.execute(script)
            raw.commit()
        assert structure(database) == structure(fresh)


# ---- what the database itself guards ---------------------------------------------------------------
def test_words_outside_a_list_are_refused(database: Database) -> None:
    wrong = "INSERT INTO blobs VALUES ('c', 1, 1, 'rar', {}, '2026-01-01T00:00:00Z', NULL)"
    with pytest.raises(IntegrityError, match="compression_known"):
        database.transact_now(lambda c: c.execute(sa.text(wrong.format("true"))))


def test_references_to_nothing_are_refused(database: Database) -> None:
    with pytest.raises(IntegrityError, match=r"(?i)foreign key"):
        database.transact_now(lambda c: c.execute(sa.insert(blob_chunks).values(checksum="none", number=0, data=b"x")))


@pytest.mark.parametrize("statement", ["UPDATE events SET actor = 'eve'", "DELETE FROM events"])
def test_the_trail_is_append_only(database: Database, statement: str) -> None:
    database.transact_now(_append)
    with pytest.raises(DBAPIError, match="append-only"):
        database.transact_now(lambda c: c.execute(sa.text(statement)))
    assert database.read(lambda c: c.execute(sa.select(events.c.actor)).scalars().all()) == ["ann"]


@pytest.mark.parametrize("database_kind", [pytest.param("postgresql", marks=pytest.mark.postgres)])
def test_the_trail_cannot_be_truncated(database: Database) -> None:
    database.transact_now(_append)
    with pytest.raises(DBAPIError, match="append-only"):
        database.transact_now(lambda c: c.execute(sa.text("TRUNCATE events")))


def _append(connection: sa.Connection) -> None:
    names = [column.name for column in events.c if column.name not in ("id", "seq", "timestamp")]
    values = {name: "ann" if name == "actor" else "{}" for name in names}
    row = values | {"seq": 1, "at": "2026-01-01T00:00:00.000000Z"}
    listed = ", ".join([*names, "seq", "timestamp"])
    places = ", ".join([*(f":{name}" for name in names), ":seq", ":at"])
    connection.execute(sa.text(f"INSERT INTO events ({listed}) VALUES ({places})"), row)
