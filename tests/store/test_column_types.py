"""Both databases store the same values."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, TypeAlias

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from cairn.documents import Value
from cairn.store import Database, Unstorable
from cairn.store.prepared_statements import insert_into
from cairn.store.tables import api_tokens, settings

NOON = datetime(2026, 2, 28, 12, 0, 0, 1, tzinfo=UTC)

VALUES: list[Value] = [
    2**53 + 1,
    -(10**40),
    0.1,
    1e308,
    5e-324,
    1.0,
    1,
    True,
    False,
    "",
    "NUL is \0 here",
    "ünï, 漢字, 🪨",
    [],
    {},
    [None, [], {}],
    {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"i": {"j": [1, 2.5, None, "x"]}}}}}}}}}},
]


Write: TypeAlias = Callable[[sa.Connection], object]


def token(**changes: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "token_digest": "d",
        "user_name": "admin",
        "name": "n",
        "scopes": [],
        "created_at": NOON,
        "created_by": "admin",
        "expires_at": None,
        "last_used_at": None,
        "revoked_at": None,
    }
    return {"token_id": f"id of {changes.get('token_digest', 'd')}"} | row | changes


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_json_is_read_back_exactly(database: Database, value: Value) -> None:
    database.transact_now(lambda c: c.execute(sa.insert(settings).values(key="k", value=value)))
    found = database.read(lambda c: c.execute(sa.select(settings.c.value)).scalar_one())
    assert (found, type(found)) == (value, type(value))


def test_none_is_null(database: Database) -> None:
    database.transact_now(lambda c: c.execute(sa.insert(settings).values(key="k", value=None)))
    query = sa.select(settings.c.key).where(settings.c.value.is_(None))
    assert database.read(lambda c: c.execute(query).scalar_one()) == "k"


def test_times_are_read_back_in_utc_and_sort(database: Database) -> None:
    moments = [NOON, NOON.astimezone(timezone(timedelta(hours=5, minutes=30))) + timedelta(microseconds=1)]

    def write(connection: sa.Connection) -> None:
        for number, moment in enumerate(reversed(moments)):
            connection.execute(sa.insert(api_tokens).values(token(token_digest=str(number), created_at=moment)))

    database.transact_now(write)
    query = sa.select(api_tokens.c.created_at).order_by(api_tokens.c.created_at)
    found = database.read(lambda c: list(c.execute(query).scalars()))
    assert found == moments
    assert [moment.tzinfo for moment in found] == [UTC, UTC]
    after = sa.select(api_tokens.c.token_digest).where(api_tokens.c.created_at > NOON)
    assert database.read(lambda c: list(c.execute(after).scalars())) == ["0"]


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_text_that_postgresql_cannot_store_is_rejected_on_both(database: Database, text: str) -> None:
    row = token(name=text)
    prepared = insert_into(api_tokens)
    writes: list[Write] = [
        lambda c: c.execute(sa.insert(api_tokens).values(row)),
        lambda c: c.execute(sa.select(api_tokens).where(api_tokens.c.name == text)),
        lambda c: prepared.run(c, row),
        lambda c: prepared.run_many(c, [row]),
    ]
    for write in writes:
        with pytest.raises(Unstorable):
            database.transact_now(write)


def test_a_time_without_a_zone_is_rejected(database: Database) -> None:
    row = token(created_at=datetime(2026, 1, 1))  # noqa: DTZ001
    writes: list[Write] = [
        lambda c: c.execute(sa.insert(api_tokens).values(row)),
        lambda c: insert_into(api_tokens).run(c, row),
    ]
    for write in writes:
        with pytest.raises(Unstorable):
            database.transact_now(write)


def test_driver_errors_are_wrapped(database: Database) -> None:
    prepared = insert_into(api_tokens)
    writes: list[Write] = [
        lambda c: [prepared.run(c, token()) for _ in range(2)],
        lambda c: prepared.run_many(c, [token(), token()]),
    ]
    for write in writes:
        with pytest.raises(IntegrityError) as raised:
            database.transact_now(write)
        assert raised.value.statement is not None


def test_non_ascii_text_is_accepted(database: Database) -> None:
    database.transact_now(lambda c: insert_into(api_tokens).run(c, token(name="Größe 漢 🪨")))
    assert database.read(lambda c: c.execute(sa.select(api_tokens.c.name)).scalar_one()) == "Größe 漢 🪨"
