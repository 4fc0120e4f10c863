"""Read the schema version of a database without importing Alembic, which takes a fifth of a second."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import sqlalchemy as sa

from cairn.store.errors import UnsupportedSchema

_VERSIONS = Path(__file__).parents[1] / "migrations" / "versions"
_TABLE = sa.table("alembic_version", sa.column("version_num", sa.Text))


@cache
def known() -> tuple[str, ...]:
    """Return the versions that this release of Cairn can open, oldest first. Migration files start with theirs."""
    return tuple(sorted(file.name.partition("_")[0] for file in _VERSIONS.glob("[0-9]*_*.py")))


def newest() -> str:
    return known()[-1]


def current(connection: sa.Connection) -> str | None:
    """Return the version of the database, or None if it has no schema yet."""
    if not sa.inspect(connection).has_table(_TABLE.name):
        return None
    return connection.execute(sa.select(_TABLE.c.version_num)).scalar_one_or_none()


def check(version: str, url: sa.URL) -> None:
    """Raise UnsupportedSchema if this release of Cairn can neither use nor upgrade the schema."""
    if version not in known():
        raise UnsupportedSchema(url, version, is_newer=version > newest())
