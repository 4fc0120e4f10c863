"""Column types that hold the same on SQLite and PostgreSQL."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

from cairn.documents import Value, decode_json, encode_json
from cairn.store.errors import Unstorable


class Text(TypeDecorator[str]):
    """Text of any length. NUL is refused on both databases, as PostgreSQL cannot hold it."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        if value is not None:
            check_text(value)
        return value


def check_text(value: str) -> None:
    """Refuse what PostgreSQL cannot hold, on SQLite too."""
    if "\0" in value:
        raise Unstorable(f"A text with a NUL character cannot be stored: {value[:80]!r}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Unstorable(f"A text with half a character cannot be stored: {value[:80]!r}") from None


class Instant(TypeDecorator[datetime]):
    """A moment: an aware datetime in UTC. On SQLite a text that sorts, on PostgreSQL timestamptz."""

    impl = sa.DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(sa.Text() if dialect.name == "sqlite" else sa.DateTime(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        if value is None:
            return None
        if value.tzinfo is None:
            raise Unstorable(f"A time without a time zone cannot be stored: {value.isoformat()}")
        return as_text(value) if dialect.name == "sqlite" else value

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return datetime.fromisoformat(value) if dialect.name == "sqlite" else value.astimezone(UTC)


@lru_cache(maxsize=64)  # one moment stands in many rows of a transaction
def as_text(moment: datetime) -> str:
    """ISO 8601 in UTC with microseconds and `Z`."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec="microseconds")[:-6] + "Z"


class Json(TypeDecorator[Value]):
    """A JSON value as text, exact to the last digit. None is SQL's NULL."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Value, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else encode_json(value).decode()

    def process_result_value(self, value: str | None, dialect: Dialect) -> Value:  # noqa: ARG002
        return None if value is None else decode_json(value, max_bytes=sys.maxsize)


BigInteger = sa.BigInteger().with_variant(sa.Integer(), "sqlite")  # SQLite counts up only an INTEGER key


def one_of(column: str, *choices: type[StrEnum] | str) -> sa.CheckConstraint:
    """The column holds one of these words."""
    words = [word for choice in choices for word in ([choice] if isinstance(choice, str) else list(choice))]
    listed = ", ".join(f"'{word}'" for word in words)
    return sa.CheckConstraint(f"{column} IN ({listed})", name=f"{column}_known")
