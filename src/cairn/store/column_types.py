"""Column types that behave the same on SQLite and PostgreSQL."""

from __future__ import annotations

import sys
from collections.abc import Callable
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
    """Text of any length. Rejects NUL characters on both databases, because PostgreSQL can't store them."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        if value is not None:
            check_text(value)
        return value


def check_text(value: str) -> None:
    """Raise Unstorable for text that PostgreSQL can't store."""
    if "\0" in value:
        raise Unstorable(f"Text with a NUL character can't be stored: {value[:80]!r}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Unstorable(f"Text with an unpaired surrogate can't be stored: {value[:80]!r}") from None


class Instant(TypeDecorator[datetime]):
    """An aware datetime in UTC: sortable text on SQLite, timestamptz on PostgreSQL."""

    impl = sa.DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(sa.Text() if dialect.name == "sqlite" else sa.DateTime(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        return None if value is None else self.writer(dialect)(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        return None if value is None else self.reader(dialect)(value)

    def writer(self, dialect: Dialect) -> Callable[[datetime], Any]:
        """Return the function that converts a datetime for the driver."""
        return as_text if dialect.name == "sqlite" else _aware

    def reader(self, dialect: Dialect) -> Callable[[Any], datetime]:
        """Return the function that converts the driver's value."""
        return datetime.fromisoformat if dialect.name == "sqlite" else _in_utc


def _aware(time: datetime) -> datetime:
    if time.tzinfo is None:
        raise Unstorable(f"A time without a time zone can't be stored: {time.isoformat()}")
    return time


def _in_utc(time: datetime) -> datetime:
    return time.astimezone(UTC)


@lru_cache(maxsize=64)  # many rows of a transaction share the same time
def as_text(time: datetime) -> str:
    """ISO 8601 in UTC with microseconds and `Z`."""
    if time.tzinfo is not UTC:
        time = _aware(time).astimezone(UTC)
    return time.isoformat(timespec="microseconds")[:-6] + "Z"


class Json(TypeDecorator[Value]):
    """A JSON value as text, with numbers kept exactly. None is NULL."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Value, dialect: Dialect) -> str | None:
        return None if value is None else self.writer(dialect)(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Value:
        return None if value is None else self.reader(dialect)(value)

    def writer(self, dialect: Dialect) -> Callable[[Value], str]:  # noqa: ARG002
        """Return the function that converts a value for the driver."""
        return _encode

    def reader(self, dialect: Dialect) -> Callable[[str], Value]:  # noqa: ARG002
        """Return the function that converts the driver's value."""
        return _decode


def _encode(value: Value) -> str:
    return encode_json(value).decode()


def _decode(text: str) -> Value:
    return decode_json(text, max_bytes=sys.maxsize)


BigInteger = sa.BigInteger().with_variant(sa.Integer(), "sqlite")  # SQLite only auto-increments an INTEGER key


def one_of(column: str, *choices: type[StrEnum] | str) -> sa.CheckConstraint:
    """Restrict the column to these values."""
    values = [value for choice in choices for value in ([choice] if isinstance(choice, str) else list(choice))]
    listed = ", ".join(f"'{value}'" for value in values)
    return sa.CheckConstraint(f"{column} IN ({listed})", name=f"{column}_known")
