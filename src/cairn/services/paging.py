"""Pages of long lists: each begins where the last one ended, however long the list is."""

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

Row: TypeAlias = Any  # SQLAlchemy's, with the columns that were asked for
Query: TypeAlias = "sa.Select[*tuple[Any, ...]]"
Place: TypeAlias = "Sequence[tuple[Any, sa.ColumnElement[Any]]]"  # of a row: its values of the columns of an order


@dataclass(frozen=True, slots=True)
class SortOrder:
    """The columns that a list is ordered by; together they name one row."""

    columns: tuple[sa.ColumnElement[Any], ...]
    newest_first: bool = False
    may_lack_first: bool = False  # the first column may be null: such rows come last


@dataclass(frozen=True, slots=True)
class Rows:
    """One page of rows."""

    rows: Sequence[Row]
    next_cursor: str | None


def page(connection: Connection, query: Query, order: SortOrder, limit: int, cursor: str | None) -> Rows:
    """The rows after the cursor, and the cursor of the page after them."""
    names = [f"order_{number}" for number in range(len(order.columns))]
    query = query.add_columns(*(column.label(name) for name, column in zip(names, order.columns, strict=True)))
    if cursor is not None:
        query = query.where(_after(_decoded(cursor, order), order))
    ordered = [column.desc() if order.newest_first else column.asc() for column in order.columns]
    if order.may_lack_first:
        ordered[0] = ordered[0].nulls_last()
    rows = connection.execute(query.order_by(*ordered).limit(limit + 1)).all()
    if len(rows) <= limit:
        return Rows(rows, None)
    last = rows[limit - 1]
    return Rows(rows[:limit], _encoded([getattr(last, name) for name in names]))


def _after(place: Place, order: SortOrder) -> sa.ColumnElement[bool]:
    if not order.may_lack_first:
        return _beyond(place, order)
    value, first = place[0]
    if value is None:
        return sa.and_(first.is_(None), _beyond(place[1:], order))
    return sa.or_(_beyond(place, order), first.is_(None))


def _beyond(place: Place, order: SortOrder) -> sa.ColumnElement[bool]:
    there = sa.tuple_(*(sa.literal(value, column.type) for value, column in place))
    here = sa.tuple_(*(column for _, column in place))
    return here < there if order.newest_first else here > there


def _encoded(values: list[Any]) -> str:
    plain = [as_text(value) if isinstance(value, datetime) else value for value in values]
    return urlsafe_b64encode(encode_json(plain)).decode().rstrip("=")


def _decoded(cursor: str, order: SortOrder) -> Place:
    try:
        values: Any = decode_json(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        pairs = enumerate(zip(values, order.columns, strict=True))
        return [
            (None if value is None and order.may_lack_first and number == 0 else _value(value, column), column)
            for number, (value, column) in pairs
        ]
    except (ValueError, TypeError, DocumentError):
        raise InvalidInput([("?cursor", "This is no cursor of this list.")]) from None


def _value(value: Any, column: sa.ColumnElement[Any]) -> Any:
    if isinstance(column.type, Instant):
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
        if moment is None or moment.tzinfo is None:
            raise ValueError
        return moment
    wanted = int if isinstance(column.type, sa.Integer) else str
    if type(value) is not wanted or (isinstance(value, str) and "\0" in value) or not _fits(value):
        raise ValueError
    return value


def _fits(value: Any) -> bool:
    return not isinstance(value, int) or -(2**63) <= value < 2**63
