"""Bringing a database's schema up to date."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from cairn.store.errors import NewerDatabase, StoreError

_ADVISORY_LOCK = 0x636169726E  # "cairn"


def configuration() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.set_main_option("path_separator", "os")
    return config


def upgrade(engine: sa.Engine) -> None:
    """Upgrade the schema in one transaction, which one process at a time can hold."""
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ADVISORY_LOCK)))
        config = configuration()
        config.attributes["connection"] = connection
        scripts = ScriptDirectory.from_config(config)
        before = set(MigrationContext.configure(connection).get_current_heads())
        _refuse_newer(before, scripts)
        if before == set(scripts.get_heads()):
            return
        command.upgrade(config, "head")
        if engine.dialect.name == "sqlite" and before:
            _check_references(connection)


def _refuse_newer(found: set[str], scripts: ScriptDirectory) -> None:
    unknown = found - {script.revision for script in scripts.walk_revisions()}
    if unknown:
        raise NewerDatabase(
            f"The database was written by a newer version of Cairn (schema {', '.join(sorted(unknown))}):"
            " install that version, or open a backup."
        )


def _check_references(connection: sa.Connection) -> None:
    """They are not enforced while SQLite's tables are rebuilt."""
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    if broken:
        raise StoreError(f"The migration would leave {len(broken)} references to nothing, one in {broken[0][0]}.")
