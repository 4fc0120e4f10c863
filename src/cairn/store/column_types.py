"""Column types that hold the same on SQLite and PostgreSQL."""

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
        return None if value is None else self.writer(dialect)(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        return None if value is None else self.reader(dialect)(value)

    def writer(self, dialect: Dialect) -> Callable[[datetime], Any]:
        """What makes the driver's value of one that is there."""
        return as_text if dialect.name == "sqlite" else _aware

    def reader(self, dialect: Dialect) -> Callable[[Any], datetime]:
        """What makes one of the driver's value."""
        return datetime.fromisoformat if dialect.name == "sqlite" else _in_utc


def _aware(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise Unstorable(f"A time without a time zone cannot be stored: {moment.isoformat()}")
    return moment


def _in_utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


@lru_cache(maxsize=64)  # one moment stands in many rows of a transaction
def as_text(moment: datetime) -> str:
    """ISO 8601 in UTC with microseconds and `Z`."""
    if moment.tzinfo is not UTC:
        moment = _aware(moment).astimezone(UTC)
    return moment.isoformat(timespec="microseconds")[:-6] + "Z"


class Json(TypeDecorator[Value]):
    """A JSON value as text, exact to the last digit. None is SQL's NULL."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Value, dialect: Dialect) -> str | None:
        return None if value is None else self.writer(dialect)(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Value:
        return None if value is None else self.reader(dialect)(value)

    def writer(self, dialect: Dialect) -> Callable[[Value], str]:  # noqa: ARG002
        """What makes the driver's value of one that is there."""
        return _encode

    def reader(self, dialect: Dialect) -> Callable[[str], Value]:  # noqa: ARG002
        """What makes one of the driver's value."""
        return _decode


def _encode(value: Value) -> str:
    return encode_json(value).decode()


def _decode(text: str) -> Value:
    return decode_json(text, max_bytes=sys.maxsize)


BigInteger = sa.BigInteger().with_variant(sa.Integer(), "sqlite")  # SQLite counts up only an INTEGER key


def one_of(column: str, *choices: type[StrEnum] | str) -> sa.CheckConstraint:
    """The column holds one of these words."""
    words = [word for choice in choices for word in ([choice] if isinstance(choice, str) else list(choice))]
    listed = ", ".join(f"'{word}'" for word in words)
    return sa.CheckConstraint(f"{column} IN ({listed})", name=f"{column}_known")
