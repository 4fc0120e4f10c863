"""Bringing a database's schema up to date."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from cairn.store.errors import NewerDatabase, StoreError

if TYPE_CHECKING:
    from cairn.store.database import Database

_ADVISORY_LOCK = 0x636169726E  # "cairn"


def configuration() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.set_main_option("path_separator", "os")
    return config


def upgrade(database: Database) -> None:
    """In one transaction that no two processes hold at once."""
    with database.migration_engine.begin() as connection:
        if database.kind == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ADVISORY_LOCK)))
        config = configuration()
        config.attributes["connection"] = connection
        _refuse_newer(connection, ScriptDirectory.from_config(config))
        command.upgrade(config, "head")
        if database.kind == "sqlite" and (broken := connection.exec_driver_sql("PRAGMA foreign_key_check").all()):
            raise StoreError(f"The database holds {len(broken)} references to nothing, the first in {broken[0][0]}.")


def _refuse_newer(connection: sa.Connection, scripts: ScriptDirectory) -> None:
    known = {script.revision for script in scripts.walk_revisions()}
    unknown = set(MigrationContext.configure(connection).get_current_heads()) - known
    if unknown:
        raise NewerDatabase(
            f"The database was written by a newer version of Cairn (schema {', '.join(sorted(unknown))}):"
            " install that version, or open a backup."
        )
