"""Pages of long lists: each begins where the last one ended, however long the list is."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

import sqlalchemy as sa

from cairn.documents import DocumentError, decode_json, encode_json
from cairn.services.errors import WrongInput
from cairn.store.types import Instant, as_text

Row: TypeAlias = Any  # SQLAlchemy's, with the columns that were asked for
Query: TypeAlias = "sa.Select[*tuple[Any, ...]]"


@dataclass(frozen=True, slots=True)
class Order:
    """The columns that a list is ordered by; together they name one row."""

    columns: tuple[sa.ColumnElement[Any], ...]
    newest_first: bool = False


@dataclass(frozen=True, slots=True)
class Rows:
    """One page of rows."""

    rows: Sequence[Row]
    next_cursor: str | None


def page(connection: sa.Connection, query: Query, order: Order, limit: int, cursor: str | None) -> Rows:
    """The rows after the cursor, and the cursor of the page after them."""
    names = [f"order_{number}" for number in range(len(order.columns))]
    query = query.add_columns(*(column.label(name) for name, column in zip(names, order.columns, strict=True)))
    if cursor is not None:
        place = sa.tuple_(*(sa.literal(value, column.type) for value, column in _decoded(cursor, order)))
        here = sa.tuple_(*order.columns)
        query = query.where(here < place if order.newest_first else here > place)
    ordered = [column.desc() if order.newest_first else column.asc() for column in order.columns]
    rows = connection.execute(query.order_by(*ordered).limit(limit + 1)).all()
    if len(rows) <= limit:
        return Rows(rows, None)
    last = rows[limit - 1]
    return Rows(rows[:limit], _encoded([getattr(last, name) for name in names]))


def _encoded(values: list[Any]) -> str:
    plain = [as_text(value) if isinstance(value, datetime) else value for value in values]
    return urlsafe_b64encode(encode_json(plain)).decode().rstrip("=")


def _decoded(cursor: str, order: Order) -> list[tuple[Any, sa.ColumnElement[Any]]]:
    try:
        values: Any = decode_json(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        return [(_value(value, column), column) for value, column in zip(values, order.columns, strict=True)]
    except (ValueError, TypeError, DocumentError):
        raise WrongInput([("?cursor", "This is no cursor of this list.")]) from None


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
