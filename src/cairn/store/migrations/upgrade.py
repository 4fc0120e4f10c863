"""Upgrade the schema of a database."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext

from cairn.store.errors import StoreError

_ADVISORY_LOCK = 0x636169726E  # "cairn"
INITIAL_SCHEMA = Path(__file__).parent / "initial_schema"


def configuration() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.set_main_option("path_separator", "os")
    return config


def upgrade(engine: sa.Engine) -> None:
    """Upgrade the schema in one transaction. Other processes that start at the same time wait for it."""
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ADVISORY_LOCK)))
        before = MigrationContext.configure(connection).get_current_revision()
        config = configuration()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        if engine.dialect.name == "sqlite" and before is not None:
            _check_references(connection)


def _check_references(connection: sa.Connection) -> None:
    """SQLite doesn't enforce references while a migration rebuilds tables."""
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    if broken:
        raise StoreError(f"The migration would leave {len(broken)} broken references, the first in {broken[0][0]}.")
