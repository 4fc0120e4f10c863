"""The schema that migrations create, and what the database itself enforces."""

from __future__ import annotations

import io
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.exc import DBAPIError, IntegrityError

from cairn.services.actors import ADMIN
from cairn.store import Database, StoreError, UnsupportedSchema
from cairn.store.database import schema_version
from cairn.store.migrations import upgrade
from cairn.store.migrations.upgrade import configuration
from cairn.store.tables import active_rules, blob_chunks, chains, events, metadata, settings, users

VERSIONS = "alembic_version"
BREAKS_REFERENCES = f"""
from alembic import op

revision = "9999"
down_revision = "{schema_version.newest()}"


def upgrade():
    op.execute("INSERT INTO blob_chunks (checksum, number, data) VALUES ('none', 0, x'00')")
"""


def structure(database: Database) -> dict[str, Any]:
    """The schema as the database reports it."""
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


def test_the_newest_version_is_the_head_of_the_migrations(database: Database) -> None:
    scripts = ScriptDirectory.from_config(configuration())
    revisions = [script.revision for script in scripts.walk_revisions()]
    assert revisions == list(reversed(schema_version.known()))
    assert scripts.get_heads() == [schema_version.newest()]
    assert database.schema_version == schema_version.newest()


def test_a_new_database_has_no_schema(new_database_url: str) -> None:
    with closing(Database(new_database_url)) as fresh:
        assert fresh.schema_version is None


def test_the_migrated_schema_equals_the_tables(new_database_url: str, database: Database) -> None:
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


def test_several_processes_can_migrate_at_once(new_database_url: str) -> None:
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
            connection.execute(sa.text("CREATE TABLE summaries (x INTEGER)"))
        with pytest.raises(DBAPIError, match="summaries"):
            database.migrate()
        assert set(structure(database)["tables"]) == {"summaries"}


def test_other_tables_are_not_touched(new_database_url: str) -> None:
    with closing(Database(new_database_url)) as database:
        with database.engine.begin() as connection:
            connection.execute(sa.text("CREATE TABLE other (x INTEGER)"))
        database.migrate()
        assert "other" in structure(database)["tables"]


@pytest.mark.parametrize(("version", "is_newer"), [("0001", False), ("0024", False), ("9999", True)])
def test_a_schema_of_another_version_is_rejected(database: Database, version: str, is_newer: bool) -> None:
    database.transact_now(lambda c: c.execute(sa.text(f"UPDATE {VERSIONS} SET version_num = '{version}'")))
    before = structure(database)
    with pytest.raises(UnsupportedSchema, match=version) as raised:
        database.migrate()
    assert raised.value.is_newer is is_newer
    location = str(Path(database.url.database or "").parent) if database.kind == "sqlite" else database.url.database
    assert (location or "") in raised.value.problem
    assert (structure(database), database.schema_version) == (before, version)


@pytest.mark.parametrize("database_kind", [pytest.param("postgresql", marks=pytest.mark.postgres)])
def test_the_error_does_not_show_the_password(database: Database) -> None:
    url = database.url.set(username="cairn", password="hunter2")
    with pytest.raises(UnsupportedSchema) as raised:
        schema_version.check("0024", url)
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize("database_kind", ["sqlite"])
def test_a_migration_must_not_leave_broken_references(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite doesn't enforce references while a migration rebuilds tables."""
    migrations = tmp_path / "migrations"
    shutil.copytree(Path(upgrade.__file__).parent, migrations)
    (migrations / "versions" / "9999_next.py").write_text(BREAKS_REFERENCES)
    config = Config()
    config.set_main_option("script_location", str(migrations))
    config.set_main_option("path_separator", "os")
    monkeypatch.setattr(upgrade, "configuration", lambda: config)
    monkeypatch.setattr(schema_version, "newest", lambda: "9999")
    with pytest.raises(StoreError, match="blob_chunks"):
        database.migrate()
    assert database.read(lambda c: c.execute(sa.select(blob_chunks)).all()) == []


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


def test_unknown_enum_values_are_rejected(database: Database) -> None:
    wrong = "INSERT INTO blobs VALUES ('c', 1, 1, 'rar', {}, '2026-01-01T00:00:00Z', NULL)"
    with pytest.raises(IntegrityError, match="compression_known"):
        database.transact_now(lambda c: c.execute(sa.text(wrong.format("true"))))


def test_broken_references_are_rejected(database: Database) -> None:
    with pytest.raises(IntegrityError, match=r"(?i)foreign key"):
        database.transact_now(lambda c: c.execute(sa.insert(blob_chunks).values(checksum="none", number=0, data=b"x")))


@pytest.mark.parametrize("statement", ["UPDATE events SET actor = 'eve'", "DELETE FROM events"])
def test_events_are_append_only(database: Database, statement: str) -> None:
    database.transact_now(_append)
    with pytest.raises(DBAPIError, match="append-only"):
        database.transact_now(lambda c: c.execute(sa.text(statement)))
    assert database.read(lambda c: c.execute(sa.select(events.c.actor)).scalars().all()) == ["ann"]


@pytest.mark.parametrize("database_kind", [pytest.param("postgresql", marks=pytest.mark.postgres)])
def test_events_cannot_be_truncated(database: Database) -> None:
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


def test_a_new_installation_has_an_administrator_and_global_rules(database: Database) -> None:
    user = database.read(lambda c: c.execute(sa.select(users)).one())
    assert (user.name, set(user.roles), user.created_at.tzinfo) == ("admin", ADMIN.roles, UTC)
    chain = database.read(lambda c: c.execute(sa.select(chains)).one())
    assert tuple(chain) == ("global", 0, "")
    rules = database.read(lambda c: c.execute(sa.select(active_rules)).one())
    assert tuple(rules) == ("global", 0, False)
