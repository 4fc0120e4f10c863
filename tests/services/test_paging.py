"""Keyset pages repeat and omit nothing, and reject invalid cursors."""

from __future__ import annotations

from base64 import urlsafe_b64encode

import pytest
import sqlalchemy as sa

from cairn.documents import encode_json
from cairn.services.errors import InvalidInput
from cairn.services.paging import SortOrder, page
from cairn.store import Database
from cairn.store import tables as t
from tests.mentions import mentions
from tests.services.runs.many_runs import insert_runs

P = t.pipelines.c


@pytest.mark.parametrize("newest_first", [True, False])
@pytest.mark.parametrize("limit", [1, 3, 7, 50])
def test_pages_contain_all_rows_in_order(database: Database, newest_first: bool, limit: int) -> None:
    names = insert_runs(database, 7, 1)
    same = (
        sa.update(t.pipelines)
        .where(P.pipeline_id.in_(names[:5]))
        .values(created_at=sa.select(sa.func.max(P.created_at)).scalar_subquery())
    )
    database.transact_now(lambda c: c.execute(same))
    order = SortOrder((P.created_at, P.pipeline_id), newest_first)
    seen: list[str] = []
    cursor: str | None = None
    while True:
        found = database.read(lambda c, cursor=cursor: page(c, sa.select(P.pipeline_id), order, limit, cursor))
        seen += [row.pipeline_id for row in found.rows]
        if (cursor := found.next_cursor) is None:
            break
    ordered = sa.select(P.pipeline_id).order_by(*(c.desc() if newest_first else c.asc() for c in order.columns))
    assert seen == list(database.read(lambda c: list(c.execute(ordered).scalars())))


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_rows_without_the_first_column_are_last(database: Database, limit: int) -> None:
    names = sorted(insert_runs(database, 7, 1))
    for name in names[:4]:
        at = sa.select(sa.func.max(P.created_at)).scalar_subquery()
        some = sa.update(t.pipelines).where(P.pipeline_id == name).values(deleted_at=at)
        database.transact_now(lambda c, some=some: c.execute(some))
    order = SortOrder((P.deleted_at, P.pipeline_id), nullable_first=True)
    seen: list[str] = []
    cursor: str | None = None
    while True:
        found = database.read(lambda c, cursor=cursor: page(c, sa.select(P.pipeline_id), order, limit, cursor))
        seen += [row.pipeline_id for row in found.rows]
        if (cursor := found.next_cursor) is None:
            break
    assert seen == names
    wrong = urlsafe_b64encode(encode_json(["x", names[0]])).decode().rstrip("=")
    with pytest.raises(InvalidInput):
        database.read(lambda c: page(c, sa.select(P.pipeline_id), order, 5, wrong))


@pytest.mark.parametrize(
    "value",
    [
        "nonsense",
        {},
        [],
        [1],
        [1, 2],
        ["2026-01-01T00:00:00Z"],
        ["2026-01-01T00:00:00", "x"],
        ["yesterday", "x"],
        ["2026-01-01T00:00:00Z", 7],
        ["2026-01-01T00:00:00Z", "a\0b"],
        ["2026-01-01T00:00:00Z", None],
        [None, None],
    ],
)
def test_an_invalid_cursor_is_rejected(database: Database, value: object) -> None:
    text = value if isinstance(value, str) else urlsafe_b64encode(encode_json(value)).decode().rstrip("=")  # pyright: ignore[reportArgumentType]
    order = SortOrder((P.created_at, P.pipeline_id))
    with pytest.raises(InvalidInput) as caught:
        database.read(lambda c: page(c, sa.select(P.pipeline_id), order, 5, text))
    assert caught.value.errors == (("?cursor", mentions()),)


def test_a_cursor_with_an_invalid_number_is_rejected(database: Database) -> None:
    order = SortOrder((t.events.c.id,), newest_first=True)
    for wrong in (
        "WyJ4Il0",
        urlsafe_b64encode(b"[1.5]").decode(),
        urlsafe_b64encode(b"[99999999999999999999]").decode(),
        "W3RydWVd",
    ):
        with pytest.raises(InvalidInput):
            database.read(lambda c, wrong=wrong: page(c, sa.select(t.events), order, 5, wrong))
