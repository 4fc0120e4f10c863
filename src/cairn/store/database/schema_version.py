"""Which schema a database has, without the tool that changes it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

_VERSIONS = Path(__file__).parents[1] / "migrations" / "versions"
_FOUND = sa.text("SELECT version_num FROM alembic_version")


@cache
def newest() -> str:
    """The revision of this version of Cairn: its migrations are named by their numbers, in their order."""
    return max(file.name.partition("_")[0] for file in _VERSIONS.glob("[0-9]*_*.py"))


def found(engine: sa.Engine) -> str | None:
    """The revision of the database; None if it has none yet, or cannot be read."""
    try:
        with engine.connect() as connection, connection.begin():
            return connection.execute(_FOUND).scalar_one_or_none()
    except DBAPIError:
        return None
