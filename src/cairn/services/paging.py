"""Keyset pagination: a page starts after the last row of the previous page."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

import sqlalchemy as sa

from cairn.documents import DocumentError, decode_json, encode_json
from cairn.services.errors import InvalidInput
from cairn.store import Connection
from cairn.store.column_types import Instant, as_text

Row: TypeAlias = Any  # SQLAlchemy's, with the selected columns
Query: TypeAlias = "sa.Select[*tuple[Any, ...]]"
Position: TypeAlias = "Sequence[tuple[Any, sa.ColumnElement[Any]]]"  # a row's values of the sort columns


@dataclass(frozen=True, slots=True)
class SortOrder:
    """The columns that a list is sorted by. Together they identify a row."""

    columns: tuple[sa.ColumnElement[Any], ...]
    newest_first: bool = False
    nullable_first: bool = False  # the first column can be null; such rows come last


@dataclass(frozen=True, slots=True)
class Rows:
    """One page of rows."""

    rows: Sequence[Row]
    next_cursor: str | None


def page(connection: Connection, query: Query, order: SortOrder, limit: int, cursor: str | None) -> Rows:
    """The rows after the cursor, and the cursor of the next page."""
    names = [f"order_{number}" for number in range(len(order.columns))]
    query = query.add_columns(*(column.label(name) for name, column in zip(names, order.columns, strict=True)))
    if cursor is not None:
        query = query.where(_after(_decode(cursor, order), order))
    ordered = [column.desc() if order.newest_first else column.asc() for column in order.columns]
    if order.nullable_first:
        ordered[0] = ordered[0].nulls_last()
    rows = connection.execute(query.order_by(*ordered).limit(limit + 1)).all()
    if len(rows) <= limit:
        return Rows(rows, None)
    last = rows[limit - 1]
    return Rows(rows[:limit], _encode([getattr(last, name) for name in names]))


def _after(position: Position, order: SortOrder) -> sa.ColumnElement[bool]:
    if not order.nullable_first:
        return _compare(position, order)
    value, first = position[0]
    if value is None:
        return sa.and_(first.is_(None), _compare(position[1:], order))
    return sa.or_(_compare(position, order), first.is_(None))


def _compare(position: Position, order: SortOrder) -> sa.ColumnElement[bool]:
    last = sa.tuple_(*(sa.literal(value, column.type) for value, column in position))
    row = sa.tuple_(*(column for _, column in position))
    return row < last if order.newest_first else row > last


def _encode(values: list[Any]) -> str:
    texts = [as_text(value) if isinstance(value, datetime) else value for value in values]
    return urlsafe_b64encode(encode_json(texts)).decode().rstrip("=")


def _decode(cursor: str, order: SortOrder) -> Position:
    try:
        values: Any = decode_json(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        pairs = enumerate(zip(values, order.columns, strict=True))
        return [
            (None if value is None and order.nullable_first and number == 0 else _checked(value, column), column)
            for number, (value, column) in pairs
        ]
    except (ValueError, TypeError, DocumentError):
        raise InvalidInput([("?cursor", "Invalid cursor. Leave it out to start at the first page.")]) from None


def _checked(value: Any, column: sa.ColumnElement[Any]) -> Any:
    if isinstance(column.type, Instant):
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
        if moment is None or moment.tzinfo is None:
            raise ValueError
        return moment
    expected = int if isinstance(column.type, sa.Integer) else str
    if type(value) is not expected or (isinstance(value, str) and "\0" in value) or not _is_in_range(value):
        raise ValueError
    return value


def _is_in_range(value: Any) -> bool:
    return not isinstance(value, int) or -(2**63) <= value < 2**63
