"""The naming convention for constraints, and shorthands for columns."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from cairn.store.column_types import Instant, Json, Text

metadata = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
    }
)


def text(name: str, *args: Any, null: bool = False, **options: Any) -> sa.Column[str]:
    return sa.Column(name, Text, *args, nullable=null, **options)


def integer(name: str, *args: Any, null: bool = False, **options: Any) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, *args, nullable=null, **options)


def size(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False)


def double(name: str, *, null: bool = False) -> sa.Column[float]:
    return sa.Column(name, sa.Double, nullable=null)


def flag(name: str, **options: Any) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean, nullable=False, **options)


def timestamp(name: str, *, null: bool = False) -> sa.Column[Any]:
    return sa.Column(name, Instant, nullable=null)


def json(name: str, *, null: bool = False) -> sa.Column[Any]:
    return sa.Column(name, Json, nullable=null)


def references(column: str) -> sa.ForeignKey:
    return sa.ForeignKey(column)


def index(name: str, *columns: str, where: str | None = None) -> sa.Index:
    """An index; with `where`, a partial index on both databases."""
    condition = sa.text(where) if where else None
    return sa.Index(name, *columns, sqlite_where=condition, postgresql_where=condition)
